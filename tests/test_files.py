"""Files from elsewhere: marks, halves of characters, keys given twice, results over inputs."""

import json
from pathlib import Path

import pytest

from probekit.errors import InputError
from probekit.files import distinct, inside, read_json, read_jsonl, write_json


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    lines, document = tmp_path / "a.jsonl", tmp_path / "a.json"
    lines.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}\n{"a": 2}\n')
    document.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}')
    assert [value for _, value in read_jsonl(lines, ("a",))] == [{"a": 1}, {"a": 2}]
    assert read_json(document) == {"a": 1}


def test_half_a_character_is_refused_with_its_line_and_a_whole_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "\\ud83d\\ude00"}\n{"text": "a \\ud83d dog"}\n')
    found = read_jsonl(path)
    assert next(found) == (1, {"text": "\N{GRINNING FACE}"})
    with pytest.raises(InputError, match="d83d is half of a character") as caught:
        next(found)
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize("text", ['{"1": ["cat"], "2": [], "1": ["dog"]}', '{"a": [{"1": 0, "1": 0}]}'])
def test_a_key_given_twice_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "objects.json"
    path.write_text(text)
    assert json.loads(text)
    with pytest.raises(InputError, match="'1' comes twice"):
        read_json(path)


def test_a_result_never_overwrites_its_input(tmp_path: Path) -> None:
    path, link = tmp_path / "in.jsonl", tmp_path / "link.jsonl"
    path.write_text("{}\n")
    link.symlink_to(path)
    distinct(tmp_path / "out.jsonl", path, None)
    with pytest.raises(InputError, match="overwrite"):
        distinct(link, None, path)


def test_numbers_and_nesting_beyond_what_is_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n{"a": ' + "1" * 5000 + "}\n")
    with pytest.raises(InputError, match=r"lines\.jsonl, line 2: not JSON"):
        list(read_jsonl(path))
    for text in ('{"a": ' + "1" * 5000 + "}", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match=r"lines\.jsonl, line \?: not JSON"):
            read_json(path)


def test_a_path_with_a_zero_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 7: path 'a\\x00\.png' holds a zero character"):
        inside(tmp_path, "a\0.png", where="line 7")


def test_nothing_is_written_in_place_of_a_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, Path("/")):
        with pytest.raises(InputError, match="is a folder, a file is to be written"):
            write_json(folder, {})
    assert list(tmp_path.iterdir()) == []
