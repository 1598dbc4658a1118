"""The word without the object: another sense of it, a verb, a colour, or a modifier inside a compound."""

from __future__ import annotations

from probekit.judges.rules.context import Context, Determination
from probekit.judges.rules.lexicon import ADJECTIVES, FINITE, words

PERSON_MODIFIERS = words("passenger tourist pedestrian commuter driver spectator first third second")
BABY_OF = words(
    "elephant elephants giraffe giraffes zebra zebras bear bears bird birds cow cows sheep goat goats "
    "horse horses duck ducks geese goose animal animals lamb calf carrots carrot stroller carriage "
    "bottle shower powder blanket crib"
)
"""After ``baby`` these are young animals, small vegetables or things for a baby."""

VERBS_TOO = words(
    "bat ski train bear book fork park skateboard snowboard sink fish kite bus surf skate cook chair clock"
)
NOT_INFINITIVE = words(
    "next close due according addition similar back thanks front adjacent opposite relation"
)

COMPOUND_HEADS = words(
    "station stations stop stops shelter shelters lane lanes terminal depot depots route routes driver "
    "drivers owner owners lover lovers trainer trainers handler handlers enthusiast enthusiasts fan "
    "fans rider riders walker walkers flyer flyers keeper keepers catcher catchers conductor conductors "
    "attendant attendants dealership dealer repair rental rentals shop shops store stores stand market "
    "club team league practice festival event events competition competitions contest tournament "
    "equipment gear supplies accessories license insurance rack racks lot lots park parks trail trails "
    "track tracks court courts resort resorts slope slopes lift lifts pole poles boots suit suits food "
    "foods treats leash collar kennel bed beds house houses farm farms barn stable pen yard show shows "
    "race races racing ride rides tour tours trip trips crossing crossings traffic sharing collection "
    "lesson lessons school academy ramp ramps room rooms shelf shelves case cases cover covers charger "
    "chargers call calls booth booths holder holders juice peel pad pads dock docks harbor marina "
    "launch feeder feeders bath nest nests cage cages season industry factory museum exhibit exhibition "
    "shooter worker workers operator operators engineer crew company companies ticket tickets platform "
    "platforms pan pans paper brush cleaner cleaners wash rally rallies bread"
)
"""Nouns after the mention that take it as a modifier: what is there is a station, an owner, a race."""

ALSO_VERBS = words(
    "stands stops shows races rides tours covers lifts parks tracks trails calls trips farms cases suits"
)
"""After a singular with an article these are verbs: ``the bus stops at the corner``."""

ACTIVITIES = words(
    "flying riding racing boarding watching jumping surfing skiing boating training driving spotting sharing"
)
PARTS = {
    "toilet": words("bowl seat room cover"),
    "banana": words("bread peel"),
    "bed": words("room cover covers"),
    "book": words("cover covers"),
}
"""Category: heads that are parts of the object, so that the object is still asserted."""

SENSES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "bed": (words("hay flower truck river garden lake sea"), frozenset()),
    "mouse": (frozenset(), words("pad pads")),
    "zebra": (frozenset(), words("crossing crossings")),
    "remote": (frozenset(), words("village area location place island region part beach town landscape")),
    "airplane": (frozenset(), words("ski skis lag")),
    "skis": (words("jet water"), frozenset()),
    "cake": (words("pan crab rice"), words("knife knives stand stands pan pans mix")),
    "fork": (frozenset(), words("lift")),
    "bear": (words("gummy"), frozenset()),
    "train": (frozenset(), COMPOUND_HEADS),
}
"""Category: words before the mention, and after it, that show another sense."""

HIS_AND_HERS = words("room rooms restroom restrooms bathroom toilet clothing wear eye")
NURSERY = words("bedroom playroom nursery book books toy toys")
"""After ``a child's`` these are made for children; after ``the child's`` they belong to one."""

CHILD_FURNITURE = words("bed seat chair room")


def other_sense(c: Context) -> str | None:
    """The words that show the mention is not the category at all, or ``None``."""
    return _verb(c) or _colour(c) or _person_modifier(c) or _sense(c)


def compound(c: Context) -> str | None:
    """The compound in which the mention only modifies another noun, or ``None``."""
    word, right = c.word(c.last), c.last + 1
    after = c.word(right)
    if after == "-":
        return _hyphenated(c)
    if after == "'s":
        kind = c.word(right + 1) in HIS_AND_HERS or (c.word(right + 1) in NURSERY and not c.definite)
        return c.quote(c.first, right + 1) if kind else None
    if c.category in {"cat", "dog"} and after in {"toy", "toys"}:
        return c.quote(c.first, right)
    if c.category == "person":
        young = word in {"child", "toddler", "baby"} and after in CHILD_FURNITURE
        return c.quote(c.first, right) if young else None
    if after in PARTS.get(c.category, frozenset()):
        return None
    if word.endswith("s") and word not in {"skis", "bus"}:
        return None
    if after in {"and", "or", "/"} and c.word(right + 2) in COMPOUND_HEADS and c.nounlike(right + 1):
        bare = c.own is Determination.BARE or c.own is Determination.INDEFINITE
        return c.quote(c.first, right + 2) if bare and c.word(right + 2) not in ALSO_VERBS else None
    if after in COMPOUND_HEADS and c.nounlike(right):
        article = c.own is not Determination.BARE and c.word(right + 1) not in FINITE
        return None if after in ALSO_VERBS and article else c.quote(c.first, right)
    if after in ACTIVITIES:
        if c.own is Determination.BARE and c.start == c.first:
            return c.quote(c.first, right)
        if c.word(right + 1) in COMPOUND_HEADS:
            return c.quote(c.first, right + 1)
        if c.word(right + 1) in {"", ".", ",", "activity", "activities"}:
            return c.quote(c.first, right)
    return None


def _hyphenated(c: Context) -> str | None:
    """``horse-drawn``, ``kite-flying``; a dash between spaces is punctuation."""
    dash = c.last + 1
    starts, ends = c.sentence.starts, c.sentence.ends
    if dash + 1 >= len(starts) or ends[c.last] != starts[dash] or ends[dash] != starts[dash + 1]:
        return None
    return None if c.word(dash + 1) in {"shaped", "print", "like"} else c.quote(c.first, dash + 1)


def _verb(c: Context) -> str | None:
    """``their turn to [bat]``, ``learning to [ski]``, ``at [bat]``."""
    word, before = c.word(c.first), c.word(c.first - 1)
    if word not in VERBS_TOO or c.first != c.last or c.start != c.first:
        return None
    if before == "to" and c.word(c.first - 2) not in NOT_INFINITIVE:
        return c.quote(c.first - 1, c.last)
    if word == "bat" and (before == "at" or (before == "-" and c.word(c.first - 2) == "at")):
        return c.quote(c.first - 1, c.last)
    return None


def _colour(c: Context) -> str | None:
    """``an [orange] cat``, ``[orange] and black``: the colour, unless an article makes it a fruit."""
    if c.category != "orange" or c.word(c.last) != "orange":
        return None
    before, after = c.word(c.first - 1), c.word(c.last + 1)
    if c.nounlike(c.last + 1) or after in {"-", "one", "ones"} or before in ADJECTIVES | {"-"}:
        return c.quote(c.first, c.last + 1)
    fruit = before in {"a", "an", "the", "one", "of", "peeled", "sliced", "whole"}
    listed = after in {"and", ",", "in", "or"} or before in {"is", "are", "and", "bright", ","}
    return c.quote(c.first, c.last + 1) if listed and not fruit else None


def _person_modifier(c: Context) -> str | None:
    """``a [passenger] train``, ``a [tourist] attraction``, ``a [baby] elephant``, ``first-[person]``."""
    if c.category != "person":
        return None
    word, after = c.word(c.last), c.last + 1
    if c.word(c.first - 1) == "-" and c.word(c.first - 2) in PERSON_MODIFIERS:
        return c.quote(c.first - 2, c.last)
    if word == "baby":
        return c.quote(c.first, after) if c.word(after) in BABY_OF else None
    if word in PERSON_MODIFIERS and c.nounlike(after) and c.word(after) not in ADJECTIVES:
        return c.quote(c.first, after)
    return c.quote(c.first, after + 1) if word == "pitcher" and c.word(after) == "of" else None


def _sense(c: Context) -> str | None:
    """Senses that a neighbouring word gives away: ``mouse pad``, ``hay bed``, ``bow of a boat``."""
    before, after = SENSES.get(c.category, (frozenset[str](), frozenset[str]()))
    if c.word(c.first - 1) in before:
        return c.quote(c.first - 1, c.last)
    if c.word(c.last + 1) in after and not c.word(c.last).endswith("s"):
        verb = c.word(c.last + 1) in ALSO_VERBS and c.own is not Determination.BARE
        return None if verb else c.quote(c.first, c.last + 1)
    return c.quote(c.first, c.last + 1) if c.word(c.last) == "bow" and c.word(c.last + 1) == "of" else None
