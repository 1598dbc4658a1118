"""Rows, texts and labels that do not belong together."""

from pathlib import Path
from typing import Any

import pytest

from probekit.errors import InputError
from probekit.files import write_json, write_jsonl
from probekit.labels import LabelSet
from probekit.mentions import Vocabulary
from probekit.pipeline.label import label

TEXT = "A dog beside a cat."


def run(folder: Path, usage: list[dict[str, Any]] | str = "rules", **change: Any) -> LabelSet:
    rows = [
        {"example_id": "a", "image_id": "a", "index": 0, "start": 2, "end": 5, "surface": "dog",
         "category": "dog"},
        {"example_id": "a", "image_id": "a", "index": 1, "start": 15, "end": 18, "surface": "cat",
         "category": "cat"},
    ]  # fmt: skip
    rows[1] |= change
    write_jsonl(folder / "rows.jsonl", rows)
    line = {"example_id": "a", "image_id": "a", "image": "a.png", "prompt": "?", "token_ids": [1]}
    write_jsonl(folder / "generations.jsonl", [{**line, "text": TEXT}])
    write_json(folder / "objects.json", {"a": ["dog"]})
    if not isinstance(usage, str):
        write_jsonl(folder / "usage.jsonl", usage)
        usage = str(folder / "usage.jsonl")
    return label(
        folder / "generations.jsonl",
        folder / "rows.jsonl",
        folder / "objects.json",
        Vocabulary.of("name-bench"),
        usage,
        folder / "labels.jsonl",
    )


def given(**change: Any) -> list[dict[str, Any]]:
    first = {"example_id": "a", "index": 0, "usage": "existential", "surface": "dog"}
    return [first, {"example_id": "a", "index": 1, "usage": "hedged", "surface": "cat"} | change]


def test_sound_rows_and_labels_are_taken(tmp_path: Path) -> None:
    assert len(run(tmp_path)) == 2
    assert len(run(tmp_path, given())) == 2


def test_a_row_whose_span_holds_another_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"says 'cat', its span holds ' a '.*line 2|line 2.*says 'cat'"):
        run(tmp_path, start=12, end=15)


def test_a_label_given_to_another_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is 'cat', its label was given to 'couch'"):
        run(tmp_path, given(surface="couch"))


def test_a_row_labelled_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="labelled twice"):
        run(tmp_path, given(index=0))


def test_labels_do_not_overwrite_the_rows(tmp_path: Path) -> None:
    run(tmp_path)
    with pytest.raises(InputError, match="overwrite"):
        label(
            tmp_path / "generations.jsonl",
            tmp_path / "rows.jsonl",
            tmp_path / "objects.json",
            Vocabulary.of("name-bench"),
            "rules",
            tmp_path / "rows.jsonl",
        )
