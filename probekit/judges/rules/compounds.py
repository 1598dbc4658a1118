"""The word without the object: another sense of it, a verb, a colour, or a modifier inside a compound."""

from __future__ import annotations

from probekit.judges.rules.context import Context
from probekit.judges.rules.lexicon import ADJECTIVES, words

PERSON_MODIFIERS = words(
    "passenger passengers tourist tourists pedestrian pedestrians commuter baby driver first third"
)
VERBS_TOO = words(
    "bat ski train bear book fork park skateboard snowboard sink fish kite bus surf skate cook chair clock"
)
NOT_INFINITIVE = words(
    "next close due according addition similar back thanks front adjacent opposite relation"
)

COMPOUND_HEADS = words(
    "station stations stop stops shelter shelters lane lanes terminal depot depots route routes driver drivers "
    "owner owners lover lovers trainer trainers handler handlers enthusiast enthusiasts fan fans rider riders "
    "walker walkers flyer flyers keeper keepers catcher catchers conductor conductors attendant attendants "
    "dealership dealer repair rental rentals shop shops store stores stand market club team league practice "
    "festival event events competition competitions contest tournament equipment gear supplies accessories "
    "license insurance rack racks lot lots park parks trail trails track tracks court courts resort resorts "
    "slope slopes lift lifts pole poles boots suit suits food foods treats leash collar kennel bed beds house "
    "houses farm farms barn stable pen yard show shows race races racing ride rides tour tours trip trips "
    "crossing crossings traffic sharing collection lesson lessons school academy ramp ramps park parks room rooms "
    "shelf shelves case cases cover covers charger chargers call calls booth booths holder holders juice peel "
    "pad pads dock docks harbor marina launch feeder feeders bath nest nests cage cages watching season day "
    "industry factory museum exhibit exhibition shooter conductor worker workers operator operators engineer "
    "crew company companies ticket tickets platform platforms ski"
)
"""Nouns after the mention that take it as a modifier: what is there is a station, an owner, a race."""

ACTIVITIES = words(
    "flying riding racing boarding watching jumping surfing skiing boating training driving spotting"
)
VERBS_AFTER_PEOPLE = words(
    "ride rides race races show shows practice tour tours walk cover covers lift lifts stop stops call calls "
    "trip trips farm launch nest park parks track tracks case cases suit suits repair trail trails shop shops stand"
)
PARTS = {"toilet": words("bowl seat room"), "clock": words("stand case"), "sink": words("stand")}
SENSES: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {
    "bed": ((words("hay flower truck river garden lake sea"), frozenset()),),
    "mouse": ((frozenset(), words("pad pads")),),
    "zebra": ((frozenset(), words("crossing crossings")),),
    "remote": (
        (frozenset(), words("village area location place island region part beach town setting landscape")),
    ),
    "tie": ((frozenset(), words("of between")),),
    "airplane": ((frozenset(), words("ski skis engine engines lag")),),
    "cake": ((words("pan crab rice"), frozenset()),),
    "fork": ((frozenset(), words("lift")),),
    "bear": ((words("gummy"), frozenset()),),
    "bird": ((frozenset(), frozenset()),),
    "cell phone": ((words("pay"), frozenset()),),
}
"""Category: pairs of (words before, words after) that show another sense."""


def other_sense(c: Context) -> str | None:
    """The words that show the mention is not the category at all, or ``None``."""
    return _verb(c) or _colour(c) or _person_modifier(c) or _sense(c)


def compound(c: Context) -> str | None:
    """The compound in which the mention only modifies another noun, or ``None``."""
    word, after = c.word(c.last), c.word(c.last + 1)
    if after == "-" and c.sentence.ends[c.last] == c.sentence.starts[c.last + 1]:
        if c.sentence.starts[c.last + 2 : c.last + 3] == (c.sentence.ends[c.last + 1],):
            return None if c.word(c.last + 2) in {"shaped", "print", "like"} else c.quote(c.first, c.last + 2)
        return None
    if after == "'s":
        nxt = c.word(c.last + 2)
        if nxt in {"room", "restroom", "bathroom", "eye", "restrooms", "toilet"}:
            return c.quote(c.first, c.last + 2)
        return None
    if after in PARTS.get(c.category, frozenset()) or (
        word.endswith("s") and c.category not in {"skis", "bus"}
    ):
        return None
    right = c.last + 1
    if after in {"and", "or", "/"} and c.nounlike(c.last + 2) and c.word(c.last + 3) in COMPOUND_HEADS:
        if c.own.value == "bare" or after == "/":
            return c.quote(c.first, c.last + 3)
    if after in COMPOUND_HEADS and c.nounlike(right):
        if c.category == "person" and after in VERBS_AFTER_PEOPLE:
            return None
        return c.quote(c.first, right)
    if after in ACTIVITIES and c.own.value == "bare" and c.start == c.first:
        return c.quote(c.first, right)
    if c.nounlike(right) and c.word(right + 1) in COMPOUND_HEADS and after not in ADJECTIVES:
        return c.quote(c.first, right + 1)
    return None


def _verb(c: Context) -> str | None:
    """``their turn to [bat]``, ``learning to [ski]``, ``at [bat]``."""
    word, before = c.word(c.first), c.word(c.first - 1)
    if word in VERBS_TOO and c.first == c.last and c.start == c.first:
        if before == "to" and c.word(c.first - 2) not in NOT_INFINITIVE:
            return c.quote(c.first - 1, c.last)
        if word == "bat" and (before == "at" or (before == "-" and c.word(c.first - 2) == "at")):
            return c.quote(c.first - 1, c.last)
    return None


def _colour(c: Context) -> str | None:
    """``an [orange] cat``, ``[orange] and black``: the colour, unless an article makes it a fruit."""
    if c.category != "orange" or c.word(c.last) != "orange":
        return None
    after = c.word(c.last + 1)
    if c.nounlike(c.last + 1) or after == "-" or c.word(c.last - 1) in ADJECTIVES | {"-"}:
        return c.quote(c.first, c.last + 1)
    fruit = c.word(c.first - 1) in {"a", "an", "the", "one", "of", "peeled", "sliced", "whole"}
    if not fruit and (
        after in {"and", ",", "in", "or"} or c.word(c.first - 1) in {"is", "are", "and", "bright", ","}
    ):
        return c.quote(c.first, c.last + 1)
    return None


def _person_modifier(c: Context) -> str | None:
    """``a [passenger] train``, ``a [tourist] attraction``, ``a [baby] elephant``, ``first-[person]``."""
    if c.category != "person":
        return None
    if c.word(c.first - 1) == "-" and c.word(c.first - 2) in PERSON_MODIFIERS:
        return c.quote(c.first - 2, c.last)
    after = c.last + 1
    if c.word(c.last) in PERSON_MODIFIERS and c.nounlike(after) and c.word(c.last) != "passengers":
        if c.word(after) in ADJECTIVES or c.word(c.last).endswith("s"):
            return None
        return c.quote(c.first, after)
    if c.word(c.first) == "pitcher" and c.word(after) == "of":
        return c.quote(c.first, after + 1)
    return None


def _sense(c: Context) -> str | None:
    if c.category == "train" and c.word(c.last + 1) in COMPOUND_HEADS and c.word(c.last) == "train":
        return c.quote(c.first, c.last + 1)
    for before, after in SENSES.get(c.category, ()):
        if c.word(c.first - 1) in before:
            return c.quote(c.first - 1, c.last)
        if c.word(c.last + 1) in after and c.word(c.last) not in {"ties", "tie"}:
            return c.quote(c.first, c.last + 1)
    if c.word(c.last) == "bow" and c.word(c.last + 1) == "of":
        return c.quote(c.first, c.last + 1)
    return None
