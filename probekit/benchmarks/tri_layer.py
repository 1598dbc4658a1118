"""Readers of the Tri-Layer tasks: VQAv2 counting, GQA spatial, A-OKVQA, and JSON Lines of one's own.

Files are read as their publishers ship them. POPE has its own reader. Each reader yields `Example`
with ``reference`` set to the accepted answers, the first of them the most frequent.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from probekit.benchmarks.example import Example
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl

SAMPLES: Mapping[str, int] = {"spatial": 250, "counting": 150, "complex": 250, "pope": 350}
"""Questions per task in the paper (Tri-Layer 4.2)."""

COUNTING = re.compile(r"\bhow many\b|\bcount\b|\bnumber of\b", re.IGNORECASE)
"""A counting question. The paper names "how many" and "count"."""

SPATIAL = re.compile(
    r"\b(?:to the (?:left|right) of|left of|right of|on the (?:left|right)(?: side)?|in front of|behind"
    r"|above|below|under|underneath|beneath|on top of|next to|beside|between|near|inside|on the side of"
    r"|over)\b",
    re.IGNORECASE,
)
"""An explicit spatial preposition. The paper names "left of" and "above"."""

COCO_NAME = "COCO_{split}_{image:012d}.jpg"


def read_vqa_counting(
    questions: Path, annotations: Path, *, image_name: str | None = None
) -> Iterator[Example]:
    """Counting questions of VQAv2, from its questions and annotations files.

    Args:
        image_name: how an image file is called, with ``{split}`` and ``{image}``; ``None`` for COCO's
            2014 names. The split is the questions file's own ``data_subtype``.

    Raises:
        InputError: a file has another shape, or a question has no annotation; question named.
    """
    asked = _mapping(read_json(questions), questions)
    answers = {
        _integer(entry, "question_id", annotations, i): _answers(entry, annotations, i)
        for i, entry in enumerate(
            _entries(_mapping(read_json(annotations), annotations), "annotations", annotations)
        )
    }
    split = str(asked.get("data_subtype", "val2014"))
    pattern = image_name or COCO_NAME
    for i, entry in enumerate(_entries(asked, "questions", questions)):
        text = _text(entry, "question", questions, i)
        if not COUNTING.search(text):
            continue
        number = _integer(entry, "question_id", questions, i)
        if number not in answers:
            raise InputError(
                f"question {number} has no annotation in {annotations}", where=f"{questions}, questions[{i}]"
            )
        image = pattern.format(split=split, image=_integer(entry, "image_id", questions, i))
        yield Example.ask(f"vqa-{number}", Path(image).stem, image, text, reference=answers[number])


def read_gqa_spatial(questions: Path) -> Iterator[Example]:
    """Questions of GQA with an explicit spatial preposition, from its questions file (id -> question).

    Raises:
        InputError: the file has another shape; question id named.
    """
    for key, entry in _mapping(read_json(questions), questions).items():
        where = f"{questions}, question {key}"
        if not isinstance(entry, dict):
            raise InputError(f"an object is needed, found {type(entry).__name__}", where=where)
        missing = [name for name in ("question", "imageId", "answer") if not isinstance(entry.get(name), str)]
        if missing:
            raise InputError(f"missing {', '.join(map(repr, missing))}", where=where)
        if SPATIAL.search(entry["question"]):
            image = f"{entry['imageId']}.jpg"
            yield Example.ask(
                f"gqa-{key}", entry["imageId"], image, entry["question"], reference=(entry["answer"],)
            )


def read_aokvqa(path: Path, *, choices: bool = False) -> Iterator[Example]:
    """A-OKVQA, from one of its split files (a JSON list).

    Args:
        choices: append the four choices to the question and accept the right one only; else the
            question is open and the ten direct answers are accepted.

    Raises:
        InputError: the file has another shape, or a split without answers is read; entry named.
    """
    value = read_json(path)
    if not isinstance(value, list):
        raise InputError("a JSON list is needed", where=str(path))
    for i, entry in enumerate(value):
        where = f"{path}, entry [{i}]"
        if not isinstance(entry, dict):
            raise InputError(f"an object is needed, found {type(entry).__name__}", where=where)
        text, key = _text(entry, "question", path, i), _text(entry, "question_id", path, i)
        image = f"{_integer(entry, 'image_id', path, i):012d}.jpg"
        if choices:
            options, right = entry.get("choices"), entry.get("correct_choice_idx")
            if not isinstance(options, list) or not isinstance(right, int) or not 0 <= right < len(options):
                raise InputError("'choices' and 'correct_choice_idx' are needed", where=where)
            text = f"{text} Choose from: {', '.join(map(str, options))}."
            reference: tuple[str, ...] = (str(options[right]),)
        else:
            given = entry.get("direct_answers")
            if not isinstance(given, list) or not given:
                raise InputError("missing 'direct_answers'", where=where, hint="The test split has none.")
            reference = _by_frequency([str(answer) for answer in given])
        yield Example.ask(f"aokvqa-{key}", Path(image).stem, image, text, reference=reference)


def read_plain(path: Path) -> Iterator[Example]:
    """The user's own questions: JSON Lines of ``{"image", "question", "answer"}``.

    ``answer`` is a text or a list of accepted texts; ``id`` is optional, the line number stands in.

    Raises:
        InputError: a line has another shape or repeats an id; file and line named.
    """
    seen: dict[str, int] = {}
    for number, value in read_jsonl(path, required=("image", "question", "answer")):
        where = f"{path}, line {number}"
        if not all(isinstance(value[name], str) and value[name].strip() for name in ("image", "question")):
            raise InputError("'image' and 'question' must be texts", where=where)
        answer = value["answer"]
        given = answer if isinstance(answer, list) else [answer]
        if not given or not all(isinstance(a, str | int | float) and not isinstance(a, bool) for a in given):
            raise InputError("'answer' must be a text or a list of texts", where=where)
        key = str(value.get("id", number))
        if key in seen:
            raise InputError(f"id {key!r} is that of line {seen[key]}", where=where)
        seen[key] = number
        reference = tuple(str(a) for a in given)
        yield Example.ask(
            key, Path(value["image"]).stem, value["image"], value["question"], reference=reference
        )


def _by_frequency(answers: Sequence[str]) -> tuple[str, ...]:
    return tuple(answer for answer, _ in Counter(answers).most_common())


def _mapping(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"a JSON object is needed, found {type(value).__name__}", where=str(path))
    return value


def _entries(value: dict[str, Any], key: str, path: Path) -> list[dict[str, Any]]:
    entries = value.get(key)
    if not isinstance(entries, list):
        raise InputError(f"a list {key!r} is needed", where=str(path), hint="Is this the publisher's file?")
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InputError(
                f"an object is needed, found {type(entry).__name__}", where=f"{path}, {key}[{i}]"
            )
    return entries


def _text(entry: dict[str, Any], key: str, path: Path, i: int) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{key!r} must be a text", where=f"{path}, entry [{i}]")
    return value


def _integer(entry: dict[str, Any], key: str, path: Path, i: int) -> int:
    value = entry.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{key!r} must be a whole number", where=f"{path}, entry [{i}]")
    return value


def _answers(entry: dict[str, Any], path: Path, i: int) -> tuple[str, ...]:
    """The annotators' answers, most frequent first; only those at least three gave, as VQA scores them 1."""
    given = entry.get("answers")
    if (
        not isinstance(given, list)
        or not given
        or not all(isinstance(a, dict) and "answer" in a for a in given)
    ):
        raise InputError(
            "'answers' must be a list of objects with 'answer'", where=f"{path}, annotations[{i}]"
        )
    counts = Counter(str(a["answer"]) for a in given)
    agreed = [answer for answer, count in counts.most_common() if count >= 3]
    return tuple(agreed or [str(entry.get("multiple_choice_answer") or counts.most_common(1)[0][0])])
