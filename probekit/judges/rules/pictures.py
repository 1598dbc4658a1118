"""Pictures and figures of the object: ``a poster of a horse``, ``the mural depicts a train``."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context
from probekit.judges.rules.lexicon import words

WORKS = words(
    "poster posters painting paintings print prints logo logos statue statues statuette statuettes "
    "sculpture sculptures figurine figurines figure figures model models replica replicas mural murals "
    "portrait portraits sketch sketches illustration illustrations drawing drawings cartoon cartoons "
    "carving carvings sticker stickers decal decals emblem emblems graphic graphics design designs "
    "pattern patterns cutout cutouts artwork artworks icon icons symbol symbols tattoo tattoos "
    "caricature caricatures doll dolls puppet puppets plush plushie plushies toy toys ornament "
    "ornaments mask masks costume costumes advertisement advertisements billboard billboards banner "
    "banners magnet magnets bust busts engraving engravings mosaic mosaics emoji hologram screenshot "
    "stencil effigy mannequin mannequins graffiti"
)
ALSO_TRAITS = words("model models design designs pattern patterns symbol symbols icon icons figure")
"""``the design of the kite`` is a trait of a real kite."""

PHOTOS = words(
    "picture pictures image images photo photos photograph photographs snapshot snapshots collage depiction "
    "representation rendering"
)
"""What the described picture itself may be called; the other works are always things in the scene."""

SCREENS = words(
    "screen screens monitor monitors television televisions tv tvs billboard poster painting mural portrait"
)
SHOWING = words(
    "depicting depicts depicted showing shows displaying displays portraying portrays featuring features "
    "includes including represents playing"
)
LISTED = words("toys statues figurines dolls logos puppets drawings paintings designs shapes pictures")
TAKING = words(
    "take takes taking took taken snap snaps snapping snapped capture captures capturing captured shooting"
)
DISPLAYED = words("screen monitor tv television another framed hanging mounted wall poster")
PRESENTS = words("is 's be features shows depicts displays showcases presents")
PLACED = words(
    "front top near next behind beside under underneath above below beyond outside by against where"
)
WHERE_IT_HANGS = words("is are hangs hang sits can was were stands appears")


def pictured(c: Context) -> str | None:
    """The words that make the mention part of a picture or figure, or ``None``.

    Follows the mention up through the phrase it stands in: a place (``next to``), a definite place
    (``on the``), a finite verb or another clause ends the picture.
    """
    edge = c.chain[-1][0] - 1
    for k in range(edge, -1, -1):
        word = c.word(k)
        if word == "of" and c.word(k - 1) in WORKS | PHOTOS:
            real = whole_image(c, k - 1) or (c.definite and c.word(k - 1) in ALSO_TRAITS)
            return None if real else c.quote(k - 1, c.last)
        if word in SHOWING:
            shown = None if c.definite and k != edge else _shown_by(c, k)
            return None if shown is None else c.quote(shown, c.last)
        if (
            word in {":", "but", "while"}
            or word in PLACED
            or word in lex.FINITE
            or (word == "," and k != edge)
        ):
            return None
        if word in {"on", "in", "at", "and"} and k < edge and c.word(k + 1) in lex.DEFINITE:
            return None
        if word in {"on", "in", "at", "from"} and c.definite and k == edge:
            return None
    return None


def _shown_by(c: Context, verb: int) -> int | None:
    """The work or screen that is the subject of the showing verb, if it is one."""
    k = verb - 1
    while c.word(k) in {"that", "which", "is", "are", ","} or c.word(k) in lex.ADVERBS:
        k -= 1
    if c.word(verb) == "including":
        # Only a plural has instances, and a teddy bear or a stop sign is no picture of one.
        return k if c.word(k) in LISTED and c.category not in {"teddy bear", "stop sign"} else None
    showing = WORKS | SCREENS | {"sign", "signs", "magazine", "calendar"}
    if c.word(k) in showing:
        return k
    for m in range(k, max(-1, k - 5), -1):
        if c.word(m) in {"on", "in", "of"} and c.word(m - 1) in showing:
            return m - 1
    if c.word(k) in PHOTOS and c.word(k).endswith("s") and k == verb - 1:
        return None if whole_image(c, k) else k
    return None


def whole_image(c: Context, work: int) -> bool:
    """Whether the work is the very picture the text describes, or one being taken in it."""
    if any(c.word(k) in TAKING for k in range(max(0, work - 6), work)):
        return True
    start = c.phrase_start(work)
    before = c.words[:start]
    if c.word(work) == "collage" or "collage" in before[-5:] or "consists" in before[-6:]:
        return True
    if c.word(work) not in PHOTOS:
        return False
    if not any(c.verblike(k) or c.word(k) in lex.PREPOSITIONS - {"up"} for k in range(start)):
        return not _says_where(c)
    if any(word in DISPLAYED for word in before) or any(
        c.words[k : k + 3] in {("on", "the", "wall"), ("on", "the", "cover"), ("on", "the", "screen")}
        for k in range(work, len(c.words))
    ):
        return False
    near = before[-8:]
    return any(word in PRESENTS for word in near[-5:]) and any(
        word in PHOTOS or word in {"it", "this", "scene"} for word in near
    )


def _says_where(c: Context) -> bool:
    """Whether the sentence goes on to say where the picture is, instead of being its caption."""
    for k in range(c.last + 1, len(c.words)):
        if c.word(k) in WHERE_IT_HANGS:
            return c.word(k - 1) not in {"who", "that", "which"}
    return False
