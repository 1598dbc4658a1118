"""What an answer says: refusals, yes and no, numbers, matches."""

import pytest

from probekit.metrics.answers import is_refusal, normalise, numbers, same, says, yes_or_no

REFUSALS = (
    "I cannot tell.",
    "I can’t determine that from the image.",
    "It is impossible to say.",
    "The name is not clearly visible.",
    "The text isn't legible.",
    "Unknown",
    "Not sure.",
    "I don't know.",
    "There is not enough information.",
    "The image does not show it.",
    "No objects are visible in the image.",
    "Nothing can be seen.",
    "The image is completely black.",
    "The picture appears to be just noise.",
    "N/A",
    "It is too blurry to read; the answer remains unclear.",
)
ANSWERS = (
    "Paris",
    "No.",
    "Yes",
    "The man is unable to reach the shelf.",
    "A black cat on a sofa.",
    "A black and white photograph of a street.",
    "It is black.",
    "The driver cannot park here.",
    "The sign shows a clear arrow.",
    "Three known species.",
    "An empty street with two cars.",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", True),
        ("**Yes**, it is.", True),
        ("NO", False),
        ("no\n", False),
        ("Nope", False),
        ("", None),
        ("Maybe", None),
        ("Nothing of the kind", None),
        ("Yesterday", None),
        # The first word alone would turn the meaning round.
        ("Yes, I checked, and there is no bus.", None),
        ("Yes, but it is not a dog.", True),
    ],
)
def test_yes_or_no(text: str, expected: bool | None) -> None:
    assert yes_or_no(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-one", [21.0]),
        ("Twenty one dogs and 3 cats", [21.0, 3.0]),
        ("ninety", [90.0]),
        ("2.5", [2.5]),
        ("none", [0.0]),
        ("10:10", []),
        ("someone", []),
    ],
)
def test_numbers(text: str, expected: list[float]) -> None:
    assert numbers(text) == expected


def test_matching_is_by_whole_words_in_normal_form() -> None:
    assert normalise("The Two Dogs!") == "2 dogs"
    assert same("the  PARIS.", "Paris")
    assert says("It was in Paris, France.", "Paris")
    assert not says("Parisian style", "Paris")
    assert not says("It is not in Paris.", "Paris")
    assert says("a motorbike", "motorcycle", {"motorcycle": ("motorbike",)})
    assert not says("anything", "")
