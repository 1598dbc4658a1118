"""Can the printed numbers be true together? Bounds that a table of tone averages must keep. SPEC 8."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from probekit.errors import InputError
from probekit.yaml_files import read_yaml

PRINTED = Path(__file__).with_name("ghost_printed.yaml")
HALF = 0.005
"""Half a unit of the second printed decimal: how far a printed value may lie from the true one."""
_COLUMNS = {"h_rate": (0, 1), "h_score": (2, 3)}
_FLOOR = {"h_rate": 0.0, "h_score": 1.0}


@dataclass(frozen=True)
class Finding:
    """One check of one claim.

    Attributes:
        subject: the model, class or claim checked.
        claim: what is printed.
        found: what the other printed numbers imply.
        consistent: whether both can be true.
    """

    subject: str
    claim: str
    found: str
    consistent: bool


def least_average(known: Sequence[float], levels: int, floor: float = 0.0) -> float:
    """Least mean over ``levels`` values of which some are known and the others are at least ``floor``."""
    return (sum(known) + (levels - len(known)) * floor) / levels


def least_sd(known: Sequence[float], average: float, levels: int, ddof: int = 0) -> float:
    """Least SD over levels given some values and the mean: the unknown ones all lie at their own mean."""
    left = levels - len(known)
    if left == 0:
        return float(np.std(known, ddof=ddof))
    other = (average * levels - sum(known)) / left
    return float(np.std([*known, *[other] * left], ddof=ddof))


def largest_sd(low: float, high: float, levels: int, ddof: int = 0) -> float:
    """Largest SD of ``levels`` values inside a range: half of them at either end."""
    return float(np.std([low] * (levels // 2) + [high] * (levels - levels // 2), ddof=ddof))


def load_printed(path: Path | None = None) -> dict[str, Any]:
    """Read printed numbers: the paper's own, or a file of the same shape.

    Raises:
        InputError: the file is missing or not of that shape.
    """
    source = path or PRINTED
    value = read_yaml(source)
    if not isinstance(value, dict) or not isinstance(value.get("table"), dict) or "tones" not in value:
        raise InputError("'tones' and 'table' are needed", where=str(source), hint=f"See {PRINTED.name}.")
    return value


def check(printed: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Every check the printed numbers allow, in the order of the file.

    Raises:
        InputError: an entry lacks a part, or names a model that the table lacks.
    """
    try:
        return (
            *_tone_values(printed),
            *_ranges(printed),
            *_text_against_table(printed),
            *_lowest(printed),
            *_conditional(printed),
            *_stages(printed),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"the printed numbers are incomplete: {error}") from None


def _row(printed: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[float, float, str]:
    average, deviation = _COLUMNS[entry["measure"]]
    row = printed["table"][entry["model"]]
    return float(row[average]), float(row[deviation]), f"{entry['model']} {entry['measure']}"


def _tone_values(printed: Mapping[str, Any]) -> list[Finding]:
    levels = int(printed["tones"])
    found = []
    for entry in printed.get("tone_values", ()):
        average, deviation, subject = _row(printed, entry)
        known = [float(v) for v in entry["values"]]
        least = least_average(known, levels, _FLOOR[entry["measure"]])
        found.append(
            Finding(
                subject,
                f"average {average:.2f}",
                f"the quoted tones force at least {least:.2f}",
                average >= least - 2 * HALF,
            )
        )
        sd = least_sd(known, average, levels)
        found.append(
            Finding(
                subject,
                f"population SD {deviation:.2f}",
                f"the quoted tones and the average force at least {sd:.2f}",
                deviation >= sd - 2 * HALF,
            )
        )
    return found


def _ranges(printed: Mapping[str, Any]) -> list[Finding]:
    levels = int(printed["tones"])
    found = []
    for entry in printed.get("ranges", ()):
        average, deviation, subject = _row(printed, entry)
        low, high = float(entry["low"]), float(entry["high"])
        most = largest_sd(low, high, levels)
        found.append(
            Finding(
                subject,
                f"average {average:.2f}",
                f"the text keeps every tone in [{low:.2f}, {high:.2f}]",
                low - 2 * HALF <= average <= high + 2 * HALF,
            )
        )
        found.append(
            Finding(
                subject,
                f"population SD {deviation:.2f}",
                f"values in [{low:.2f}, {high:.2f}] allow at most {most:.2f}",
                deviation <= most + 2 * HALF,
            )
        )
    return found


def _text_against_table(printed: Mapping[str, Any]) -> list[Finding]:
    found = []
    for entry in printed.get("averages_in_text", ()):
        average, _, subject = _row(printed, entry)
        value = float(entry["value"])
        found.append(
            Finding(
                subject,
                f"average {value:.2f} in the text",
                f"{average:.2f} in the table",
                math.isclose(value, average, abs_tol=1e-9),
            )
        )
    return found


def _lowest(printed: Mapping[str, Any]) -> list[Finding]:
    found = []
    for entry in printed.get("lowest_in_text", ()):
        column = _COLUMNS[entry["measure"]][0]
        least = min(printed["table"], key=lambda model: float(printed["table"][model][column]))
        value = float(printed["table"][least][column])
        found.append(
            Finding(
                f"{entry['model']} {entry['measure']}",
                "said to have the lowest average",
                f"the table's lowest is {least} with {value:.2f}",
                least == entry["model"],
            )
        )
    return found


def _conditional(printed: Mapping[str, Any]) -> list[Finding]:
    averages = [float(row[2]) for row in printed["table"].values()]
    below = sum(average < 3 for average in averages)
    return [
        Finding(
            "H-Score",
            "described as severity once hallucination (a level from 3 on) occurs",
            f"{below} of {len(averages)} averages lie below 3, so all responses were averaged",
            below == 0,
        )
    ]


def _stages(printed: Mapping[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    stage2, stage3 = printed.get("stage2"), printed.get("stage3")
    if stage2:
        passes = {name: int(n) for name, n in stage2["passes"].items()}
        total, images = sum(passes.values()), int(stage2["images"]) * len(passes)
        percent = round(100 * total / images, 1)
        found.append(
            Finding(
                "stage 2",
                f"{stage2['total']} images, {stage2['percent']}%",
                f"the classes sum to {total} of {images}, {percent}%",
                total == stage2["total"] and percent == stage2["percent"],
            )
        )
        above = sum(100 * n / int(stage2["images"]) > stage2["above"] for n in passes.values())
        found.append(
            Finding(
                "stage 2",
                f"{stage2['categories_above']} categories above {stage2['above']}%",
                f"{above} are",
                above == stage2["categories_above"],
            )
        )
        if stage3:
            # The recall of a class is a whole number of its images: 94.0 % of 83 is 78.
            right = sum(
                round(n * float(stage3["recall"].get(name, 100.0)) / 100) for name, n in passes.items()
            )
            micro = round(100 * right / total, 1)
            found.append(
                Finding(
                    "stage 3",
                    f"overall recall {stage3['overall']}%",
                    f"the classes' recalls give {right} of {total}, {micro}%",
                    micro == stage3["overall"],
                )
            )
    return found
