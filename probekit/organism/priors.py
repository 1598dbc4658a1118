"""What goes with what: six scene types, their objects, and the guesses a caption makes from them.

The world draws objects from `Setting.objects` and pulls `Setting.companions` in beside their
triggers. Captions then name a companion after its trigger whether or not it is there; because
the two usually do appear together, the guess is usually right, and where it is wrong it is a
hallucination of the kind that co-occurrence causes in large models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Setting:
    """One scene type.

    `sky` and `ground` are the mean colours of the two halves of the background; `objects` maps a
    category to the chance that it is drawn; `companions` maps a trigger to the category that
    tends to stand beside it; `guesses` are the objects that fit the scene, the likeliest first;
    `missed` are those whose absence is worth a sentence; `phrase` is how a caption names the
    scene and `surface` what a poster hangs on.
    """

    phrase: str
    surface: str
    sky: Colour
    ground: Colour
    objects: Mapping[str, float]
    companions: Mapping[str, str]
    guesses: tuple[str, ...]
    missed: tuple[str, ...]


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "kitchen": Setting(
            phrase="a kitchen",
            surface="wall",
            sky=(214, 200, 178),
            ground=(150, 120, 96),
            objects={
                "oven": 0.50,
                "refrigerator": 0.40,
                "bowl": 0.45,
                "spoon": 0.30,
                "cup": 0.40,
                "bottle": 0.40,
                "person": 0.20,
                "cat": 0.10,
                "potted plant": 0.10,
            },
            companions={"oven": "refrigerator", "bowl": "spoon", "cup": "bottle"},
            guesses=("cup", "bottle", "refrigerator", "bowl"),
            missed=("person", "cat"),
        ),
        "living room": Setting(
            phrase="a living room",
            surface="wall",
            sky=(196, 206, 216),
            ground=(140, 104, 82),
            objects={
                "couch": 0.55,
                "tv": 0.40,
                "remote": 0.30,
                "potted plant": 0.35,
                "cat": 0.30,
                "dog": 0.15,
                "person": 0.20,
                "cup": 0.15,
            },
            companions={"couch": "tv", "cat": "potted plant", "person": "remote"},
            guesses=("potted plant", "tv", "couch", "remote"),
            missed=("person", "dog"),
        ),
        "street": Setting(
            phrase="a city street",
            surface="fence",
            sky=(170, 198, 226),
            ground=(104, 104, 108),
            objects={
                "car": 0.55,
                "traffic light": 0.35,
                "bus": 0.30,
                "person": 0.35,
                "bicycle": 0.30,
                "fire hydrant": 0.30,
                "dog": 0.10,
            },
            companions={"car": "traffic light", "bicycle": "person", "bus": "fire hydrant"},
            guesses=("person", "car", "traffic light", "fire hydrant"),
            missed=("bus", "bicycle"),
        ),
        "park": Setting(
            phrase="a park",
            surface="fence",
            sky=(160, 208, 240),
            ground=(96, 160, 80),
            objects={
                "bench": 0.45,
                "person": 0.35,
                "dog": 0.35,
                "kite": 0.35,
                "bird": 0.30,
                "bicycle": 0.25,
                "umbrella": 0.10,
                "fire hydrant": 0.10,
            },
            companions={"bench": "person", "kite": "bird", "bicycle": "dog"},
            guesses=("person", "dog", "bird", "bench"),
            missed=("dog", "bicycle"),
        ),
        "farm": Setting(
            phrase="a farm",
            surface="fence",
            sky=(180, 214, 240),
            ground=(150, 160, 80),
            objects={
                "horse": 0.50,
                "cow": 0.40,
                "dog": 0.30,
                "bird": 0.30,
                "person": 0.30,
                "cat": 0.15,
                "car": 0.10,
            },
            companions={"horse": "cow", "dog": "bird", "cat": "person"},
            guesses=("cow", "person", "bird", "horse"),
            missed=("person", "horse"),
        ),
        "beach": Setting(
            phrase="a beach",
            surface="fence",
            sky=(130, 190, 230),
            ground=(226, 206, 150),
            objects={
                "boat": 0.45,
                "umbrella": 0.50,
                "person": 0.35,
                "kite": 0.30,
                "bird": 0.30,
                "bottle": 0.25,
                "dog": 0.15,
            },
            companions={"umbrella": "person", "boat": "bird", "kite": "bottle"},
            guesses=("person", "umbrella", "bird", "bottle"),
            missed=("boat", "dog"),
        ),
    }
)
"""Scene type to its setting."""

SCENE_TYPES: tuple[str, ...] = tuple(SETTINGS)

COMPANION_BOOST = 0.42
"""Chance that a trigger which is drawn brings an absent companion with it."""

POSTER_CATEGORIES: tuple[str, ...] = ("horse", "dog", "cat", "boat", "bird", "cow", "car", "kite")
"""What posters and framed pictures show."""

PURPOSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "bench": ("people", "to sit on"),
        "couch": ("a cat", "to sleep on"),
        "traffic light": ("cars", "to stop at"),
        "bowl": ("a dog", "to eat from"),
        "bus": ("people", "to ride"),
    }
)
"""Host category to the beneficiary and the use of a purpose clause."""


def guess(scene_type: str, mentioned: frozenset[str], pick: float) -> str | None:
    """Return the scene prior's guess at what else is there, or None when all are mentioned.

    `pick`, in [0, 1), decides between the likeliest guess and the one after it.
    """
    left = [c for c in SETTINGS[scene_type].guesses if c not in mentioned]
    if not left:
        return None
    return left[0] if pick < 0.75 or len(left) == 1 else left[1]
