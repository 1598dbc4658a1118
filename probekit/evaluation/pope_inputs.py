"""What a POPE audit reads: questions, answers, and arrays saved beside the answers."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int8

from probekit.benchmarks.pope import PopeQuestions, load_questions
from probekit.benchmarks.pope_answers import PopeAnswers, load_answers
from probekit.errors import InputError
from probekit.readouts import ANSWER_PREFIX, FastTokenizer, Tokenizer


@dataclass(frozen=True)
class PopeInputs:
    """Evidence about one file of questions; everything after the answers may be missing.

    Attributes:
        questions: the file.
        answers: one for each question.
        logits: at the first answer position.
        forms: log-probability (nats) of every sequence of the tokenizer's `dynamic_mass` readout, in its
            order of columns.
        attention: attention mass of the last prompt token on the image.
        certainty: an external image-text model's score that the object is in the picture.
        tokenizer: the model's own.
        context: the end of the prompt, up to where the answer begins.
    """

    questions: PopeQuestions
    answers: PopeAnswers
    logits: Float[np.ndarray, "question vocabulary"] | None = None
    forms: Float[np.ndarray, "question sequence"] | None = None
    attention: Float[np.ndarray, "question layer head"] | None = None
    certainty: Float[np.ndarray, "question"] | None = None
    tokenizer: Tokenizer | None = None
    context: str = ANSWER_PREFIX

    @property
    def labels(self) -> Int8[np.ndarray, "question"]:
        """1 where the right answer is yes, 0 where it is no."""
        return np.array([question.label.code for question in self.questions], dtype=np.int8)

    @property
    def images(self) -> list[str]:
        """The picture of each question."""
        return [question.image_id for question in self.questions]

    @property
    def objects(self) -> list[str | None]:
        """The object each question asks about, where it could be read."""
        return [question.object for question in self.questions]


def load_inputs(
    questions: Path,
    answers: Path,
    *,
    logits: Path | None = None,
    forms: Path | None = None,
    attention: Path | None = None,
    certainty: str | None = None,
    tokenizer: Path | None = None,
    context: str = ANSWER_PREFIX,
    exclude: Path | None = None,
) -> PopeInputs:
    """Read and join the files of one audit.

    Args:
        logits: NumPy array ``answer vocabulary``, a row for each line of the answers file.
        forms: NumPy array ``answer sequence``, likewise.
        attention: NumPy array ``answer layer head``, likewise.
        certainty: name of a column of the answers file.
        tokenizer: a ``tokenizer.json`` or the folder it lies in.
        exclude: list of question ids with known wrong labels.

    Raises:
        InputError: a file is not valid, or an array does not fit the answers.
    """
    asked = load_questions(questions, exclude)
    found = load_answers(answers, asked, () if certainty is None else (certainty,))
    return PopeInputs(
        questions=asked,
        answers=found,
        logits=None if logits is None else _array(logits, found, 2),
        forms=None if forms is None else _array(forms, found, 2),
        attention=None if attention is None else _array(attention, found, 3),
        certainty=None if certainty is None else found.numbers[certainty],
        tokenizer=None if tokenizer is None else FastTokenizer.load(tokenizer),
        context=context,
    )


def _array(path: Path, answers: PopeAnswers, axes: int) -> np.ndarray:
    """The rows of a saved array in the order of the questions."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"not a NumPy array: {error}", where=str(path)) from None
    if not isinstance(values, np.ndarray) or values.ndim != axes or values.dtype.kind != "f":
        shape = getattr(values, "shape", "?")
        raise InputError(f"an array of floats with {axes} axes is needed, found {shape}", where=str(path))
    if len(values) != answers.rows:
        raise InputError(
            f"{len(values)} rows for {answers.rows} answers in {answers.path}",
            where=str(path),
            hint="The array needs one row for each line of the answers file, in its order.",
        )
    return np.asarray(values[list(answers.places)])
