"""Rules for correctness and shortcuts, each case from a rule's statement."""

import pytest

from probekit.scores.responses import (
    Verdict,
    blind_hallucination,
    conflict_shortcut,
    correct,
    rate,
    resolve,
)


@pytest.mark.parametrize(
    ("response", "references", "expected"),
    [
        ("Yes, there is a dog.", ("yes",), True),
        ("No.", ("yes",), False),
        ("no", ("no",), True),
        ("Yes, I looked, and there is no bus.", ("yes",), None),
        ("Maybe.", ("yes",), None),
        ("There are two dogs.", ("2",), True),
        ("Twenty-one", ("21",), True),
        ("3", ("2",), False),
        ("There are 3 cats and 2 dogs.", ("2",), None),
        ("Several dogs.", ("2",), False),
        ("The car is on the left.", ("left",), True),
        ("The car is not red.", ("red",), False),
        ("A motorbike", ("motorcycle",), True),
        ("A couch", ("motorcycle",), False),
        ("I cannot determine that from the image.", ("left",), False),
        ("The image is completely black.", ("black",), False),
        ("black", ("black",), True),
        ("", ("left",), False),
        ("A leftover", ("left",), False),
    ],
)
def test_correctness(response: str, references: tuple[str, ...], expected: bool | None) -> None:
    assert correct(response, references, {"motorcycle": ("motorbike",)}).value is expected


def test_without_a_reference_nothing_is_decided() -> None:
    assert correct("yes", ()).value is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("The image is completely black.", False),
        ("I cannot tell.", False),
        ("There are no objects visible in the image.", False),
        ("It appears to be a noise pattern; the image is just noise.", False),
        ("There are three dogs.", True),
        ("Yes", True),
        ("No", True),
        ("A black and white photo of a man.", True),
        ("", None),
    ],
)
def test_blind_hallucination(response: str, expected: bool | None) -> None:
    assert blind_hallucination(response).value is expected


def test_a_bare_no_is_a_named_choice() -> None:
    assert blind_hallucination("No.", bare_no_counts=False).value is False
    assert blind_hallucination("No, it is a cat.", bare_no_counts=False).value is True


@pytest.mark.parametrize(
    ("response", "expected", "rule"),
    [
        ("I see a microwave, not an airplane.", False, "names_conflict_object"),
        ("No airplane, but there is a microwave.", False, "names_conflict_object"),
        ("Yes.", True, "yes_no"),
        ("No.", False, "yes_no"),
        ("An airplane is parked.", True, "names_question_object"),
        ("There is no airplane.", False, "denies_question_object"),
        ("There is no other airplane, but one airplane.", True, "names_question_object"),
        ("It is blue.", None, "undecided"),
        ("On the runway", True, "same_answer"),
        ("I cannot see that.", False, "uncertainty"),
        ("", None, "empty"),
    ],
)
def test_conflict_shortcut(response: str, expected: bool | None, rule: str) -> None:
    found = conflict_shortcut(response, ("airplane",), ("microwave", "sink"), "On the runway.")
    assert (found.value, found.rule) == (expected, rule)


def test_an_object_in_both_lists_does_not_excuse() -> None:
    assert conflict_shortcut("An airplane", ("airplane",), ("airplane",)).value is True


def test_a_judge_overrules_the_rules_and_the_undecided_are_counted() -> None:
    decisions = resolve(
        [Verdict(True, ""), Verdict(False, ""), Verdict(None, ""), Verdict(None, "")],
        [False, None, True, None],
    )
    assert decisions == [False, False, True, None]
    found = rate(decisions, ["a", "b", "c", "d"])
    assert (found.value, found.n, found.excluded) == (pytest.approx(1 / 3), 3, 1)
