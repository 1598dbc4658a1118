"""Tables and sections of a POPE audit: refused readouts have no numbers, and the closed form agrees."""

import math

import numpy as np
import pytest

from probekit.benchmarks.pope import PopeQuestion, PopeQuestions
from probekit.benchmarks.pope_answers import PopeAnswers
from probekit.benchmarks.yesno import Answer
from probekit.evaluation.pope_audit import PopeAudit, audit
from probekit.evaluation.pope_inputs import PopeInputs
from probekit.readouts.toys import byte_level_bpe
from probekit.report.formats import to_markdown
from probekit.report.pope import pope_sections
from probekit.report.pope_tables import readout_table, refusal_table, transition_table
from probekit.report.tables import Estimate


@pytest.fixture(scope="module")
def found() -> PopeAudit:
    """A model with LLaMA's ids: it says " No" (1939), and id 3582 stands above id 1217 for half of them."""
    questions = tuple(
        PopeQuestion(
            str(i),
            f"{i // 4}.png",
            "Is there a bus in the image?",
            (Answer.YES, Answer.NO)[i % 2],
            "bus",
            i + 1,
        )
        for i in range(80)
    )
    says_yes = np.arange(80) % 4 == 0
    logits = np.zeros((80, 32000), dtype=np.float32)
    logits[says_yes, 3869] = 9.0
    logits[~says_yes, 1939] = 9.0
    logits[::3, 3582] = 1.0
    logits[says_yes, 3582] = 1.0
    texts = tuple("Yes" if yes else "No" for yes in says_yes)
    answers = PopeAnswers("a.jsonl", "0" * 64, texts, (None,) * 80, 80, tuple(range(80)), {})
    inputs = PopeInputs(PopeQuestions("q.jsonl", "1" * 64, 80, questions), answers, logits=logits)
    return audit(inputs, allow_uncovered=["legacy_2tok"], draws=20)


def test_a_refused_readout_has_its_coverage_and_no_numbers() -> None:
    questions = (PopeQuestion("1", "1.png", "Is there a bus?", Answer.YES, "bus", 1),) * 2
    answers = PopeAnswers("a", "0", ("Hm", "Yes"), (None, None), 2, (0, 1), {})
    found = audit(PopeInputs(PopeQuestions("q", "1", 2, questions), answers), draws=0)
    table = readout_table({"q": found})
    row = next(row for row in table.rows if row[1] == "pope_official")
    assert row[2] == 0.5
    assert isinstance(row[3], Estimate)
    assert math.isnan(row[3].value)
    (refused,) = refusal_table({"q": found}).rows
    assert refused[:3] == ("q", "pope_official", 0.5)
    assert "below 0.99" in str(refused[3])
    assert "n/a" in to_markdown(table)


def test_two_ids_turn_no_answers_into_yes_and_the_closed_form_says_how_many(found: PopeAudit) -> None:
    table = transition_table({"q": found})
    titles = [column.key for column in table.columns]
    row = dict(zip(titles, next(r for r in table.rows if r[2] == "legacy_2tok"), strict=True))
    # Label yes and answered no: i = 2 mod 4; of those 20, the multiples of 3 flip: 6, 18, ..., 78.
    assert row["phi"] == pytest.approx(7 / 20)
    assert row["yes_no"] == 0
    assert row["f1_closed"] == pytest.approx(row["f1_second"])
    assert row["f1_first"] != pytest.approx(row["f1_second"])
    eight = found.readouts["legacy_8tok"]
    assert eight.coverage == 1.0
    assert found.readouts["legacy_2tok"].coverage == 0.0


def test_sections_follow_what_there_is(found: PopeAudit) -> None:
    sections = pope_sections({"q": found})
    titles = [section.title for section in sections]
    assert titles == ["How to read this page", "Readouts", "What the readout changes"]
    names = [figure.frame.name for section in sections for figure in section.figures]
    assert len(names) == len(set(names))
    assert any(name.startswith("flow-q") for name in names)


def test_a_tokenizer_of_another_model_is_named_by_its_readouts(found: PopeAudit) -> None:
    # The toy tokenizer's ids are inside this vocabulary, but the model never says them.
    from dataclasses import replace

    assert "dynamic_single" not in found.readouts
    questions = (PopeQuestion("1", "1.png", "Is there a bus?", Answer.YES, "bus", 1),) * 2
    answers = PopeAnswers("a", "0", ("No", "Yes"), (None, None), 2, (0, 1), {})
    inputs = PopeInputs(PopeQuestions("q", "1", 2, questions), answers)
    logits = np.zeros((2, 32000), dtype=np.float32)
    logits[:, 3869] = 9.0
    again = audit(replace(inputs, logits=logits, tokenizer=byte_level_bpe()), draws=0)
    assert again.readouts["dynamic_single"].coverage == 0.0
    assert again.reference == "string_parse"
