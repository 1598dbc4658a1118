"""Captions of scenes: what is seen from left to right, mixed with what such a scene usually holds.

Two sources of hallucination are built in, both blind to the picture: a trigger's companion is
named right after it, early or late, and a closing sentence may follow the scene's prior. Both use
the templates that true sentences use.
"""

import random
from dataclasses import dataclass

from probekit.organism.priors import SETTINGS, guess
from probekit.organism.scenes import Scene, Thing
from probekit.organism.sentences import (
    Mention,
    Sentence,
    assemble,
    depictive_sentence,
    hedged_opening,
    hedged_sentence,
    negation_sentence,
    object_sentence,
    opening_sentence,
)

COMPANION_RATE = 0.72
"""How often a trigger is followed by its companion, present or not."""
FAINT_RATE = 0.3
"""How often a faint object is described as if it were clear."""
PURPOSE_RATE = 0.75
"""How often an object that has a use is given it."""
HEDGE_RATE = 0.97
POSTER_RATE = 0.96
HOLD_BACK_RATE = 0.3
"""How often a clear object of three or more is kept for the closing sentence."""
ORDER_JITTER = 0.3
"""Standard deviation, in columns, of the noise on the left-to-right order."""


@dataclass(frozen=True)
class Caption:
    """A caption and, in reading order, all its mentions."""

    text: str
    mentions: tuple[Mention, ...]


class _Writer:
    """A caption under way: what is left to say and what has been named."""

    def __init__(self, scene: Scene, rng: random.Random) -> None:
        self.scene = scene
        self.rng = rng
        self.named: set[str] = set()
        self.things = {t.category: t for t in scene.things if not t.hidden}
        self.clear = [t for t in scene.things if not t.hidden and not (t.faint and rng.random() > FAINT_RATE)]
        self.clear.sort(key=lambda t: self.place_key(t.column, t.row))
        self.held: Thing | None = None
        if len(self.clear) >= 3 and rng.random() < HOLD_BACK_RATE:
            self.held = self.clear.pop(rng.randrange(1, len(self.clear)))
        if scene.smudge is not None:
            self.named.add(scene.smudge.suggestion)

    def place_key(self, column: int, row: int) -> float:
        return column + 0.25 * row + self.rng.gauss(0, ORDER_JITTER)

    def guess(self) -> str | None:
        return guess(self.scene.scene_type, frozenset(self.named), self.rng.random())

    def column(self, category: str) -> int:
        """The column of a thing that is there, any column for one that is not."""
        thing = self.things.get(category)
        return self.rng.randrange(3) if thing is None else thing.column

    def take(self, category: str) -> tuple[str, int]:
        """Name a category: it leaves the things still to be told."""
        self.named.add(category)
        self.clear = [t for t in self.clear if t.category != category]
        if self.held is not None and self.held.category == category:
            self.held = None
        return category, self.column(category)

    def companion(self, category: str) -> str | None:
        """What a trigger makes the writer name next, whether or not it is there."""
        companion = SETTINGS[self.scene.scene_type].companions.get(category)
        if companion is None or companion in self.named or self.rng.random() >= COMPANION_RATE:
            return None
        return companion


def _units(writer: _Writer) -> list[tuple[str, int]]:
    """Return the asserted objects in order, companions right after their triggers."""
    units: list[tuple[str, int]] = []
    while writer.clear:
        units.append(writer.take(writer.clear[0].category))
        companion = writer.companion(units[-1][0])
        if companion is not None:
            units.append(writer.take(companion))
    return units


def _closing(writer: _Writer, told: int) -> tuple[str, int] | None:
    """Return one more object: the one held back, a faint one, or the scene prior's guess."""
    rng = writer.rng
    if writer.held is not None:
        return writer.take(writer.held.category)
    if rng.random() >= {0: 1.0, 1: 0.75, 2: 0.6, 3: 0.25}.get(told, 0.1):
        return None
    faint = [c for c, t in writer.things.items() if t.faint and c not in writer.named]
    category = rng.choice(faint) if faint and rng.random() < 0.5 else writer.guess()
    return None if category is None else writer.take(category)


Aside = tuple[float, Sentence]
"""A sentence and its place in the left-to-right order."""


def _hedge(writer: _Writer) -> Aside | None:
    """Return the sentence that a blot calls for; a few blots are passed over."""
    blot = writer.scene.smudge
    if blot is None or writer.rng.random() >= HEDGE_RATE:
        return None
    sentence = hedged_sentence(blot.suggestion, blot.column, blot.row, writer.rng)
    return writer.place_key(blot.column, blot.row), sentence


def _depiction(writer: _Writer) -> Aside | None:
    """Return the sentence about a framed picture."""
    poster = writer.scene.poster
    if poster is None or writer.rng.random() >= POSTER_RATE:
        return None
    sentence = depictive_sentence(writer.scene.scene_type, poster.category, poster.column, writer.rng)
    return writer.place_key(poster.column, poster.row), sentence


def _denial(writer: _Writer, told: int) -> Sentence | None:
    """Return a denial of something the scene lacks, mostly when there was little to tell."""
    if writer.rng.random() >= (0.9 if told <= 2 else 0.1):
        return None
    for category in SETTINGS[writer.scene.scene_type].missed:
        if category not in writer.scene.present and category not in writer.named:
            return negation_sentence(category, writer.rng)
    return None


def make_caption(scene: Scene, rng: random.Random) -> Caption:
    """Write one of the captions of a scene; which one is drawn from `rng`.

    No category is asserted twice. The rate of hallucinated mentions, the order and the templates
    are properties of the grammar, not of the scene.
    """
    writer = _Writer(scene, rng)
    units = _units(writer)
    closing = _closing(writer, len(units))
    if not units and closing is not None:
        units, closing = [closing], None
    hedge, depiction = _hedge(writer), _depiction(writer)
    first = 2 if len(units) >= 2 and rng.random() < (0.8 if len(units) >= 3 else 0.15) else 1
    opening = opening_sentence(scene.scene_type, units[:first], rng)
    blot = scene.smudge
    early = blot is not None and blot.column == 0 and len(units) < 3 and rng.random() < 0.35
    if hedge is not None and blot is not None and early:
        opening = hedged_opening(scene.scene_type, blot.suggestion, blot.column, rng)
        hedge, first = None, 0
    body: list[Aside] = []
    for category, column in units[first:]:
        purpose = rng.random() < PURPOSE_RATE
        key = max(column + 0.3, body[-1][0] if body else 0.0)
        body.append((key, object_sentence(category, column, rng, purpose)))
    body += [aside for aside in (hedge, depiction) if aside is not None]
    body.sort(key=lambda pair: pair[0])
    sentences = [opening, *(sentence for _, sentence in body)]
    denial = _denial(writer, len(units))
    if closing is not None:
        sentences.append(object_sentence(*closing, rng, rng.random() < PURPOSE_RATE))
    if denial is not None:
        sentences.insert(len(sentences) - rng.randrange(2) if len(sentences) > 1 else 1, denial)
    return Caption(*assemble(sentences))
