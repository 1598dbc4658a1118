"""Scores of held-out mentions: each mention once, from the first seed whose test split holds it."""

from __future__ import annotations

import csv
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from probekit.errors import InputError
from probekit.evaluation.scores import COLUMNS
from probekit.rows import RowKey


@dataclass(frozen=True, slots=True)
class Choice:
    """A detector as the reader can choose it."""

    detector: str
    variant: str
    mix: str


@dataclass(frozen=True, slots=True)
class Score:
    """One held-out score.

    Attributes:
        seed: the seed whose test split holds the mention; its model never saw the picture.
        value: higher is more likely hallucinated; NaN when the detector cannot score the mention.
        threshold: the seed's threshold; flagged means above it.
        flagged: ``None`` when there is no score or no threshold.
        above: share of the seed's scored test mentions that lie strictly below.
    """

    seed: int
    value: float
    threshold: float
    flagged: bool | None
    above: float


HeldOut = Mapping[Choice, Mapping[RowKey, Score]]


def read_held_out(path: Path, mixes: Mapping[tuple[str, str], str]) -> HeldOut:
    """Test rows of scores.csv, one mix for each detector.

    Args:
        path: the csv file, with the columns that `probekit.evaluation` writes.
        mixes: mix to read for each (detector, variant); others are skipped.

    Raises:
        InputError: the file is missing, a column is missing, or a line does not parse.
    """
    rows: dict[Choice, dict[RowKey, tuple[int, float, float, bool | None]]] = {}
    pools: dict[tuple[Choice, int], list[float]] = {}
    try:
        handle = path.open(encoding="utf-8", newline="")
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), hint="`probekit evaluate` writes it.") from None
    with handle:
        reader = csv.DictReader(handle)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"missing columns {', '.join(missing)}", where=f"{path}, line 1")
        for line in reader:
            if line["split"] != "test" or mixes.get((line["detector"], line["variant"])) != line["mix"]:
                continue
            choice = Choice(line["detector"], line["variant"], line["mix"])
            try:
                key = RowKey(line["example_id"], int(line["index"]) if line["index"] else None)
                seed, value, threshold = int(line["seed"]), _float(line["score"]), _float(line["threshold"])
                flagged = _flag(line["flagged"])
            except (ValueError, KeyError) as error:
                raise InputError(f"bad row: {error}", where=f"{path}, line {reader.line_num}") from None
            if not math.isnan(value):
                pools.setdefault((choice, seed), []).append(value)
            known = rows.setdefault(choice, {}).get(key)
            if known is None or seed < known[0]:
                rows[choice][key] = (seed, value, threshold, flagged)
    for pool in pools.values():
        pool.sort()
    return {
        choice: {key: _score(*row, pools.get((choice, row[0]), [])) for key, row in found.items()}
        for choice, found in rows.items()
    }


def _score(seed: int, value: float, threshold: float, flagged: bool | None, pool: list[float]) -> Score:
    if math.isnan(value):
        return Score(seed, value, threshold, None, math.nan)
    return Score(seed, value, threshold, flagged, bisect_left(pool, value) / len(pool))


def _float(field: str) -> float:
    return float(field) if field not in ("", "n/a") else math.nan


def _flag(field: str) -> bool | None:
    return {"true": True, "false": False, "": None}[field.lower()]
