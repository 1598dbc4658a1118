"""Does a capture differ between two groups of rows, and in which layers and heads?

Question: by how much do rows of one group differ from rows of another in any capture of a store, after
correction for looking at every layer and head?
Input: a store, and a labels file (groups are its classes and subtypes) or JSON Lines of example_id,
index and group.
Artefact: OUT/effects.json, and OUT/effects.html with the map.

    python -m analysis.effects runs/demo/store --labels runs/demo/labels/labels.jsonl \\
        --capture "attention_mass[read_at=query,window=4]" --select group=image \\
        --first concrete --second hallucinated --out runs/effects
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from probekit.captures import parse_capture
from probekit.errors import InputError, run_telling
from probekit.evaluation.capture_grids import GridEffects, capture_grid, compare_groups
from probekit.evaluation.effect_maps import benjamini_hochberg, holm
from probekit.evaluation.pope_record import effect_record
from probekit.files import read_jsonl, write_json
from probekit.labels import LabelSet
from probekit.report.figures import Frame, heat_figure
from probekit.report.formats import p_value
from probekit.report.intervals import resampled
from probekit.report.markup import join, tag
from probekit.report.page import Section, write_page
from probekit.rows import RowKey
from probekit.store import Store


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--labels", type=Path, help="labels.jsonl; groups are classes and subtypes")
    source.add_argument("--groups", type=Path, help="JSON Lines of example_id, index and group")
    parser.add_argument("--capture", required=True, help="key, as `probekit ls STORE` shows it")
    parser.add_argument("--select", action="append", default=[], help="AXIS=PLACE, such as group=image")
    parser.add_argument("--first", required=True)
    parser.add_argument("--second", required=True)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/effects"))
    given = parser.parse_args(arguments)
    groups = _classes(given.labels, given.first, given.second) if given.labels else _groups(given.groups)
    grid = capture_grid(Store.open(given.store), parse_capture(given.capture), _selection(given.select))
    found = compare_groups(grid, groups, given.first, given.second, draws=given.draws)
    p_rank = found.cells.p_rank
    adjusted = {"holm": holm(p_rank), "benjamini_hochberg": benjamini_hochberg(p_rank)}
    write_json(
        given.out / "effects.json",
        {
            "capture": found.grid.capture,
            "axes": found.grid.axes,
            "select": given.select,
            "first": found.first,
            "second": found.second,
            "unlabelled": found.unlabelled,
            "tests": found.cells.tests,
            "mean": effect_record(found.mean),
            "d_pooled": found.cells.d_pooled.tolist(),
            "auc": found.cells.auc.tolist(),
            "p_rank": p_rank.tolist(),
            **{f"p_rank_{name}": p.tolist() for name, p in adjusted.items()},
        },
    )
    source = {
        "command": "python -m analysis.effects",
        "store": str(given.store),
        "labels" if given.labels else "groups": str(given.labels or given.groups),
        "capture": found.grid.capture,
        "selected": ", ".join(given.select) or "everything",
        "groups compared": f"{found.first} minus {found.second}",
    }
    significant = {name: int((p < 0.05).sum()) for name, p in adjusted.items()}
    _page(found, significant, source, given.out / "effects.html")
    print(
        f"d {found.mean.d_pooled}, AUC {found.mean.auc}, Mann-Whitney p, two-sided, rows taken for "
        f"independent: {p_value(found.mean.rank.p)}"
    )
    print(f"{found.cells.tests} cells tested: {given.out / 'effects.html'}, {given.out / 'effects.json'}")


def _classes(path: Path, first: str, second: str) -> dict[RowKey, str]:
    """The class of each row, or its subtype where one of the two groups is a subtype."""
    groups = {}
    for row in LabelSet.load(path):
        subtype = str(row.subtype)
        groups[row.key] = subtype if subtype in (first, second) else str(row.label)
    return groups


def _groups(path: Path) -> dict[RowKey, str]:
    return {
        RowKey(str(row["example_id"]), row.get("index")): str(row["group"])
        for _, row in read_jsonl(path, required=("example_id", "group"))
    }


def _selection(pairs: Sequence[str]) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for pair in pairs:
        axis, mark, place = pair.partition("=")
        if not mark:
            raise InputError(f"--select {pair!r} is not AXIS=PLACE")
        found[axis] = int(place) if place.lstrip("-").isdigit() else place
    return found


def _page(found: GridEffects, significant: dict[str, int], source: dict[str, str], path: Path) -> None:
    rows, columns = found.grid.axes
    frame = Frame(
        "map",
        f"{found.first} minus {found.second}",
        columns,
        rows,
        caption=f"Cohen's d, pooled, of `{found.grid.capture}`, selected: {source['selected']}.",
    )
    read = tag(
        "p",
        f"Read from {source['store']}: {found.grid.capture}, selected: {source['selected']}. Groups are "
        f"those of {source.get('labels', source.get('groups'))}.",
    )
    words = tag(
        "p",
        f"{found.mean.first.n} rows of {found.first} against {found.mean.second.n} of {found.second}; "
        f"{found.unlabelled} rows in neither. Mean over cells: d {found.mean.d_pooled}, "
        f"AUC {found.mean.auc}. Of {found.cells.tests} cells, {significant['holm']} differ at 0.05 after "
        f"Holm's correction, {significant['benjamini_hochberg']} after Benjamini and Hochberg's.",
    )
    caution = tag(
        "p",
        "These p are two-sided Mann-Whitney by the normal approximation, and take rows for independent. "
        "Rows of one picture are not: p is too small where a picture has several. The intervals of d and "
        f"AUC resample pictures ({found.mean.d_pooled.groups} of them), and are to be trusted first. "
        f"{resampled()}",
        class_="warn",
    )
    section = Section(
        "Effect sizes",
        join(read, words, caution),
        figures=(heat_figure(frame, found.cells.d_pooled, "d", centre=0.0),),
    )
    write_page(path, "Effect sizes of a capture", (section,), source)


if __name__ == "__main__":
    run_telling(main)
