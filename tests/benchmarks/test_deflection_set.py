"""DeflectionBench: scenarios, samples on disk, gating, and distractor mining."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probekit.benchmarks.deflection import (
    Evidence,
    Outcome,
    Sample,
    Scenario,
    Wording,
    load_samples,
    pose,
)
from probekit.benchmarks.deflection_gating import gate_answerable, gate_distractors, gate_parametric
from probekit.benchmarks.deflection_mining import Found, Index, chunks, rerank
from probekit.benchmarks.example import Picture
from probekit.errors import InputError

RIGHT, WRONG, NONE = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NOT_ATTEMPTED

SAMPLE = Sample(
    "s1",
    "In which city does this tower stand?",
    "pics/tower.png",
    ("Paris",),
    (Evidence(text="gold text"), Evidence(image="gold.png")),
    (*(Evidence(text=f"distractor {i}") for i in range(4)), Evidence(image="other.png")),
)


def words(scenario: Scenario, seed: int = 0) -> str:
    return pose(SAMPLE, scenario, seed=seed).example.question


def test_each_scenario_holds_its_evidence_and_no_other() -> None:
    held = {s: (words(s).count("gold text"), words(s).count("distractor")) for s in Scenario}
    assert held == {
        Scenario.PARAMETRIC: (0, 0),
        Scenario.ORACLE: (1, 0),
        Scenario.REALISTIC: (1, 4),
        Scenario.ADVERSARIAL: (0, 4),
    }
    assert all(SAMPLE.question in words(s) for s in Scenario)


def test_images_stand_in_the_prompt_in_the_order_of_their_list() -> None:
    for scenario, others in (
        (Scenario.PARAMETRIC, set()),
        (Scenario.ORACLE, {"gold.png"}),
        (Scenario.REALISTIC, {"gold.png", "other.png"}),
        (Scenario.ADVERSARIAL, {"other.png"}),
    ):
        posed = pose(SAMPLE, scenario)
        assert posed.images[0] == "pics/tower.png"
        assert set(posed.images[1:]) == others
        pictures = [p for m in posed.example.messages for p in m.parts if isinstance(p, Picture)]
        assert len(pictures) == len(posed.images)
        shown = [e.image for e in posed.evidence if e.image is not None]
        assert list(posed.images[1:]) == shown


def test_gold_is_found_where_it_is_said_to_be_and_its_place_varies() -> None:
    places = set()
    for seed in range(40):
        posed = pose(SAMPLE, Scenario.REALISTIC, seed=seed)
        assert {posed.evidence[i] for i in posed.gold_at} == set(SAMPLE.gold)
        places.add(posed.gold_at)
    assert len(places) > 5
    assert pose(SAMPLE, Scenario.REALISTIC, seed=3) == pose(SAMPLE, Scenario.REALISTIC, seed=3)


def test_a_sample_keeps_its_identity_over_scenarios() -> None:
    posed = [pose(SAMPLE, s).example for s in Scenario]
    assert {e.image_id for e in posed} == {"tower"}
    assert [e.example_id for e in posed] == [f"s1-{s}" for s in Scenario]
    assert {e.reference for e in posed} == {("Paris",)}


def test_own_wording_and_missing_evidence() -> None:
    own = pose(SAMPLE, Scenario.ORACLE, wording=Wording(with_evidence="Use this.")).example.question
    assert own.startswith("Use this.")
    bare = Sample("t", "Q?", None, ("a",), (), ())
    assert pose(bare, Scenario.PARAMETRIC).images == ()
    for scenario in (Scenario.ORACLE, Scenario.REALISTIC, Scenario.ADVERSARIAL):
        with pytest.raises(InputError, match="sample t"):
            pose(bare, scenario)


@pytest.mark.parametrize(
    "sentences",
    [
        {"question": "{{question}}"},
        {"item": "{number}: {{text}}"},
        {"item": "{text.nothing}"},
        {"question": "{question:%Y}"},
    ],
)
def test_wording_that_shows_no_question_or_evidence_is_refused(
    tmp_path: Path, sentences: dict[str, str]
) -> None:
    path = tmp_path / "wording.json"
    path.write_text(json.dumps(sentences))
    with pytest.raises(InputError, match=r"wording\.json: '"):
        Wording.load(path)


LINE: dict[str, Any] = {
    "id": "a",
    "question": "Q?",
    "answers": ["x"],
    "gold": [{"text": "g"}],
    "distractors": [{"text": f"d{i}"} for i in range(5)],
}


def test_samples_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**LINE, "image": "i.png"}) + "\n" + json.dumps({**LINE, "id": "b"}) + "\n")
    first, second = load_samples(path)
    assert (first.image, second.image) == ("i.png", None)
    assert len(first.distractors) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": []}, "line 1.*'answers'"),
        ({"answers": "x"}, "line 1.*'answers'"),
        ({"question": " "}, "line 1.*'question'"),
        ({"image": 3}, "line 1.*'image'"),
        ({"id": None}, "line 1.*'id'"),
        ({"id": ["a"]}, "line 1.*'id'"),
        ({"id": math.nan}, "line 1.*'id'"),
        ({"id": " "}, "line 1.*'id'"),
        ({"id": "a\0b"}, "line 1.*'id'"),
        ({"kind": "a\0"}, "line 1.*'kind'"),
        ({"kind": "all"}, "line 1.*'kind' 'all'"),
        ({"distractors": [{"text": "d"}] * 4}, "line 1: 4 distractors, at least 5"),
        ({"distractors": [{"text": f"d{i}"} for i in range(5)] + [{"text": "g"}]}, "line 1.*gold"),
        ({"gold": [{"text": "g", "image": "i"}]}, "line 1.*either"),
        ({"gold": [{"text": 3}]}, "line 1.*texts"),
        ({"gold": [{"words": "g"}]}, "line 1.*'gold'"),
        ({"gold": "g"}, "line 1.*list"),
    ],
)
def test_faulty_samples_name_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**LINE, **change}) + "\n")
    with pytest.raises(InputError, match=message):
        load_samples(path)


@pytest.mark.parametrize(
    ("outcomes", "none_correct", "all_incorrect"),
    [
        ([WRONG, WRONG], True, True),
        ([WRONG, NONE], True, False),
        ([NONE, NONE], True, False),
        ([WRONG, RIGHT], False, False),
    ],
)
def test_the_two_readings_of_stage_one(
    outcomes: list[Outcome], none_correct: bool, all_incorrect: bool
) -> None:
    given = {f"m{i}": o for i, o in enumerate(outcomes)}
    assert gate_parametric(given).keep is none_correct
    assert gate_parametric(given, "all_incorrect").keep is all_incorrect


def test_stage_three_keeps_answerable_samples_and_harmless_distractors() -> None:
    assert gate_answerable({"a": WRONG, "b": RIGHT}).keep
    assert not gate_answerable({"a": WRONG, "b": NONE}).keep
    kept = gate_distractors([{"a": WRONG, "b": NONE}, {"a": RIGHT, "b": WRONG}])
    assert [k.keep for k in kept] == [True, False]
    assert "a" in kept[1].reason
    with pytest.raises(InputError):
        gate_parametric({})


def test_mining_is_cosine_search_without_the_gold() -> None:
    generator = np.random.default_rng(0)
    embeddings = generator.normal(size=(50, 8))
    index = Index.build([str(i) for i in range(50)], embeddings)
    query = generator.normal(size=8)
    cosines = embeddings @ query / np.linalg.norm(embeddings, axis=1) / np.linalg.norm(query)
    order = [str(i) for i in np.argsort(-cosines)]
    found = index.search(query, 5)
    assert [f.item for f in found] == order[:5]
    assert found[0].cosine == pytest.approx(cosines.max())
    gold = order[:3]
    without = index.search(query, 5, gold=gold)
    assert [f.item for f in without] == order[3:8]
    assert len(index.search(query, 47, gold=gold)) == 47
    with pytest.raises(InputError, match="48 distractors asked of 47"):
        index.search(query, 48, gold=gold)


def test_an_index_is_built_once_and_read_back(tmp_path: Path) -> None:
    index = Index.build(["a", "b"], np.array([[3.0, 4.0], [0.0, 2.0]]))
    index.save(tmp_path / "i.npz")
    again = Index.load(tmp_path / "i.npz")
    assert again.ids == index.ids
    assert again.unit == pytest.approx(np.array([[0.6, 0.8], [0.0, 1.0]]))
    (tmp_path / "bad.npz").write_bytes(b"x")
    with pytest.raises(InputError, match="not an index"):
        Index.load(tmp_path / "bad.npz")


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    path = tmp_path / "index.npz"
    Index.build(["a", "b"], np.eye(2)).save(path)
    whole = path.read_bytes()
    for data in (b"", whole[:40], whole[: len(whole) // 2], b"PK\x03\x04"):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"index\.npz: not an index"):
            Index.load(path)


def test_faulty_embeddings_name_the_item() -> None:
    with pytest.raises(InputError, match="item b"):
        Index.build(["a", "b"], np.array([[1.0, 0.0], [0.0, 0.0]]))
    with pytest.raises(InputError, match="distinct ids"):
        Index.build(["a", "a"], np.ones((2, 2)))
    with pytest.raises(InputError, match="width"):
        Index.build(["a"], np.ones((1, 2))).search(np.ones(3), 1)


def test_reranking_orders_by_the_second_encoder() -> None:
    second = Index.build(["a", "b", "c"], np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]))
    first = [Found("a", 0.9), Found("b", 0.8), Found("c", 0.7)]
    assert [f.item for f in rerank(np.array([1.0, 0.0]), first, second, 2)] == ["c", "b"]
    with pytest.raises(InputError, match="'z'"):
        rerank(np.array([1.0, 0.0]), [Found("z", 1.0)], second, 1)


def test_chunks_cover_the_text_and_overlap() -> None:
    tokens = [str(i) for i in range(250)]
    pieces = chunks(" ".join(tokens), length=100, overlap=20)
    assert [p.split()[0] for p in pieces] == ["0", "80", "160"]
    assert pieces[-1].split()[-1] == "249"
    assert {w for p in pieces for w in p.split()} == set(tokens)
    assert chunks("a b") == ("a b",)
    assert chunks("  ") == ()
    assert len(chunks(" ".join(tokens[:100]))) == 1
