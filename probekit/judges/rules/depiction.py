"""Representation: the object is there only as a picture, a figure, a toy, a print or a word."""

from __future__ import annotations

import re

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
    "banners magnet magnets depiction depictions representation representations rendering renderings "
    "bust busts engraving engravings mosaic mosaics emoji hologram screenshot stencil effigy mannequin "
    "mannequins graffiti"
)
PHOTOS = words("picture pictures image images photo photos photograph photographs snapshot snapshots collage")
SCREENS = words(
    "screen screens monitor monitors television televisions tv tvs billboard poster painting mural portrait"
)
SHOWING = words(
    "depicting depicts depicted showing shows displaying displays portraying portrays featuring "
    "features includes including represents playing"
)
FIGURE_NOUNS = words(
    "toy toys statue statues sculpture figurine figurines doll logo puppet plush drawing painting cartoon"
)
PREDICATING = (
    lex.HEDGE_ADVERBS | lex.SEEM | lex.MODALS | words("to be is are , which that like looks either also")
)
AFTER = WORKS - words(
    "figure figures model models design designs graffiti symbol symbols icon icons representation"
)
"""Works that a noun before them describes: ``elephant statue``; ``design`` and ``pattern`` are in `PATTERN`."""

SCULPTED = words("statue statues figurine figurines sculpture sculptures statuettes carvings")
PATTERN = words("design designs pattern patterns theme themed shaped print printed motif")
FIGURES = words(
    "toy toys plush stuffed fake lego cartoon animated replica imitation mock pretend origami miniature "
    "model drawn animatronic papier sculpted crocheted knitted"
)
MATERIALS = words(
    "bronze ceramic porcelain rubber wooden stone plastic metal marble clay glass cardboard inflatable "
    "painted mechanical robot robotic carved rocking concrete brass"
)
"""Said of an animal or a person these make a figure; said of a chair they only name what it is made of."""

ANIMATE = words("person bird cat dog horse sheep cow elephant bear zebra giraffe")
VEHICLES = words("bicycle car motorcycle airplane bus train truck boat")
REAL_TOYS = words("bear")
STUFFED_FOOD = words("sandwich pizza hot donut cake carrot broccoli banana apple orange couch bed chair")
DISPLAYED = words("screen monitor tv television another framed hanging mounted wall poster")
PRESENTS = words("is 's be features shows depicts displays showcases presents")
TAKING = words(
    "take takes taking took taken snap snaps snapping snapped capture captures capturing captured shooting"
)
LIKENESS = (
    ("shaped", "like"), ("in", "the", "shape", "of"), ("in", "the", "form", "of"), ("to", "look", "like"),
    ("dressed", "as"), ("dressed", "like"), ("dressed", "up", "as"), ("dressed", "up", "like"), ("disguised", "as"),
    ("likeness", "of"), ("resembling",), ("resembles",), ("resemble",), ("decorated", "like"), ("styled", "like"),
    ("painted", "like"), ("decorated", "as"), ("made", "to", "resemble"),
)  # fmt: skip
READING = words(
    "says say saying reads reading read word words labeled labelled text letters lettering phrase spelling"
)
WRITTEN_ON = words(
    "sign signs banner banners poster posters shirt board text words word letters label plaque billboard"
)
INSCRIBED = words(
    "painted drawn printed depicted engraved carved embroidered etched stenciled sculpted tattooed "
    "illustrated"
)
CLOTH = words("shirt shirts t-shirt tshirt tie ties sweater jacket mug sign signs wallpaper curtain curtains magazine "
              "cover card label flag banner poster billboard canvas calendar screen hat cap apron")  # fmt: skip
PLACED = words("near next behind beside under underneath above below beyond outside by against where")
INSCRIBED_WORDS = 6
"""Longer quotations are inscriptions only beside a word such as ``sign`` or ``reads``."""

QUOTED = re.compile(r"\"[^\"\n]{1,90}\"|“[^”\n]{1,90}”|(?<!\w)['‘](?! )[^'’\n]{1,60}['’](?!\w)")


def depicted(c: Context) -> str | None:
    """The words that make the mention a representation, or ``None``."""
    return _figure(c) or _work_before(c) or _likeness(c) or _predicated(c) or _on_surface(c)


def quoted(c: Context) -> str | None:
    """Words between quotation marks, or after ``a sign that says``: they show text, whatever they deny."""
    start, end = c.sentence.starts[c.first], c.sentence.ends[c.last]
    line_start = c.text.rfind("\n", 0, start) + 1
    line_end = c.text.find("\n", end)
    for match in QUOTED.finditer(c.text, line_start, line_end if line_end >= 0 else len(c.text)):
        if match.start() < start and end < match.end():
            return match.group() if _inscription(c.text, line_start, match) else None
    for k in range(c.start - 1, max(-1, c.start - 7), -1):
        if c.word(k) in READING and any(c.word(m) in WRITTEN_ON for m in range(max(0, k - 5), k + 1)):
            return (
                c.quote(k, c.last) if c.word(k) not in {"words", "word", "text"} or k >= c.start - 3 else None
            )
    return None


def _inscription(text: str, line_start: int, quote: re.Match[str]) -> bool:
    """Whether a quotation is words seen in the scene, rather than a caption that stands in quotes."""
    before = text[line_start : quote.start()].rsplit(". ", 1)[-1].lower()
    after = text[quote.end() : quote.end() + 30].lower().split()
    near = {word.strip(",.:") for word in before.split()[-6:]} | {word.strip(",.:") for word in after[:2]}
    if near & (READING | WRITTEN_ON):
        return True
    return bool(before.strip()) and len(quote.group().split()) <= INSCRIBED_WORDS and "caption" not in before


def named_by_figure(c: Context) -> str | None:
    """The compound of the mention and a work: ``elephant statue``, ``zebra print umbrella``."""
    right = c.last + 1
    if c.word(right) in {"toy", "toys"} and c.category in {"cat", "dog"}:
        return None
    if c.word(right) == "-":
        right += 1
    if c.word(right) in {"shaped", "themed"}:
        return c.quote(c.first, right) if c.word(right + 1) not in {"like", "as"} else None
    if c.word(c.last).endswith("s") and c.category not in {"bus", "skis", "scissors"}:
        return None
    if c.word(right) in AFTER | PATTERN:
        return c.quote(c.first, right)
    if c.nounlike(right) and c.word(right + 1) in AFTER and c.word(right) in lex.ADJECTIVES | FIGURES:
        return c.quote(c.first, right + 1)
    if c.word(right) == "and" and c.nounlike(right + 1) and c.word(right + 2) in SCULPTED:
        return c.quote(c.first, right + 2)
    return None


def _figure(c: Context) -> str | None:
    """``toy airplane``, ``stuffed dog``, ``wooden horse``; a teddy bear is a toy to begin with."""
    if c.category == "teddy bear" or "toy" in c.category:
        return None
    for k in range(c.start, c.first):
        word = c.word(k)
        if any(c.word(m) in lex.VERB_STEMS for m in range(k + 1, c.first)):
            continue
        if word in MATERIALS and c.category in ANIMATE:
            return c.quote(k, c.last)
        if word in FIGURES:
            if word == "model" and c.category not in VEHICLES:
                continue
            if word == "miniature" and c.category in {"horse", "dog"}:
                continue
            if word == "stuffed" and c.category in STUFFED_FOOD:
                continue
            return c.quote(k, c.last)
    return None


def _work_before(c: Context) -> str | None:
    """``a poster of a horse``, ``the painting includes a [cat]``, ``a screen showing a [man]``.

    Follows the mention up through the phrase it stands in: a place (``next to``), a definite place
    (``on the``), a finite verb or another clause ends the picture.
    """
    edge = c.chain[-1][0] - 1
    for k in range(edge, -1, -1):
        word = c.word(k)
        if word == "of" and c.word(k - 1) in WORKS | PHOTOS:
            return None if _of_whole_image(c, k - 1) else c.quote(k - 1, c.last)
        if word in SHOWING:
            if c.definite and k != edge:
                return None
            subject = _shown_by(c, k)
            return c.quote(subject, c.last) if subject is not None else None
        if word in {":", "but", "while", ";"} or word in PLACED or word in lex.AUXILIARIES:
            return None
        if word == "," and k != edge:
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
    showing = WORKS | SCREENS | {"sign", "signs", "magazine", "calendar"}
    if c.word(k) in showing:
        return k
    for m in range(k, max(-1, k - 5), -1):
        if c.word(m) in {"on", "in", "of"} and c.word(m - 1) in showing:
            return m - 1
    if c.word(k) in PHOTOS and c.word(k).endswith("s") and c.word(verb - 1) == c.word(k):
        return None if _of_whole_image(c, k) else k
    return None


def _of_whole_image(c: Context, work: int) -> bool:
    """Whether the work is the very picture the text describes, or one being taken in it."""
    word = c.word(work)
    if any(c.word(k) in TAKING for k in range(max(0, work - 6), work)):
        return True
    start = c.phrase_start(work)
    before = c.words[:start]
    if word == "collage" or "collage" in before[-5:] or "consists" in before[-6:]:
        return True
    if word not in PHOTOS:
        return False
    if not before or before == ("overall", ","):
        return not _finite_main_verb(c)
    if any(w in DISPLAYED for w in before) or any(
        c.words[k : k + 3] in {("on", "the", "wall"), ("on", "the", "cover"), ("on", "the", "screen")}
        for k in range(work, len(c.words))
    ):
        return False
    close = before[-4:]
    copula = before[-1] in PRESENTS
    return copula and any(w in PHOTOS or w in {"it", "this", "scene"} for w in close)


def _finite_main_verb(c: Context) -> bool:
    """Whether the sentence goes on to say where the picture is, instead of being its caption."""
    for k in range(c.last + 1, len(c.words)):
        if c.word(k) in {"is", "are", "hangs", "hang", "sits", "can", "was", "were", "stands", "appears"}:
            return c.word(k - 1) not in {"who", "that", "which"}
    return False


def _likeness(c: Context) -> str | None:
    """``shaped like a [dog]``, ``decorated to look like a [train]``."""
    edge = c.chain[-1][0]
    before = c.words[:edge]
    for phrase in LIKENESS:
        if before[-len(phrase) :] == phrase:
            return c.quote(edge - len(phrase), c.last)
    return None


def _predicated(c: Context) -> str | None:
    """``the toy appears to be an [elephant]``, ``a cartoon character, possibly a [dog]``."""
    if c.category == "teddy bear" or c.definite:
        return None
    k = c.chain[-1][0] - 1
    while c.word(k) in PREDICATING:
        k -= 1
    if k == c.chain[-1][0] - 1 or not c.nounlike(k):
        return None
    if c.word(k) in FIGURE_NOUNS or c.words[k - 1 : k + 1] in {
        ("stuffed", "animal"),
        ("cartoon", "character"),
    }:
        return c.quote(k, c.last)
    return None


def _on_surface(c: Context) -> str | None:
    """``a shirt with a [bear] on it``, ``a [dog] painted on the wall``, ``a [man] on the screen``."""
    k = c.head + 1
    if c.word(k) in {"is", "are"}:
        k += 1
    if c.word(k) in INSCRIBED and c.word(k + 1) in {"on", "onto", "in", "into"}:
        return c.quote(c.start, k + 1)
    if c.word(k) != "on":
        return None
    if c.word(k + 1) in {"it", "them"} and c.word(c.governor) == "with" and c.word(c.governor - 1) in CLOTH:
        return c.quote(c.governor - 1, k + 1)
    if c.word(k + 1) in {"the", "a", "his", "her", "its"} and c.category in ANIMATE | VEHICLES:
        end = k + 2
        while c.nounlike(end + 1):
            end += 1
        if c.word(end) in SCREENS and c.word(end) not in {"tv", "television", "monitor"}:
            return c.quote(c.start, end)
    return None
