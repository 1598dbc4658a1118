"""The whole audit on a made model whose answers, logits and attention are known."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probekit.benchmarks.pope_splits import generate_split, save_split
from probekit.errors import InputError
from probekit.evaluation.pope_audit import audit
from probekit.evaluation.pope_inputs import PopeInputs, load_inputs
from probekit.evaluation.pope_record import audit_record, save_audit
from probekit.metrics.pope import confusion
from probekit.readouts import dynamic_mass, sequence_log_probabilities
from probekit.readouts.toys import byte_level_bpe, space_apart, toy_continuation, toy_logits

NAMES = ("dog", "cat", "bus", "oven", "kite", "cup", "person", "bench", "spoon", "horse")
PICTURES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions, answers in reverse order, logits and attention, as a forward pass would leave them."""
    root = tmp_path_factory.mktemp("pope")
    rng = np.random.default_rng(0)
    world = {f"{i:03d}.png": rng.choice(NAMES, 4, replace=False).tolist() for i in range(PICTURES)}
    split = generate_split(world, "adversarial")
    save_split(split, root / "questions.jsonl")
    tokenizer = byte_level_bpe()
    tokenizer.inner.save(str(root / "tokenizer.json"))
    rows = list(reversed(split.rows))
    right = rng.random(len(rows)) < 0.8
    said = [(row["label"] == "yes") == ok for row, ok in zip(rows, right, strict=True)]
    answers = tuple(" Yes" if yes else " No" for yes in said)
    logits = toy_logits(tokenizer, answers) + rng.normal(0, 0.3, (len(rows), tokenizer.size))
    np.save(root / "logits.npy", logits.astype(np.float32))
    forms = dynamic_mass(tokenizer).sequences
    columns = sequence_log_probabilities(logits, forms, toy_continuation(tokenizer, answers))
    np.save(root / "forms.npy", columns)
    attention = rng.uniform(0.2, 0.4, (len(rows), 4, 2))
    attention[~right, 2:, 1] += 0.2
    np.save(root / "attention.npy", attention.astype(np.float16))
    with (root / "answers.jsonl").open("w") as handle:
        for i, row in enumerate(rows):
            line = {
                "question_id": row["question_id"],
                "answer": answers[i].strip() + ".",
                "token_ids": [tokenizer.encode("ASSISTANT:" + answers[i])[-1]],
                "clip": float(rng.normal(row["label"] == "yes", 0.5)),
            }
            handle.write(json.dumps(line) + "\n")
    return root


@pytest.fixture(scope="module")
def inputs(folder: Path) -> PopeInputs:
    return load_inputs(
        folder / "questions.jsonl",
        folder / "answers.jsonl",
        logits=folder / "logits.npy",
        forms=folder / "forms.npy",
        attention=folder / "attention.npy",
        certainty="clip",
        tokenizer=folder,
    )


def test_arrays_follow_the_questions_though_answers_are_in_another_order(inputs: PopeInputs) -> None:
    assert inputs.logits is not None
    tokenizer = inputs.tokenizer
    assert tokenizer is not None
    for text, row in zip(inputs.answers.texts, inputs.logits, strict=True):
        assert tokenizer.decode([int(row.argmax())]).strip() + "." == text


def test_readouts_that_saw_the_answers_agree_and_legacy_ids_are_refused(inputs: PopeInputs) -> None:
    found = audit(inputs, draws=50)
    assert found.reference == "dynamic_single"
    expected = confusion(
        inputs.labels, np.array([text == "Yes." for text in inputs.answers.texts]).astype(np.int8)
    )
    for name in ("string_parse", "pope_official", "dynamic_single", "dynamic_mass"):
        result = found.readouts[name]
        assert result.coverage == 1.0, name
        assert result.scores is not None
        assert result.scores.confusion == expected, name
    for name in ("legacy_2tok", "legacy_8tok"):
        result = found.readouts[name]
        assert result.coverage == 0.0
        assert result.scores is None
        assert "outside a vocabulary" in result.refused
    assert all("legacy" not in name for name in found.running)
    record = audit_record(found)
    assert record["readouts"]["legacy_2tok"]["scores"] is None
    assert record["source"]["questions"]["rows"] == len(inputs.questions)


def test_legacy_ids_score_when_asked_for_by_name_and_their_f1_is_false(inputs: PopeInputs) -> None:
    found = audit(inputs, allow_uncovered=["legacy_2tok"], draws=50)
    legacy = found.readouts["legacy_2tok"]
    assert legacy.scores is not None
    # Ids outside the vocabulary tie everywhere: all no, F1 0, as on the paper's disjoint vocabularies.
    assert legacy.scores.f1.value == 0.0
    moved = next(m for m in found.transitions if m.second == "legacy_2tok")
    assert moved.after() == legacy.scores.confusion
    assert moved.no_read_as_yes == 0
    with pytest.raises(InputError, match="no readout legacy_3tok"):
        audit(inputs, allow_uncovered=["legacy_3tok"])


def test_wrong_answers_attend_more_and_the_map_says_where(inputs: PopeInputs) -> None:
    found = audit(inputs, draws=100)
    assert found.blocks == (2, 3)
    effect = found.attention_effects["correct - wrong"]
    assert effect.d_pooled.high < 0
    assert effect.rank.p < 1e-6
    assert found.attention_map is not None
    record = audit_record(found)["attention"]["map"]
    significant = np.array(record["p_rank_holm"]) < 0.01
    assert significant.tolist() == [[False, False], [False, False], [False, True], [False, True]]
    assert {name: group.n for name, group in found.attention_groups.items()} == {
        name: found.outcomes.count(name) for name in ("tp", "tn", "fp", "fn")
    }


def test_first_tokens_carry_their_text(inputs: PopeInputs) -> None:
    found = audit(inputs, draws=0)
    assert {found.token_texts[first.token] for first in found.first_tokens} == {" Yes", " No"}
    assert sum(first.count for first in found.first_tokens) == len(inputs.questions)


def test_corrections_are_measured_on_other_pictures(inputs: PopeInputs) -> None:
    found = audit(inputs, draws=50)
    kinds = {tuned.correction.name: tuned for tuned in found.corrections}
    assert len(kinds) == 5
    assert not found.skipped
    assert {t.calibration_images + t.test_images for t in kinds.values()} == {PICTURES}
    assert kinds["certainty_weighting"].gain.value > 0
    without = audit(replace(inputs, certainty=None, attention=None), draws=0)
    assert set(without.skipped) == {"certainty_weighting", "attention_gating"}
    assert without.attention_map is None


def test_written_answers_alone_can_be_audited(inputs: PopeInputs) -> None:
    found = audit(replace(inputs, logits=None, tokenizer=None, attention=None), draws=0)
    assert found.reference == "string_parse"
    assert set(found.readouts) == {"string_parse", "pope_official"}
    assert not found.corrections


def test_a_tokenizer_that_splits_the_space_off_falls_back_and_says_why(inputs: PopeInputs) -> None:
    tokenizer = space_apart()
    logits = toy_logits(tokenizer, tuple(" " + text[:-1] for text in inputs.answers.texts))
    found = audit(replace(inputs, tokenizer=tokenizer, logits=logits, forms=None), draws=0)
    assert found.reference == "string_parse"
    assert found.readouts["dynamic_single"].coverage == 0.0
    assert "2 tokens" in " ".join(found.readouts["dynamic_single"].left_out)
    assert math.isnan(found.readouts["dynamic_mass"].coverage)
    assert "has 2 tokens" in found.readouts["dynamic_mass"].refused


def test_the_saved_record_is_json_without_nan(inputs: PopeInputs, tmp_path: Path) -> None:
    save_audit(audit(inputs, draws=10), tmp_path / "audit.json")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    record = json.loads((tmp_path / "audit.json").read_text(), parse_constant=refuse)
    assert record["reference"] == "dynamic_single"
    assert record["corrections"][0]["gain_f1"]["n"] > 0


def test_arrays_that_do_not_fit_are_named(folder: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "short.npy"
    np.save(wrong, np.zeros((3, 5)))
    arguments = (folder / "questions.jsonl", folder / "answers.jsonl")
    with pytest.raises(InputError, match=r"short\.npy.*3 rows"):
        load_inputs(*arguments, logits=wrong)
    with pytest.raises(InputError, match="3 axes"):
        load_inputs(*arguments, attention=wrong)
    objects = tmp_path / "objects.npy"
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"objects\.npy"):
        load_inputs(*arguments, logits=objects)
    with pytest.raises(InputError, match="no such file"):
        load_inputs(*arguments, logits=tmp_path / "none.npy")
    with pytest.raises(InputError, match="column 'blip'"):
        load_inputs(*arguments, certainty="blip")
