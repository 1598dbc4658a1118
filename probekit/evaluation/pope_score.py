"""The metrics of a file of written answers, with what is needed to know which file of questions it was."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.evaluation.pope_inputs import load_inputs
from probekit.evaluation.pope_record import scores_record
from probekit.metrics.estimates import DRAWS, FEWEST
from probekit.metrics.pope import PopeScores, score
from probekit.readouts import TEXT_READOUTS, Readings


@dataclass(frozen=True)
class ScoredAnswers:
    """Metrics of one answers file under one text readout.

    Attributes:
        source: the file of questions: name, digest, release, counts, exclusions.
        answers: the answers file and its digest.
        readings: the decisions.
        scores: the metrics.
        unknown: ids of questions answered neither way.
    """

    source: dict[str, Any]
    answers: dict[str, str]
    readings: Readings
    scores: PopeScores
    unknown: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "questions": self.source,
            "answers": self.answers,
            "readout": self.readings.readout,
            "coverage": self.readings.coverage,
            **scores_record(self.scores),
            "unknown_questions": list(self.unknown),
        }

    def text(self) -> str:
        """A few lines for a terminal."""
        s, c = self.source, self.scores.confusion
        lines = [
            f"questions  {s['file']}, {s['rows']} rows, {s['yes']} yes, {s['images']} pictures",
            f"           sha256 {s['sha256']}",
            f"           {s['release']}",
            f"answers    {self.answers['file']}, sha256 {self.answers['sha256'][:16]}...",
            f"readout    {self.readings.readout}, coverage {self.readings.coverage:.4f}",
            f"counts     TP {c.tp}  FP {c.fp}  FN {c.fn}  TN {c.tn}  unknown {c.unknown_yes + c.unknown_no}"
            f" ({c.unknown_yes} with label yes)",
        ]
        if s["exclusion_list"]:
            lines.insert(3, f"           without {len(s['excluded'])} questions by {s['exclusion_list']}")
        lines += [f"{name:<14} {estimate}" for name, estimate in self.scores.estimates().items()]
        lines.append(f"{'label yes':<14} {c.label_yes_ratio:.3f}")
        lines.append(f"intervals  95 %, resample pictures; fewer than {FEWEST} pictures: none")
        return "\n".join(lines)


def score_answers(
    questions: Path,
    answers: Path,
    readout: str = "string_parse",
    *,
    exclude: Path | None = None,
    allow_uncovered: Collection[str] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> ScoredAnswers:
    """Score written answers to a file of questions.

    Raises:
        InputError: a file is not valid, ids do not join, the readout is unknown or covers too little.
    """
    for name in (readout, *allow_uncovered):
        if name not in TEXT_READOUTS:
            raise InputError(
                f"no readout {name!r} of written answers", hint=f"Known: {', '.join(TEXT_READOUTS)}."
            )
    inputs = load_inputs(questions, answers, exclude=exclude)
    read = TEXT_READOUTS[readout]
    readings = read(inputs.answers.texts, inputs.objects, allow_uncovered=readout in allow_uncovered)
    return ScoredAnswers(
        source=inputs.questions.source(),
        answers={"file": answers.name, "sha256": inputs.answers.sha256},
        readings=readings,
        scores=score(inputs.labels, readings.decisions, inputs.images, draws=draws, seed=seed),
        unknown=tuple(
            question.question_id
            for question, decision in zip(inputs.questions, readings.decisions, strict=True)
            if decision < 0
        ),
    )
