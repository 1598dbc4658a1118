"""POPE: released question files, their variants, and anyone's own yes/no questions."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from probekit.benchmarks.example import Example
from probekit.benchmarks.yesno import Answer
from probekit.errors import InputError
from probekit.files import Json, read_jsonl, sha256

RELEASED = MappingProxyType(
    {
        "ac25245170b975a5bdf9080b23fd431dfe6be458bc038259c1f4f09a6bef7994": "POPE coco random, 3,000",
        "72c1a8ad45d0c13514f5f22598261df41d3b533854d29682e924db50ed8aa753": "POPE coco popular, 3,000",
        "420b3407db1fa9f1187a805dca41cb7b97fd91504e6c2179706188c107fb8ef8": "POPE coco adversarial, 3,000",
    }
)
"""SHA-256 of files whose contents were checked, and what they are. The random split also exists with
2,910 rows, by commit: the hash tells which one a number belongs to."""

_QUESTION = re.compile(
    r"\s*(?:(?:is|are)\s+there|(?:do|can)\s+you\s+see)\s+(?:(?:an?|any|the|some)\s+)?(?P<object>[^?]+?)"
    r"\s+(?:present\s+|visible\s+|shown\s+)?(?:in|on)\s+(?:the|this)\s+(?:image|picture|photo|photograph|scene)\b",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\s*(?:is|are)\s+there\s+(?:(?:an?|any|the|some)\s+)?(?P<object>[^?.]+?)\s*[?.]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PopeQuestion:
    """One question of a file.

    Attributes:
        question_id: as in the file, as text; unique in the file.
        image: the file's name of the picture, a path relative to the image root.
        text: the question.
        label: the right answer, yes or no.
        object: what is asked about; ``None`` when the question has another form.
        line: line of the file, from 1.
    """

    question_id: str
    image: str
    text: str
    label: Answer
    object: str | None
    line: int

    @property
    def image_id(self) -> str:
        """The picture's identity: its file name without folder and ending."""
        return PurePosixPath(self.image).stem


@dataclass(frozen=True)
class PopeQuestions:
    """A file of questions, with what is needed to say which file it was.

    Attributes:
        path: the file.
        sha256: digest of its bytes.
        rows: rows in the file, excluded ones included.
        questions: the questions that count, in the file's order.
        excluded: ids that the exclusion list took out.
        exclusion: the exclusion list and its digest; empty when none was used.
    """

    path: str
    sha256: str
    rows: int
    questions: tuple[PopeQuestion, ...]
    excluded: tuple[str, ...] = ()
    exclusion: str = ""

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[PopeQuestion]:
        return iter(self.questions)

    @property
    def yes(self) -> int:
        """Questions whose right answer is yes."""
        return sum(question.label is Answer.YES for question in self)

    def source(self) -> dict[str, object]:
        """What a report says about the file: name, digest, counts, and the release it is, if known."""
        return {
            "file": Path(self.path).name,
            "sha256": self.sha256,
            "release": RELEASED.get(self.sha256, "not a file known to probekit"),
            "rows": self.rows,
            "questions": len(self),
            "yes": self.yes,
            "images": len({question.image_id for question in self}),
            "without_object": sum(question.object is None for question in self),
            "excluded": list(self.excluded),
            "exclusion_list": self.exclusion or None,
        }

    def examples(self) -> Iterator[Example]:
        """The questions as `Example`, the label as reference."""
        for q in self:
            yield Example.ask(q.question_id, q.image_id, q.image, q.text, reference=q.label.value)


def load_questions(path: Path, exclude: Path | None = None) -> PopeQuestions:
    """Read a file of yes/no questions.

    Args:
        path: JSON Lines, or a JSON array of the same objects: ``question_id``, ``image``, ``text``
            (or ``question``) and ``label``, yes or no.
        exclude: ids of questions with known wrong labels, one a line; a line may go on with a comment
            after ``#``. None are excluded unless a list is given.

    Raises:
        InputError: a row lacks a field, has a label other than yes and no, or repeats an id; or the
            list excludes an id that is not there. File and line are named.
    """
    questions: dict[str, PopeQuestion] = {}
    for line, row in _rows(path):
        question = _question(row, f"{path}, line {line}", line)
        if question.question_id in questions:
            first = questions[question.question_id].line
            raise InputError(
                f"question_id {question.question_id!r} was already used in line {first}",
                where=f"{path}, line {line}",
            )
        questions[question.question_id] = question
    if not questions:
        raise InputError("holds no questions", where=str(path))
    left_out = _exclusions(exclude, questions) if exclude is not None else ()
    return PopeQuestions(
        path=str(path),
        sha256=sha256(path),
        rows=len(questions),
        questions=tuple(q for q in questions.values() if q.question_id not in set(left_out)),
        excluded=left_out,
        exclusion="" if exclude is None else f"{exclude.name} sha256 {sha256(exclude)}",
    )


def object_of(question: str) -> str | None:
    """The object a question asks about: "Is there an traffic light in the image?" -> traffic light.

    The article is dropped whichever it is: released files have wrong ones (SPEC 3.3).
    """
    match = _QUESTION.match(question) or _SHORT.match(question)
    return match["object"].strip().casefold() if match else None


def _question(row: Json, where: str, line: int) -> PopeQuestion:
    text = row.get("text", row.get("question"))
    missing = [name for name in ("question_id", "image", "label") if row.get(name) is None]
    if text is None:
        missing.append("text")
    if missing:
        raise InputError(
            f"missing {', '.join(map(repr, missing))}",
            where=where,
            hint='Each row needs "question_id", "image", "text" and "label".',
        )
    label = row["label"].strip().casefold() if isinstance(row["label"], str) else row["label"]
    if label not in ("yes", "no"):
        raise InputError(f"label {row['label']!r} is neither 'yes' nor 'no'", where=where)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"text {text!r} is not a question", where=where)
    if not isinstance(row["image"], str | int) or isinstance(row["image"], bool):
        raise InputError(f"image {row['image']!r} is not a file name", where=where)
    return PopeQuestion(
        str(row["question_id"]), str(row["image"]), text, Answer(label), object_of(text), line
    )


def _rows(path: Path) -> Iterator[tuple[int, Json]]:
    """Rows with their lines, from JSON Lines or from one JSON array."""
    try:
        with path.open(encoding="utf-8-sig") as handle:
            start = handle.read(256).lstrip()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file of questions is needed", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", where=str(path)) from None
    return _array(path) if start.startswith("[") else read_jsonl(path)


def _array(path: Path) -> Iterator[tuple[int, Json]]:
    """Objects of a JSON array, each with the line it begins in."""
    text = path.read_text(encoding="utf-8-sig")
    decoder = json.JSONDecoder()
    at, line, counted = text.index("[") + 1, 1, 0
    while True:
        at = _skip(text, at)
        line, counted = line + text.count("\n", counted, at), at
        where = f"{path}, line {line}"
        if text[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"not JSON: {error}", where=where) from None
        if not isinstance(value, dict):
            raise InputError(f"a JSON object is needed, found {type(value).__name__}", where=where)
        yield line, value
        at = _skip(text, at)
        if text[at : at + 1] not in (",", "]"):
            raise InputError("not JSON: ',' or ']' is needed after this object", where=where)
        at += text[at] == ","


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _exclusions(path: Path, questions: dict[str, PopeQuestion]) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    listed = [(number, line.split("#")[0].strip()) for number, line in enumerate(lines, start=1)]
    for number, question_id in listed:
        if question_id and question_id not in questions:
            raise InputError(
                f"excludes question_id {question_id!r}, which is not among the questions",
                where=f"{path}, line {number}",
            )
    counted = Counter(question_id for _, question_id in listed if question_id)
    return tuple(counted)
