"""The organism's words: 25 categories with COCO's names, and every surface form of each."""

import re
from collections.abc import Mapping
from types import MappingProxyType

CATEGORIES: tuple[str, ...] = (
    "person",
    "bicycle",
    "car",
    "bus",
    "traffic light",
    "fire hydrant",
    "bench",
    "bird",
    "cat",
    "dog",
    "horse",
    "cow",
    "umbrella",
    "kite",
    "bottle",
    "cup",
    "spoon",
    "bowl",
    "couch",
    "potted plant",
    "tv",
    "remote",
    "oven",
    "refrigerator",
    "boat",
)
"""Category names; a category's place here is its index in every array of this package."""

INDEX: Mapping[str, int] = MappingProxyType({name: i for i, name in enumerate(CATEGORIES)})
"""Category name to its place in `CATEGORIES`."""

SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "person": ("man", "woman"),
        "bicycle": ("bike",),
        "dog": ("puppy",),
        "couch": ("sofa",),
        "tv": ("television",),
        "remote": ("remote control",),
        "refrigerator": ("fridge",),
        "boat": ("sailboat",),
    }
)
"""Other singular names that captions use for a category."""

_PLURALS = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "bus": "buses",
    "bench": "benches",
    "couch": "couches",
    "puppy": "puppies",
}


def plural(form: str) -> str:
    """Return the plural of a singular surface form, such as `benches` for `bench`."""
    return _PLURALS.get(form, form + "s")


def with_article(form: str) -> str:
    """Return the form behind its indefinite article, such as `an oven`."""
    return f"{'an' if form[0] in 'aeiou' else 'a'} {form}"


def _forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    for category in CATEGORIES:
        for singular in (category, *SYNONYMS.get(category, ())):
            forms[singular] = category
            forms[plural(singular)] = category
    return forms


FORMS: Mapping[str, str] = MappingProxyType(_forms())
"""Lower-case surface form, singular or plural, to its category."""

MENTION = re.compile(
    r"\b(?:" + "|".join(re.escape(f) for f in sorted(FORMS, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
"""Matches any surface form, the longest first, so that `remote control` is one mention."""


def find_forms(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return (start, end, category) of every surface form in `text`, in reading order."""
    return tuple((m.start(), m.end(), FORMS[m.group().lower()]) for m in MENTION.finditer(text))
