"""LAD and CS by hand, anchors as files."""

import inspect
import math
from pathlib import Path

import numpy as np
import pytest

from probekit.errors import InputError
from probekit.scores.anchors import DEFAULT, SHIPPED, load_anchors
from probekit.scores.choices import Choices
from probekit.scores.cs import cs
from probekit.scores.lad import lad, sequence_score

BLIND = np.array([-1.0, -3.0, -2.0])
FULL = np.array([-2.5, -7.0, -2.0])


def test_sequence_score_is_the_mean_over_counted_tokens() -> None:
    logp = np.array([-1.0, -2.0, -6.0])
    assert sequence_score(logp) == -3.0
    assert sequence_score(logp, np.array([True, True, False])) == -1.5
    assert math.isnan(sequence_score(np.array([])))


def test_the_two_readings_of_lad_differ() -> None:
    # Differences 1.5, 4.0, 0.0: the largest is 4.0, that of the likeliest anchor on blind (-1.0) is 1.5.
    assert lad(BLIND, FULL) == 4.0
    assert lad(BLIND, FULL, "best") == 1.5


def test_lad_refuses_other_anchors_and_keeps_missing_ones_missing() -> None:
    with pytest.raises(InputError):
        inspect.unwrap(lad)(BLIND, FULL[:2])
    with pytest.raises(InputError):
        lad(np.array([]), np.array([]))
    assert math.isnan(lad(np.array([np.nan, 1.0]), np.array([0.0, 0.0])))


def test_cs_is_against_the_best_anchor() -> None:
    assert cs(-0.25, BLIND) == 0.75
    assert cs(-1.0, BLIND) == 0.0
    assert math.isnan(cs(math.nan, BLIND))
    assert math.isnan(cs(0.0, np.array([np.nan])))


def test_greedy_answer_beats_anchors_even_when_it_refuses() -> None:
    """SPEC 4.3: each greedy token is at least as likely as any other, so a refusal has CS > 0 as well."""
    generator = np.random.default_rng(3)
    steps = np.log(generator.dirichlet(np.ones(20), size=6))
    greedy = sequence_score(steps.max(axis=1))
    anchors = np.array(
        [sequence_score(steps[np.arange(6), generator.integers(20, size=6)]) for _ in range(50)]
    )
    assert cs(greedy, anchors) >= 0


def test_shipped_anchors_load_and_their_digest_follows_the_sentences() -> None:
    black, noise = load_anchors(DEFAULT["blind"]), load_anchors(DEFAULT["noise"])
    assert len(black.anchors) == len(noise.anchors) == 4
    assert not any("black" in anchor for anchor in noise.anchors)
    assert any("noise" in anchor for anchor in noise.anchors)
    assert black.digest != noise.digest
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {*DEFAULT.values(), "black-8", "noise-8"}
    for small, large in (("black-1", "black-8"), ("noise-1", "noise-8")):
        assert set(load_anchors(small).anchors) < set(load_anchors(large).anchors)
        assert len(load_anchors(large).anchors) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anchors: []\ncondition: blind\n", "list of sentences"),
        ("anchors: [a, a]\ncondition: blind\n", "twice"),
        ("anchors: [a]\ncondition: full\n", "condition"),
        ("anchors: [a]\ncondition: blind\nextra: 1\n", "unknown keys"),
        ("- a\n", "mapping"),
        ("anchors: [a\n", "not YAML"),
    ],
)
def test_faulty_anchor_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_anchors(path)


def test_unknown_anchor_set_names_the_shipped_ones() -> None:
    with pytest.raises(InputError, match=r"black-1.*noise-1"):
        load_anchors("grey-9")


def test_every_choice_changes_the_digest() -> None:
    base = Choices()
    others = [
        Choices(fraction=0.5),
        Choices(lad="best"),
        Choices(gen="full"),
        Choices(max_new_tokens=32),
        Choices(end_counts=True),
        Choices(anchors={"blind": "abc"}),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 7
    with pytest.raises(InputError):
        Choices(fraction=0.0)
