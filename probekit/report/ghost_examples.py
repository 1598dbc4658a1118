"""Example pictures of a Ghost run: the question at every tone, the answer, the verdict, the evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from probekit.report.markup import Html, tag
from probekit.report.pictures import Album

CARDS = 12
"""Pictures in one page."""
KINDS = ("flips", "recovers", "hallucinates throughout", "holds")
"""How a picture's verdicts go over tone, the more telling first."""
SHOWN = {"image_mass": "image mass", "vns": "VNS", "entropy": "entropy"}


def kind_of(verdicts: Sequence[bool | None]) -> str:
    """How verdicts go from the first tone to the last."""
    if verdicts[0] is False and any(verdicts[1:]):
        return "flips"
    if any(verdicts):
        return "hallucinates throughout" if all(verdicts) else "recovers"
    return "holds"


def pick(lines: Sequence[Mapping[str, Any]], cards: int = CARDS) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Pictures of every kind in turn, so that none crowds out the others; the same for the same lines."""
    by_image: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_image.setdefault(str(line["image_id"]), []).append(line)
    piles: dict[str, list[list[Mapping[str, Any]]]] = {kind: [] for kind in KINDS}
    for held in by_image.values():
        ordered = sorted(held, key=lambda line: int(line["tone"]))
        piles[kind_of([line["hallucinated"] for line in ordered])].append(ordered)
    # a spread over categories within each kind
    for kind, pile in piles.items():
        piles[kind] = _in_turn(pile)
    found: list[tuple[str, list[Mapping[str, Any]]]] = []
    while len(found) < cards and any(piles.values()):
        for kind in KINDS:
            if piles[kind] and len(found) < cards:
                found.append((kind, piles[kind].pop(0)))
    return sorted(found, key=lambda pair: KINDS.index(pair[0]))


def examples(lines: Sequence[Mapping[str, Any]], album: Album) -> Html:
    """Cards of pictures with their five answers; every text of a model is escaped.

    Args:
        lines: an answer each, as ``ghost.jsonl`` has them.
        album: where the pictures come from.
    """
    cards = [_card(kind, held, album) for kind, held in pick(lines)]
    return tag("div", *cards, class_="cards wide")


def _card(kind: str, held: Sequence[Mapping[str, Any]], album: Album) -> Html:
    first = held[0]
    small = album.thumbnail(str(first["image"]))
    if small.uri:
        alt = f"{first['category']} without {first['target']}"
        picture = tag("img", src=small.uri, width=small.width, height=small.height, alt=alt,
                      class_="pixel" if small.width <= 96 else None)  # fmt: skip
    else:
        picture = tag("p", small.reason, class_="nopicture")
    head = tag("tr", *(tag("th", name, scope="col") for name in ("T", "asked", "answered", "verdict")),
               *(tag("th", name, scope="col") for name in SHOWN.values()))  # fmt: skip
    rows = []
    for line in held:
        said = {True: "hallucinated", False: "not", None: "no verdict"}[line["hallucinated"]]
        numbers = [tag("td", _number(line[name]), class_="num") for name in SHOWN]
        rows.append(
            tag(
                "tr",
                tag("th", str(line["tone"]), scope="row"),
                tag("td", str(line["prompt"])),
                tag("td", str(line["text"]) or "(nothing)"),
                tag("td", said, tag("span", str(line["rule"]), class_="ci")),
                *numbers,
            )
        )
    grid = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag(
        "article",
        tag("div", picture, class_="picture"),
        tag("p", tag("strong", kind), f": {first['category']}, asked for {first['target']}",
            class_="caption"),
        tag("div", grid, class_="box", tabindex="0", role="region", aria_label="Answers by tone"),
        tag("p", str(first["image"]), class_="source"),
        class_="card",
    )  # fmt: skip


def _number(value: Any) -> str:
    return "n/a" if value is None or math.isnan(value) else f"{value:.3f}"


def _in_turn(pile: list[list[Mapping[str, Any]]]) -> list[list[Mapping[str, Any]]]:
    """The same pictures, one of each category after another."""
    by_category: dict[str, list[list[Mapping[str, Any]]]] = {}
    for held in pile:
        by_category.setdefault(str(held[0]["category"]), []).append(held)
    found: list[list[Mapping[str, Any]]] = []
    while any(by_category.values()):
        found += [group.pop(0) for group in by_category.values() if group]
    return found
