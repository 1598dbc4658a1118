"""Files from elsewhere: marks, halves of characters, keys given twice, results over inputs."""

import json
from pathlib import Path

import pytest

from probekit.errors import InputError
from probekit.files import JsonlAppender, distinct, inside, read_json, read_jsonl, size_text, write_json
from probekit.pipeline.ghost_plan import GhostPlan


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


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (3_400, "3.4 KB"),
        (999_949, "999.9 KB"),
        (999_950, "1.0 MB"),
        (10**6, "1.0 MB"),
        (2_560_000, "2.6 MB"),
        (10**9, "1.0 GB"),
        (7 * 10**12, "7.0 TB"),
        (7 * 10**15, "7,000.0 TB"),
    ],
)
def test_sizes_come_in_the_unit_that_fits(count: int, text: str) -> None:
    assert size_text(count) == text


def test_what_does_not_fit_the_disk_is_not_said_to_need_nothing() -> None:
    plan = GhostPlan(1, 5, 0, 40, 400, 1, total_bytes=2_500_000, free_bytes=12_000)
    assert "1 shards, 2.5 MB of 12.0 KB free" in plan.line()
    with pytest.raises(InputError, match=r"need 2\.5 MB, 12\.0 KB are free"):
        plan.refuse_what_does_not_fit()


def test_two_writers_of_one_file_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "answers.jsonl"
    one, other = JsonlAppender(path, alone=True), JsonlAppender(path, alone=True)
    one.append([{"id": 1}])
    with pytest.raises(InputError, match="another process is writing"):
        other.append([{"id": 1}])
    one.close()
    with pytest.raises(InputError, match="another process is writing"):
        other.append([{"id": 1}])  # it did not read what was written meanwhile
    with JsonlAppender(path, alone=True) as again:
        assert again.done == [{"id": 1}]
        again.append([{"id": 2}])
    assert [value for _, value in read_jsonl(path)] == [{"id": 1}, {"id": 2}]
