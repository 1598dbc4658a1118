"""Confidences to select by, from three kinds of file: a plain table, Tri-Layer rows, or a run's detectors."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.labels import Label, LabelSet
from probekit.rows import RowKey
from probekit.scores.selective import confidence
from probekit.scores.tri_layer import group_by, load_rows


@dataclass(frozen=True)
class Confidences:
    """What selective prediction needs of one source.

    Attributes:
        name: what the confidence comes from.
        values: one confidence a row, NaN when there is none.
        correct: whether the answer is right, or the mention real.
        images: the unit of sampling of each row.
        unlabelled: rows of the source without a label, left out.
    """

    name: str
    values: Float[np.ndarray, "row"]
    correct: Bool[np.ndarray, "row"]
    images: tuple[str, ...]
    unlabelled: int = 0


def load_confidences(path: Path) -> tuple[Confidences, ...]:
    """Read a run folder, Tri-Layer rows, or a CSV with ``confidence``, ``correct`` and optional ``image_id``.

    Raises:
        InputError: the file is none of the three, or a cell is of the wrong kind; file and line named.
    """
    if path.is_dir():
        if (path / "tri_layer.csv").is_file():
            return _of_tri_layer(path / "tri_layer.csv")
        if not (path / "scores.csv").is_file():
            raise InputError(
                "the folder holds neither scores.csv, as `probekit run` and `evaluate` write it, nor "
                "tri_layer.csv of `probekit tri-layer`",
                where=str(path),
                hint="Give the folder of such a run, or a CSV with confidence and correct.",
            )
        return _of_run(path)
    header = _header(path)
    if {"lad", "vns", "model"} <= set(header):
        return _of_tri_layer(path)
    if {"confidence", "correct"} <= set(header):
        return (_plain(path),)
    raise InputError(
        f"columns {', '.join(header) or '(none)'}",
        where=f"{path}, line 1",
        hint="Needed: confidence and correct; or Tri-Layer rows; or pass the folder of a run.",
    )


def _plain(path: Path) -> Confidences:
    values, correct, images = [], [], []
    unlabelled = 0
    for number, cells in _rows(path):
        where = f"{path}, line {number}"
        if cells["correct"] == "":
            unlabelled += 1
            continue
        if cells["correct"] not in ("0", "1"):
            raise InputError(f"'correct' is {cells['correct']!r}", where=where, hint="Give 1, 0 or nothing.")
        values.append(_number(cells["confidence"], where))
        correct.append(cells["correct"] == "1")
        images.append(cells.get("image_id") or f"line {number}")
    return Confidences(path.stem, _floats(values), np.array(correct, np.bool_), tuple(images), unlabelled)


def _of_tri_layer(path: Path) -> tuple[Confidences, ...]:
    found = []
    for model, rows in group_by(load_rows(path), lambda row: row.model).items():
        held = [row for row in rows if row.correct is not None]
        found.append(
            Confidences(
                model,
                _floats([confidence(row.category(), row.lad, row.vns) for row in held]),
                np.array([bool(row.correct) for row in held], np.bool_),
                tuple(row.image_id for row in held),
                len(rows) - len(held),
            )
        )
    return tuple(found)


def _of_run(run: Path) -> tuple[Confidences, ...]:
    """Test rows of every detector, mix and seed of a run; the confidence is the negated score.

    A mention is correct when it is concrete; hallucinated ones are errors; all others are left out.
    """
    labels = LabelSet.load(run / "labels" / "labels.jsonl")
    images = {
        RowKey(str(value["example_id"]), value["index"]): str(value["image_id"])
        for _, value in read_jsonl(run / "rows.jsonl", required=("example_id", "index", "image_id"))
    }
    path = run / "scores.csv"
    needed = ("detector", "mix", "seed", "split", "example_id", "index", "score")
    missing = sorted(set(needed) - set(_header(path)))
    if missing:
        raise InputError(f"missing columns {', '.join(missing)}", where=f"{path}, line 1")
    groups: dict[str, list[tuple[float, bool, str]]] = {}
    left: dict[str, int] = {}
    for number, cells in _rows(path):
        where = f"{path}, line {number}"
        if cells["split"] != "test":
            continue
        name = f"{cells['detector']} ({cells['mix']}, seed {cells['seed']})"
        index = cells["index"]
        if index and not index.isdigit():
            raise InputError(f"'index' is {index!r}", where=where)
        key = RowKey(cells["example_id"], int(index) if index else None)
        label = labels.get(key)
        if label is None or label.label not in (Label.CONCRETE, Label.HALLUCINATED):
            left[name] = left.get(name, 0) + 1
            continue
        held = groups.setdefault(name, [])
        held.append(
            (-_number(cells["score"], where), label.label is Label.CONCRETE, images.get(key, key.example_id))
        )
    return tuple(_grouped(name, rows, left) for name, rows in groups.items())


def _grouped(name: str, rows: Sequence[tuple[float, bool, str]], left: Mapping[str, int]) -> Confidences:
    return Confidences(
        name,
        _floats([value for value, _, _ in rows]),
        np.array([right for _, right, _ in rows], np.bool_),
        tuple(image for _, _, image in rows),
        left.get(name, 0),
    )


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            return next(csv.reader(handle), [])
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as handle:
        found = []
        for number, cells in enumerate(csv.DictReader(handle), start=2):
            if None in cells or None in cells.values():
                raise InputError("another number of cells than line 1", where=f"{path}, line {number}")
            found.append((number, dict(cells)))
        return found


def _number(text: str, where: str) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise InputError(f"{text!r} is not a number", where=where) from None


def _floats(values: Sequence[float]) -> Float[np.ndarray, "row"]:
    return np.array(values, dtype=np.float64)
