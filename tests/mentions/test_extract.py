"""Rows of a run from its generations."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.mentions import Vocabulary
from probekit.mentions.extract import CUT, NOT_ALIGNED, mention_rows

PIECES = ["", "A", " hot", " dog", " and", " a", " mouse", " pad", " d", "og", ".", " car", "\n"]
COCO = Vocabulary.coco()


def decode(ids: Sequence[int]) -> str:
    return "".join(PIECES[one] for one in ids)


def generation(ids: list[int], **other: Any) -> dict[str, Any]:
    base = {"example_id": "e0", "image_id": "i0", "token_ids": ids, "text": decode(ids), "finished": True}
    return base | other


def run(
    tmp_path: Path, *lines: dict[str, Any], aligned: bool = True, **options: Any
) -> tuple[list[Any], list[Any]]:
    write_jsonl(tmp_path / "generations.jsonl", lines)
    rows, dropped = tmp_path / "rows.jsonl", tmp_path / "dropped.jsonl"
    mention_rows(tmp_path / "generations.jsonl", COCO, decode if aligned else None, rows, dropped, **options)
    return [value for _, value in read_jsonl(rows)], [value for _, value in read_jsonl(dropped)]


def test_every_field_of_a_row(tmp_path: Path) -> None:
    rows, dropped = run(tmp_path, generation([1, 2, 3, 4, 5, 8, 9, 10, 0]))
    assert rows == [
        {
            "example_id": "e0",
            "index": 0,
            "image_id": "i0",
            "category": "hot dog",
            "surface": "hot dog",
            "start": 2,
            "end": 9,
            "token": 1,
            "token_end": 2,
            "tokens": 8,
            "occurrences": 1,
        },
        {
            "example_id": "e0",
            "index": 1,
            "image_id": "i0",
            "category": "dog",
            "surface": "dog",
            "start": 16,
            "end": 19,
            "token": 5,
            "token_end": 6,
            "tokens": 8,
            "occurrences": 1,
        },
    ]
    assert dropped == []


def test_length_counts_a_trailing_line_break_but_no_end_marker(tmp_path: Path) -> None:
    ids = [1, 3, 10, 12, 0, 0]
    text = decode(ids).strip()
    rows, _ = run(tmp_path, generation(ids, text=text), end_ids=(0,))
    assert rows[0]["tokens"] == 4
    rows, _ = run(tmp_path, generation(ids, text=text))
    assert rows[0]["tokens"] == 4
    rows, _ = run(tmp_path, generation([1, 3, 10], finished=False), end_ids=(0,))
    assert rows[0]["tokens"] == 3


def test_occurrences_count_the_category(tmp_path: Path) -> None:
    rows, _ = run(tmp_path, generation([1, 3, 4, 5, 3, 4, 5, 11, 10]))
    assert [(row["category"], row["occurrences"], row["index"]) for row in rows] == [
        ("dog", 2, 0),
        ("dog", 2, 1),
        ("car", 1, 2),
    ]


def test_a_word_the_limit_may_have_cut_is_dropped_with_the_reason(tmp_path: Path) -> None:
    rows, dropped = run(tmp_path, generation([1, 3, 4, 5, 11], finished=False))
    assert [row["category"] for row in rows] == ["dog"]
    assert [(row["category"], row["reason"], row["index"]) for row in dropped] == [("car", CUT, 1)]
    rows, dropped = run(tmp_path, generation([1, 3, 4, 5, 11, 10], finished=False))
    assert len(rows) == 2
    assert dropped == []


def test_another_sense_is_kept_among_the_drops(tmp_path: Path) -> None:
    rows, dropped = run(tmp_path, generation([1, 6, 7, 4, 5, 6, 10]))
    assert [row["start"] for row in rows] == [18]
    assert [(row["reason"], row["index"]) for row in dropped] == [
        ("another sense or a compound: mouse pad", None)
    ]


def test_text_that_is_not_its_tokens_is_dropped_not_misaligned(tmp_path: Path) -> None:
    rows, dropped = run(tmp_path, generation([1, 3], text="The dog sleeps"))
    assert rows == []
    assert [row["reason"] for row in dropped] == [NOT_ALIGNED]


def test_stripped_text_shifts_characters_not_tokens(tmp_path: Path) -> None:
    rows, _ = run(tmp_path, generation([12, 12, 3, 10], text="dog."))
    assert (rows[0]["start"], rows[0]["token"]) == (0, 2)


def test_text_only(tmp_path: Path) -> None:
    rows, _ = run(tmp_path, {"example_id": "e", "image_id": "i", "text": "a dog"}, aligned=False)
    assert (rows[0]["token"], rows[0]["token_end"], rows[0]["tokens"]) == (None, None, None)


def test_same_bytes_twice(tmp_path: Path) -> None:
    run(tmp_path, generation([1, 3, 10]))
    before = (tmp_path / "rows.jsonl").read_bytes()
    run(tmp_path, generation([1, 3, 10]))
    assert (tmp_path / "rows.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"token_ids": []}, "a text without tokens"),
        ({"token_ids": None}, "no `token_ids`"),
        ({"token_ids": [1, "3"]}, "no `token_ids`"),
        ({"text": 3}, "`text` is a string"),
    ],
)
def test_bad_generation_names_file_line_and_example(
    tmp_path: Path, broken: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        run(tmp_path, generation([1, 3]), generation([1, 3], **({"example_id": "e1"} | broken)))
    assert "generations.jsonl, line 2, example 'e1'" in str(caught.value)
    assert not (tmp_path / "rows.jsonl").exists()


def test_an_example_listed_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        run(tmp_path, generation([1, 3]), generation([1, 3]))


def test_a_line_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "generations.jsonl"
    path.write_text(json.dumps(generation([1, 3])) + "\n{oops\n")
    with pytest.raises(InputError, match="line 2"):
        mention_rows(path, COCO, decode, tmp_path / "rows.jsonl", tmp_path / "dropped.jsonl")
