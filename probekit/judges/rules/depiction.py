"""Representation: the object is there only as a picture, a figure, a toy, a print or a word."""

from __future__ import annotations

import re

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORKS = _words(
    "poster posters painting paintings print prints logo logos statue statues statuette statuettes sculpture "
    "sculptures figurine figurines figure figures model models replica replicas mural murals portrait "
    "portraits sketch sketches illustration illustrations drawing drawings cartoon cartoons carving carvings "
    "sticker stickers decal decals emblem emblems graphic graphics design designs pattern patterns cutout "
    "cutouts artwork artworks art graffiti icon icons symbol symbols tattoo tattoos caricature caricatures "
    "doll dolls puppet puppets plush plushie plushies toy toys ornament ornaments mask masks costume costumes "
    "advertisement advertisements ad ads billboard billboards banner banners magnet magnets silhouette "
    "silhouettes outline depiction depictions representation rendering bust busts engraving engravings mosaic "
    "emoji hologram screenshot stencil collage effigy mannequin mannequins"
)
PHOTOS = _words("picture pictures image images photo photos photograph photographs shot snapshot view scene")
SURFACES = _words(
    "shirt t-shirt tshirt tie sweater jacket blanket cake mug plate sign signs wallpaper curtain curtains towel "
    "rug pillow pillows magazine book cover card label flag screen screens monitor monitors television tv "
    "poster billboard banner canvas page calendar laptop computer painting mural wall"
)
SCREENS = _words(
    "screen screens monitor monitors television televisions tv tvs billboard poster painting mural portrait"
)
SHOWS = _words(
    "depicting depicts depicted showing shows displaying displays portraying portrays featuring features "
    "includes including representing represents playing"
)
INSCRIBED = _words(
    "painted drawn printed depicted engraved carved embroidered etched stenciled sculpted tattooed illustrated"
)
FIGURES = _words(
    "toy toys plush stuffed fake lego cartoon animated carved painted sculpted replica imitation mock pretend "
    "origami inflatable miniature origami papier crocheted knitted bronze ceramic porcelain rubber wooden stone "
    "plastic metal marble clay model drawn origami cardboard animatronic mechanical robotic robot glass"
)
MATERIALS = _words(
    "bronze ceramic porcelain rubber wooden stone plastic metal marble clay glass cardboard inflatable painted "
    "crocheted knitted stuffed robot mechanical carved"
)
"""Said of an animal or a person these make a figure; said of a chair they only name what it is made of."""
ANIMATE = _words("person bird cat dog horse sheep cow elephant bear zebra giraffe")
TOYS = _words("teddy bear toy doll")
TAKE = _words(
    "take takes taking took taken snap snaps snapping capture captures capturing shoot shooting snapped pose poses posing"
)
LIKENESS = (
    ("shaped", "like"), ("shape", "of"), ("form", "of"), ("look", "like"), ("dressed", "as"), ("dressed", "like"),
    ("disguised", "as"), ("dressed", "up", "as"), ("likeness", "of"), ("resembling",), ("resembles",), ("resemble",),
    ("decorated", "like"), ("styled", "like"), ("designed", "like"), ("made", "to", "resemble"),
)  # fmt: skip
READS = _words(
    "says say saying reads reading read word words labeled labelled text letters lettering phrase spelled inscription"
)
PLACED_OUTSIDE = _words("near next behind beside under underneath above below beyond outside by against")
QUOTED = re.compile(r"\"[^\"\n]{1,90}\"|“[^”\n]{1,90}”|(?<![\w])['‘][^'’\n]{1,60}['’](?!\w)")


def depiction(c: Context) -> str | None:
    """The words that make the mention a representation, or ``None``."""
    return _figure(c) or _work_after(c) or _work_before(c) or _likeness(c) or _on_surface(c)


def quoted(c: Context) -> str | None:
    """Words between quotation marks, or after ``a sign that says``."""
    start, end = c.sentence.starts[c.first], c.sentence.ends[c.last]
    line_start = c.text.rfind("\n", 0, start) + 1
    line_end = c.text.find("\n", end)
    line = c.text[line_start : line_end if line_end >= 0 else len(c.text)]
    for match in QUOTED.finditer(line):
        if match.start() + line_start < start and end < match.end() + line_start + 1:
            return match.group()
    for k in range(c.start - 1, max(-1, c.start - 7), -1):
        if c.word(k) in READS and any(
            c.word(m)
            in {"sign", "signs", "banner", "poster", "shirt", "board", "text", "words", "word", "label"}
            for m in range(max(0, k - 6), k)
        ):
            return c.quote(k, c.last)
    return None


def _figure(c: Context) -> str | None:
    """``toy airplane``, ``stuffed dog``, ``wooden horse``."""
    if c.category in {"teddy bear"} or "toy" in c.category:
        return None
    animate = c.category in ANIMATE
    for k in range(c.start, c.first):
        word = c.word(k)
        if word not in FIGURES or (word in MATERIALS and not animate):
            continue
        if word == "model" and c.category not in {
            "train",
            "airplane",
            "car",
            "boat",
            "truck",
            "bus",
            "motorcycle",
        }:
            continue
        return c.quote(k, c.last)
    return None


def _work_after(c: Context) -> str | None:
    """``elephant statue``, ``zebra print umbrella``, ``bride and groom figurines``."""
    k = c.last + 1
    while c.word(k) == "-" or c.word(k) == "shaped":
        if c.word(k) == "shaped":
            return c.quote(c.first, k)
        k += 1
    for m in range(k, k + 4):
        word = c.word(m)
        if word in WORKS - {"figure", "figures", "model", "view", "scene", "art", "ad", "ads"} | {"print"}:
            return c.quote(c.first, m)
        if (
            word not in {"and", "-", "or"}
            and not (m == k and word in lex.ADJECTIVES)
            and not c.word(m - 1) == "and"
        ):
            break
    return None


def _work_before(c: Context) -> str | None:
    """``a poster of a horse``, ``the painting includes a [cat]``, ``a screen showing a [man]``."""
    for k in range(c.chain[-1][0] - 1, -1, -1):
        word = c.word(k)
        if word in {":", "but", "while"} or word in PLACED_OUTSIDE:
            return None
        if word == "," and not c.chain[-1][0] - 1 == k:
            return None
        if word == "of" and c.word(k - 1) in WORKS:
            return c.quote(k - 1, c.last) if not _is_whole_image(c, k - 1) else None
        if word == "of" and c.word(k - 1) in PHOTOS:
            return c.quote(k - 1, c.last) if not _is_photo_of_scene(c, k - 1) else None
        if word in SHOWS:
            subject = _subject_of(c, k)
            if subject is not None and c.word(subject) in WORKS | SCREENS | {"sign", "signs"}:
                return c.quote(subject, c.last)
        if k < c.chain[-1][0] - 1 and (word in {"in", "on", "at"} and c.definite):
            return None
        if word in lex.AUXILIARIES:
            return None
    return None


def _subject_of(c: Context, verb: int) -> int | None:
    k = verb - 1
    while c.word(k) in {"that", "which", "is", "are"} | lex.ADVERBS:
        k -= 1
    if c.word(k) in WORKS | SCREENS | {"sign", "signs"}:
        return k
    for m in range(k, max(-1, k - 6), -1):
        if c.word(m) in {"on", "in", "of"} and c.word(m - 1) in WORKS | SCREENS:
            return m - 1
    return None


def _is_whole_image(c: Context, work: int) -> bool:
    """``The image is a collage of [people]``: the caption speaks of itself."""
    return c.word(work) in {"collage"}


def _is_photo_of_scene(c: Context, photo: int) -> bool:
    """Whether ``a picture of`` is the picture captioned, or one being taken in it."""
    if any(c.word(k) in TAKE for k in range(max(0, photo - 6), photo)):
        return True
    start = c.phrase_start(photo)
    before = c.words[:start]
    if not before:
        rest = c.words[c.last + 1 :]
        for k, word in enumerate(rest):
            if word in {"is", "are", "hangs", "hang", "sits", "can", "was"}:
                return rest[k - 1] in {"who", "that", "which"}
        return True
    if any(word in {"screen", "monitor", "tv", "television", "wall", "another"} for word in c.words[:photo]):
        return False
    return (
        before[-1] in {"is", "be"}
        and before[0] in {"the", "this", "it"}
        and (before[1] in PHOTOS | {"is", "appears", "seems"})
    )


def _likeness(c: Context) -> str | None:
    """``shaped like a [dog]``, ``decorated to look like a [train]``."""
    before = c.words[: c.start]
    for phrase in LIKENESS:
        if before[-len(phrase) :] == phrase:
            if phrase == ("look", "like") and before[-3:-2] != ("to",):
                continue
            return c.quote(c.start - len(phrase), c.last)
    return None


def _on_surface(c: Context) -> str | None:
    """``a shirt with a [bear] on it``, ``a [dog] painted on the wall``, ``a [man] on the screen``."""
    k = c.head + 1
    if c.word(k) in INSCRIBED and c.word(k + 1) in {"on", "onto", "in", "into"}:
        return c.quote(c.start, k + 1)
    if c.word(k) == "on" and c.word(k + 1) in {"it", "them"} and c.word(c.governor) == "with":
        noun = c.governor - 1
        if c.word(noun) in SURFACES:
            return c.quote(noun, k + 1)
    if c.word(k) == "on" and c.word(k + 1) in {"the", "a"}:
        for m in range(k + 2, k + 5):
            if c.word(m) in SCREENS - {"painting"} and c.word(m + 1) not in SCREENS:
                return c.quote(c.start, m) if c.category in ANIMATE | {"car", "sports ball"} else None
    return None
