"""Caption files, ids, and the trimming of unfinished sentences."""

from pathlib import Path

import pytest

from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.mentions import Vocabulary
from probekit.mentions.captions import Caption, caption_rows, complete_sentences, read_captions


def read(tmp_path: Path, *lines: dict[str, object]) -> list[Caption]:
    write_jsonl(tmp_path / "captions.jsonl", lines)
    return list(read_captions(tmp_path / "captions.jsonl"))


def test_ids_and_texts(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"caption": "a dog"},
        {"text": "a cat", "example_id": "e", "image_id": 7},
        {"caption": "a cow", "id": "x"},
        {"caption": "one", "image_id": 139},
        {"caption": "two", "image_id": 139},
        {"caption": "three", "image": "000.png"},
    )
    assert [one.caption_id for one in found] == ["1", "e", "x", "139", "139-2", "000.png"]
    assert [one.image_id for one in found] == [None, 7, None, 139, 139, "000.png"]
    assert [one.line for one in found] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"image_id": 1}, "line 2: no `caption` or `text`"),
        ({"caption": None}, "line 2: no `caption` or `text`"),
        ({"caption": "x", "id": "a"}, "line 2: caption 'a' appears twice"),
        ({"caption": "x", "image_id": [1]}, "line 2: `image_id`"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"caption": "a dog", "id": "a"}, line)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A dog runs. A cat sits on the", "A dog runs."),
        ("A dog runs. A cat sits.", "A dog runs. A cat sits."),
        ('He said "stop." Then a', 'He said "stop."'),
        ("It is 3.5 m long", ""),
        ("Really?! Yes", "Really?!"),
        ("A dog runs.\n\nA cat", "A dog runs."),
        ("A dog runs. \n", "A dog runs. \n"),
        ("犬がいる。猫が", "犬がいる。"),
        ("", ""),
    ],
)
def test_unfinished_last_sentence_is_trimmed(text: str, left: str) -> None:
    assert complete_sentences(Caption("1", None, text, None, 1)).text == left


def test_a_caption_the_model_finished_is_left_as_it_is() -> None:
    caption = Caption("1", None, "A dog on a beach", True, 1)
    assert complete_sentences(caption) is caption
    assert complete_sentences(Caption("1", None, "A dog on a beach", False, 1)).text == ""


def test_rows_carry_exactly_the_agreed_fields() -> None:
    row = {"caption": "A dog.", "start": 2, "end": 5, "surface": "dog", "category": "dog"}
    with_image = Caption("c", 7, "A dog.", None, 1)
    assert list(caption_rows(with_image, Vocabulary.coco())) == [{"caption_id": "c", "image_id": 7} | row]
    without = Caption("c", None, "A dog.", None, 1)
    assert list(caption_rows(without, Vocabulary.coco())) == [{"caption_id": "c"} | row]
