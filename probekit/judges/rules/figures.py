"""The object as a figure: a toy, a statue, a print, a costume, a shape, a motif on cloth."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context
from probekit.judges.rules.lexicon import words
from probekit.judges.rules.pictures import SCREENS, WORKS

AFTER = WORKS - words("figure figures model models design designs graffiti symbol symbols icon icons")
"""Works that a noun before them describes: ``elephant statue``."""

SCULPTED = words("statue statues figurine figurines sculpture sculptures statuettes carvings")
PATTERN = words("design designs pattern patterns theme themed shaped print printed motif")
WORN = words("design designs pattern patterns motif mask masks costume costumes")
"""After an animal or a person a representation; after a thing a trait or a garment: ``ski mask``."""

FIGURES = words(
    "toy toys plush stuffed fake lego cartoon animated replica imitation mock pretend origami miniature "
    "model drawn animatronic papier sculpted crocheted knitted"
)
MATERIALS = words(
    "bronze ceramic porcelain rubber wooden stone plastic metal marble clay glass cardboard inflatable "
    "painted mechanical robot robotic carved rocking concrete brass"
)
"""Said of an animal or a person these make a figure; said of a chair they only name what it is made of."""

FIGURE_NOUNS = words(
    "toy toys statue statues sculpture figurine figurines doll logo puppet plush drawing painting cartoon"
)
PREDICATING = (
    lex.HEDGE_ADVERBS | lex.SEEM | lex.MODALS | words("to be is are , which that like looks either also")
)
ANIMATE = words("person bird cat dog horse sheep cow elephant bear zebra giraffe")
VEHICLES = words("bicycle car motorcycle airplane bus train truck boat")
NEVER_STUFFED_TOYS = words("sandwich pizza donut cake carrot broccoli banana apple orange couch bed chair")
LIKENESS = (
    ("shaped", "like"), ("in", "the", "shape", "of"), ("in", "the", "form", "of"), ("to", "look", "like"),
    ("dressed", "as"), ("dressed", "like"), ("dressed", "up", "as"), ("dressed", "up", "like"),
    ("disguised", "as"), ("likeness", "of"), ("resembling",), ("resembles",), ("resemble",),
    ("decorated", "like"), ("styled", "like"), ("painted", "like"), ("decorated", "as"),
)  # fmt: skip
INSCRIBED = words(
    "painted drawn printed depicted engraved carved embroidered etched stenciled sculpted tattooed "
    "illustrated"
)
CLOTH = words(
    "shirt shirts tshirt tie ties sweater jacket mug sign signs wallpaper curtain curtains magazine cover "
    "card label flag banner poster billboard canvas calendar screen hat cap apron"
)


def figured(c: Context) -> str | None:
    """The words that make the mention a figure, or ``None``."""
    return _figure(c) or _likeness(c) or _predicated(c) or _on_surface(c)


def names_figure(c: Context) -> str | None:
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
        trait = c.word(right) in WORN and c.category not in ANIMATE
        return None if trait else c.quote(c.first, right)
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
        if (word in FIGURES and not _real(word, c.category)) or (word in MATERIALS and c.category in ANIMATE):
            return c.quote(k, c.last)
    return None


def _real(word: str, category: str) -> bool:
    """``model`` of a person, ``miniature`` horse, ``stuffed`` pizza: not figures."""
    return (
        (word == "model" and category not in VEHICLES)
        or (word == "miniature" and category in {"horse", "dog"})
        or (word == "stuffed" and category in NEVER_STUFFED_TOYS)
    )


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
    figure = c.words[k - 1 : k + 1] in {("stuffed", "animal"), ("cartoon", "character")}
    return c.quote(k, c.last) if figure or c.word(k) in FIGURE_NOUNS else None


def _on_surface(c: Context) -> str | None:
    """``a shirt with a [bear] on it``, ``a [dog] painted on the wall``, ``a [man] on the billboard``."""
    k = c.head + 1
    if c.word(k) in {"is", "are"}:
        k += 1
    if c.word(k) in INSCRIBED and c.word(k + 1) in {"on", "onto", "into"}:
        return c.quote(c.start, k + 1)
    if c.word(k) != "on":
        return None
    if c.word(k + 1) in {"it", "them"} and c.word(c.governor) == "with" and c.word(c.governor - 1) in CLOTH:
        return c.quote(c.governor - 1, k + 1)
    if c.word(k + 1) in {"the", "a", "his", "her", "its"} and c.category in ANIMATE | VEHICLES:
        end = k + 2
        while c.nounlike(end + 1):
            end += 1
        if c.word(end) in SCREENS - words("tv tvs television televisions monitor monitors"):
            return c.quote(c.start, end)
    return None
