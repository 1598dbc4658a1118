"""A Ghost run's stores, written by hand, read as quantities; sums over tone and detectors' refusals."""

import math
from pathlib import Path

import numpy as np
import pytest

from probekit.benchmarks.ghost import GhostCategory, GhostImage
from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Divergence,
    GroupCount,
    HiddenState,
    TokenStatistics,
    parse_capture,
)
from probekit.errors import InputError, StoreError
from probekit.evaluation.ghost_detectors import detector_scores
from probekit.evaluation.ghost_store import ALWAYS, POSITION_CAPTURES, captures_of, load_trace
from probekit.evaluation.ghost_summary import summarise
from probekit.metrics.rates import GhostResponse
from probekit.store import Header, RowTable, StoreWriter

DEPTH, HEADS, VOCABULARY, PROMPT, IMAGE = 8, 2, 50, 20, 12
KL = [0.2, 5.0, 0.1, 3.0, 4.0, 0.3, 0.0, 0.4, 0.1, 0.2]
"""Ten positions: the largest three are 5, 4 and 3."""


def header(**changes) -> Header:
    values = {
        "job_digest": "a" * 16, "model": "made", "revision": "r1", "family": "made", "kernel": "none",
        "dtype": "float32", "template_hash": "0", "versions": {"made": "1"}, "replay_agreement": 1.0,
        "depth": DEPTH, "heads": HEADS, "width": 6, "vocabulary": VOCABULARY, "shard_examples": 2,
        "extra": {"attention_dtype": "float32"},
    }  # fmt: skip
    return Header(**{**values, **changes})


def table(examples: list[str], lengths: list[int], *, positions: bool) -> RowTable:
    of = [n for n, length in enumerate(lengths) for _ in range(length if positions else 1)]
    token = np.concatenate([np.arange(n) for n in lengths]) if positions else np.zeros(len(of), np.int64)
    count = len(of)
    return RowTable(
        example_id=np.array([examples[n] for n in of], object),
        index=token if positions else np.full(count, -1),
        image_id=np.array([examples[n].partition("-")[0] for n in of], object),
        category=np.array(["human_intent"] * count, object),
        token=token, token_end=token,
        tokens=np.array([lengths[n] for n in of]),
        prompt_tokens=np.full(count, PROMPT), image_tokens=np.full(count, IMAGE),
        occurrences=np.full(count, -1), token_id=np.arange(count),
    )  # fmt: skip


def uniform_mass(rows: int, image: np.ndarray) -> np.ndarray:
    """Attention in the last slot only: so much on the image per row and layer, the rest on the header."""
    mass = np.full((rows, 4, DEPTH, HEADS, 6), np.nan, np.float32)
    mass[:, -1] = 0.0
    mass[:, -1, :, :, 2] = image[:, :, None]
    mass[:, -1, :, :, 4] = 1 - image[:, :, None]
    return mass


def write(folder: Path, shards: list[list[str]], lengths: list[int], **changes) -> Path:
    """Stores of answers whose entropies, probabilities and divergences follow from their number."""
    numbered = {example: n for n, example in enumerate(e for shard in shards for e in shard)}
    captures = (*ALWAYS,)
    with (
        StoreWriter.create(folder / "store", header(**changes), captures) as answers,
        StoreWriter.create(folder / "positions", header(**changes), POSITION_CAPTURES) as positions,
    ):
        for number, shard in enumerate(shards):
            own = [lengths[numbered[e]] for e in shard]
            image = np.array([[0.1 * (n % 5) + 0.01 * layer for layer in range(DEPTH)]
                              for n in (numbered[e] for e in shard)])  # fmt: skip
            counts = np.full((len(shard), 4, 6), -1, np.int32)
            counts[:, -1] = (1, 3, IMAGE, 2, 2, 0)
            statistics = np.zeros((len(shard), 7), np.float32)
            statistics[:, 0] = [-0.5 * numbered[e] for e in shard]
            statistics[:, 1] = math.log(VOCABULARY)
            arrays = (uniform_mass(len(shard), image), counts, statistics)
            rows = table(shard, own, positions=False)
            answers.write(number, rows, dict(zip(captures, arrays, strict=True)))
            rows = table(shard, own, positions=True)
            place = rows.token
            of = np.array([numbered[e] for e in rows.example_id])
            every = np.zeros((len(rows), 7), np.float32)
            every[:, 0], every[:, 1] = -0.5 * of - place, 1.0 + place
            moved = np.stack([np.array(KL)[place], -2.0 - place, np.ones(len(rows))], axis=1)
            arrays = (every, moved.astype(np.float32))
            positions.write(number, rows, dict(zip(POSITION_CAPTURES, arrays, strict=True)))
    return folder


def test_quantities_by_closed_form(tmp_path: Path) -> None:
    write(tmp_path, [["a-tone1", "a-tone2"], ["b-tone1"]], [10, 1, 3])
    found = load_trace(tmp_path, ["b-tone1", "never-tone1", "a-tone1", "a-tone2"])
    values = found.values
    # SPEC 4.2: the mean of the largest 30 %; one position is the position itself
    assert values["vns"] == pytest.approx([5.0, math.nan, 4.0, 0.2], nan_ok=True)
    assert values["kl_first"] == pytest.approx([0.2, math.nan, 0.2, 0.2], nan_ok=True)
    assert values["entropy"] == pytest.approx([1.0, math.nan, 1.0, 1.0], nan_ok=True)
    assert values["entropy_mean"] == pytest.approx([2.0, math.nan, 5.5, 1.0], nan_ok=True)
    assert values["nll"] == pytest.approx([1.0 + 1.0, math.nan, 4.5, 0.5], nan_ok=True)
    assert values["nll_black"] == pytest.approx([3.0, math.nan, 6.5, 2.0], nan_ok=True)
    assert values["tokens"] == pytest.approx([3, math.nan, 10, 1], nan_ok=True)
    # blocks 14 to 20 of 32 are 4 to 5 of 8 (SPEC 0.4: halves round up)
    assert found.blocks == (4, 5)
    assert values["image_mass"] == pytest.approx([0.245, math.nan, 0.045, 0.145], nan_ok=True)
    assert found.layers is not None
    assert found.layers[0] == pytest.approx([0.2 + 0.01 * layer for layer in range(DEPTH)])
    assert found.traced.tolist() == [True, False, True, True]


def test_without_attention_the_mass_is_missing(tmp_path: Path) -> None:
    write(tmp_path, [["a-tone1"]], [2])
    import shutil

    shutil.rmtree(tmp_path / "store")
    with StoreWriter.create(tmp_path / "store", header(), (TokenStatistics(),)) as answers:
        rows = table(["a-tone1"], [2], positions=False)
        answers.write(0, rows, {TokenStatistics(): np.ones((1, 7), np.float32)})
    found = load_trace(tmp_path, ["a-tone1"])
    assert found.layers is None
    assert math.isnan(found.values["image_mass"][0])
    assert found.values["vns"][0] == pytest.approx(5.0)
    scores = detector_scores(tmp_path, ["a-tone1"], found)
    assert "attention_mass" in scores.left_out["svar"]
    assert set(scores.scores) >= {"nll", "entropy", "VNS, negated"}


def test_stores_of_two_passes_are_not_joined(tmp_path: Path) -> None:
    write(tmp_path / "a", [["a-tone1"]], [2])
    write(tmp_path / "b", [["a-tone1"]], [2], job_digest="b" * 16)
    (tmp_path / "a" / "positions").rename(tmp_path / "a" / "old")
    (tmp_path / "b" / "positions").rename(tmp_path / "a" / "positions")
    with pytest.raises(StoreError, match="different passes"):
        load_trace(tmp_path / "a", ["a-tone1"])


def test_what_is_kept_follows_the_detectors() -> None:
    assert captures_of(["nll"]) == (AttentionMass(), GroupCount(), TokenStatistics())
    every = captures_of(None)
    assert {type(c) for c in every} >= {AttentionGrid, HiddenState, AttentionMass}
    assert all(c.condition == "full" for c in every)  # text_only needs a pass of its own
    with pytest.raises(InputError, match="nobody"):
        captures_of(["nobody"])
    assert parse_capture(Divergence("noise").key) == Divergence("noise")


def test_a_run_is_summed_up_with_everything_counted(tmp_path: Path) -> None:
    images = [GhostImage(f"{name}.png", GhostCategory.HUMAN_INTENT, "a microphone") for name in "abc"]
    examples = [[f"{i.image_id}-tone{t}" for t in (1, 2)] for i in images[:2]]
    write(tmp_path, examples, [1, 1, 1, 1])
    texts = {
        ("a", 1): "No.",
        ("a", 2): "Yes.",
        ("b", 1): "No.",
        ("b", 2): "No.",
        ("c", 1): "",
        ("c", 2): "No",
    }
    responses = [GhostResponse(i, t, texts[i.image_id, t]) for i in images for t in (1, 2)]
    found, lines = summarise(tmp_path, responses, draws=20)
    assert found.counts == {"responses": 6, "without_verdict": 1, "without_label": 0, "not_traced": 2}
    assert found.missing["vns"] == 2
    assert found.rates.groups["all"].h_rate.points[2].value == pytest.approx(1 / 3)
    assert found.score_source == "wording, no judge"
    # answers are numbered 0 to 3, and their image masses follow: tone 1 has 0 and 2, tone 2 has 1 and 3
    assert found.layers is not None
    assert found.layers[:, 0] == pytest.approx([0.1, 0.2])
    mass = found.quantities["all"]["image_mass"]
    assert mass.change.value == pytest.approx(0.1)
    assert mass.association.flip.n == (1, 1)
    assert [line["hallucinated"] for line in lines] == [False, True, False, False, None, False]
    assert math.isnan(lines[5]["vns"])
    assert lines[1]["detectors"]["nll"] == pytest.approx(0.5)
    assert found.detectors["all"]["nll"].positives == 1
    record = found.record()
    assert record["quantities"]["all"]["vns"]["curve"]["points"][1]["excluded"] == 1
    with pytest.raises(InputError, match="no such folder of heads"):
        summarise(tmp_path, responses, heads=tmp_path / "nowhere", draws=0)
    (tmp_path / "heads").mkdir()
    with pytest.raises(InputError, match="no heads that this run can use"):
        summarise(tmp_path, responses, heads=tmp_path / "heads", draws=0)


def test_heads_of_another_model_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "ghost", [["a-tone1"]], [2])
    other = write(tmp_path / "run", [["a-tone1"]], [2], revision="r2", model="another")
    (other / "heads").mkdir()
    with pytest.raises(InputError, match="fitted on another"):
        detector_scores(folder, ["a-tone1"], load_trace(folder, ["a-tone1"]), heads=other / "heads")
