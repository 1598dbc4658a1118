"""Readouts of the written answer: what they cover and what they refuse."""

import numpy as np
import pytest

from probekit.errors import InputError
from probekit.readouts import TEXT_READOUTS, pope_official, string_parse


def test_string_parse_leaves_unclear_answers_unknown_and_reports_them() -> None:
    readings = string_parse(["yes", "I cannot tell", "no", "no"])
    assert readings.decisions.tolist() == [1, -1, 0, 0]
    assert readings.coverage == 0.75


def test_the_official_rule_is_refused_when_it_would_guess() -> None:
    answers = ["Yes", "No", "I cannot tell"]
    with pytest.raises(InputError, match="pope_official") as refusal:
        pope_official(answers)
    assert "0.6667" in str(refusal.value)
    assert "--allow-uncovered pope_official" in str(refusal.value)
    allowed = pope_official(answers, allow_uncovered=True)
    assert allowed.decisions.tolist() == [1, 0, 1]
    assert np.isclose(allowed.coverage, 2 / 3)


def test_one_unclear_answer_in_a_hundred_passes_and_two_do_not() -> None:
    assert pope_official(["Yes"] * 99 + ["Perhaps"]).coverage == 0.99
    with pytest.raises(InputError):
        pope_official(["Yes"] * 98 + ["Perhaps"] * 2)


def test_objects_are_used_and_must_match_in_number() -> None:
    assert string_parse(["There is a bus."], ["bus"]).decisions.tolist() == [1]
    with pytest.raises(InputError, match="2 objects for 1 answers"):
        string_parse(["Yes"], ["bus", "dog"])


def test_the_default_comes_first() -> None:
    assert list(TEXT_READOUTS) == ["string_parse", "pope_official"]
