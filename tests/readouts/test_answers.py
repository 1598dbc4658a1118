"""What a written answer says. The first block is TRAPS 2 and 4; the rest are sentences models write."""

import pytest

from probekit.readouts import Answer, official_answer, parse_answer

UNCLEAR_NEVER_YES = [
    ("Maybe", "unknown"),
    ("NO", "no"),
    ("No!", "no"),
    ("no\n", "no"),
    ("**No**", "no"),
    ("1.No", "no"),
    ("There isn't one", "no"),
    ("", "unknown"),
    ("Yes, but it is not a dog", "yes"),
]


@pytest.mark.parametrize(("text", "expected"), UNCLEAR_NEVER_YES)
def test_unclear_answers_do_not_become_yes(text: str, expected: str) -> None:
    assert parse_answer(text) == expected


@pytest.mark.parametrize("about", [None, "bus"])
@pytest.mark.parametrize(
    "text",
    [
        "Yes, I checked, and there is no bus.",
        "Yes. There isn't a bus in this picture.",
        "Yes, I see no bus",
        "Yes, I looked. No bus is visible.",
        "Yes, but I do not see any bus.",
        "Yes, there are no buses.",
        "Yes, I checked, and the bus is not in the image.",
        "Yes, I checked, and there’s no bus.",
    ],
)
def test_a_denied_existence_outweighs_a_leading_yes(text: str, about: str | None) -> None:
    assert parse_answer(text, about) in ("no", "unknown")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes", "yes"),
        (" yes.", "yes"),
        ("Yes, there is", "yes"),
        ("No, there is not", "no"),
        ("_Yes_", "yes"),
        ("`No`", "no"),
        ("Ｎｏ", "no"),
        ('"Yes"', "yes"),
        ("The answer is no.", "no"),
        ("Yes\nNo\nYes", "yes"),
        ("no yes", "no"),
        ("I know", "unknown"),
        ("Yesterday, nobody", "unknown"),
        ("Noted", "unknown"),
        ("no-one is here", "unknown"),
        ("I cannot tell", "unknown"),
        ("I have no idea", "unknown"),
        ("I cannot answer yes or no", "unknown"),
        ("Yes or no: no", "no"),
        ("There is no image provided", "unknown"),
        ("I cannot see the image", "unknown"),
        ("I do not have enough information", "unknown"),
        ("There is not enough detail to say", "unknown"),
        ("The image is completely black.", "unknown"),
        ("The bus is not visible", "no"),
        ("I don't see any", "no"),
        ("There are none", "no"),
        ("There is one", "yes"),
    ],
)
def test_the_first_whole_word_decides_and_phrases_without_an_answer_do_not(text: str, expected: str) -> None:
    assert parse_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "about", "expected"),
    [
        ("Yes, there is a dog, but there is no cat.", "dog", "yes"),
        ("There is a dog. No cat", "dog", "yes"),
        ("There is a dog. No cat", "cat", "no"),
        ("There is no doubt that there is a bus", "bus", "yes"),
        ("No, there is a cat.", "bus", "no"),
        ("No, there is a bus.", "bus", "unknown"),
        ("No, there is a bus stop but no bus.", "bus", "no"),
        ("There is no sofa in the image.", "couch", "no"),
        ("There is a bus in the image.", "bus", "yes"),
        ("There are two people in the image.", "person", "yes"),
        ("There is a bus stop.", "bus", "unknown"),
        ("There might be a bus.", "bus", "unknown"),
        ("A red bus is visible.", "bus", "yes"),
        ("The image shows a dog.", "bus", "unknown"),
    ],
)
def test_the_object_asked_about_tells_which_statement_counts(text: str, about: str, expected: str) -> None:
    assert parse_answer(text, about) == expected


def test_an_answer_is_a_word_and_a_code() -> None:
    assert [answer.code for answer in (Answer.YES, Answer.NO, Answer.UNKNOWN)] == [1, 0, -1]
    assert parse_answer("no") is Answer.NO


def test_the_official_rule_guesses_yes() -> None:
    # Eight strings of SPEC T16: an empty, an evasive and an upper-case answer all count as yes.
    texts = [
        "Yes",
        "No",
        "no, there is not",
        "NO",
        "There is a dog. No cat",
        "I cannot tell",
        "No\nthere",
        "",
    ]
    assert [official_answer(text).value for text in texts] == [
        "yes",
        "no",
        "no",
        "yes",
        "yes",
        "yes",
        "yes",
        "yes",
    ]
