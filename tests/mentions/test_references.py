"""Presence from JSON Lines, COCO instances and id-to-objects files."""

import json
from pathlib import Path
from typing import Any

import pytest

from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.mentions import Vocabulary
from probekit.mentions.references import image_id, presence

COCO = Vocabulary.coco()


def write(tmp_path: Path, name: str, value: object) -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def instances(**change: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "images": [
            {"id": 139, "file_name": "000000000139.jpg"},
            {"id": 285, "file_name": "000000000285.jpg"},
            {"id": 4108, "file_name": "COCO_val2014_000000004108.jpg"},
        ],
        "annotations": [
            {"id": 1, "image_id": 139, "category_id": 62, "iscrowd": 1},
            {"id": 2, "image_id": 139, "category_id": 62},
            {"id": 3, "image_id": 139, "category_id": 72},
            {"id": 4, "image_id": 4108, "category_id": 55},
        ],
        "categories": [{"id": 62, "name": "chair"}, {"id": 72, "name": "tv"}, {"id": 55, "name": "orange"}],
    }
    return value | change


def test_json_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "r.jsonl",
        '{"image": "000000.png", "objects": ["bench", "Sofa"]}\n{"image": "1", "objects": []}',
    )
    references = presence(path, COCO)
    assert references.get("000000") == {"bench", "couch"}
    assert references.get("000000.png") == {"bench", "couch"}
    assert references.get("1") == frozenset()
    assert references.get("000002") is None
    assert references.present("000000", "bench") is True
    assert references.present("1", "bench") is False
    assert references.present("other", "bench") is None


def test_json_lines_under_another_suffix(tmp_path: Path) -> None:
    text = '{"image": "a", "objects": ["dog"]}\n{"image": "b", "objects": ["cat"]}\n'
    assert presence(write(tmp_path, "two.json", text), COCO).get("b") == {"cat"}
    assert presence(write(tmp_path, "one.json", text.splitlines()[0]), COCO).get("a") == {"dog"}


@pytest.mark.parametrize(
    "name", ["COCO_val2014_000000004108.jpg", "COCO_val2014_000000004108", "000000004108", 4108]
)
def test_coco_images_by_any_of_their_names(tmp_path: Path, name: object) -> None:
    references = presence(write(tmp_path, "instances.json", instances()), COCO)
    assert references.get(name) == frozenset()
    assert references.outside == {"orange": 1}


def test_coco_instances(tmp_path: Path) -> None:
    references = presence(write(tmp_path, "instances.json", instances()), COCO)
    assert references.get("000000000139") == {"chair", "tv"}
    assert references.get(139) == {"chair", "tv"}
    assert references.get("000000000285") == frozenset()
    assert references.get("000000000286") is None
    assert len(references) == 3


def test_padded_names_that_differ_stay_apart(tmp_path: Path) -> None:
    text = '{"image": "1.png", "objects": ["dog"]}\n{"image": "01.png", "objects": ["cat"]}'
    references = presence(write(tmp_path, "r.jsonl", text), COCO)
    assert references.get("1") == {"dog"}
    assert references.get("01") == {"cat"}
    assert references.get("001") is None


def test_id_to_objects(tmp_path: Path) -> None:
    references = presence(
        write(tmp_path, "objects.json", {"757": ["elephant"], "1171": []}), Vocabulary.named("chair")
    )
    assert references.get(757) == {"elephant"}
    assert references.get(1171) == frozenset()


def test_unknown_object_names_file_line_and_the_close_one(tmp_path: Path) -> None:
    path = write(
        tmp_path, "r.jsonl", '{"image": "a", "objects": ["dog"]}\n{"image": "b", "objects": ["umbrela"]}'
    )
    with pytest.raises(InputError, match=r"r\.jsonl, line 2: object 'umbrela'.*\n.*'umbrella'"):
        presence(path, COCO)


def test_unknown_coco_category_names_the_image(tmp_path: Path) -> None:
    value = instances(
        categories=[{"id": 62, "name": "chiar"}, {"id": 72, "name": "tv"}, {"id": 55, "name": "cup"}]
    )
    with pytest.raises(InputError, match=r"image 139: object 'chiar'.*\n.*'chair'"):
        presence(write(tmp_path, "instances.json", value), COCO)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            '{"image": "a", "objects": ["dog"]}\n{"image": "a.jpg", "objects": []}',
            "line 2: image 'a' is listed twice",
        ),
        ('{"image": "a", "objects": "dog"}\n{"image": "b", "objects": []}', "line 1: `objects` is a list"),
        ('{"image": "a", "objects": [3]}\n{"image": "b", "objects": []}', "line 1: an object is a name"),
        ('{"image": "a"}\n{"image": "b", "objects": []}', "line 1: missing 'objects'"),
    ],
)
def test_bad_lines(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        presence(write(tmp_path, "r.jsonl", value), COCO)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"annotations": [{"id": 9, "image_id": 1, "category_id": 62}]},
            r"annotation 0 \(id 9\): no image has the id 1",
        ),
        ({"annotations": [{"id": 9, "image_id": 139, "category_id": 1}]}, "no category has the id 1"),
        ({"annotations": [3]}, "not COCO instances"),
        ({"categories": None}, "not COCO instances"),
    ],
)
def test_broken_instances(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        presence(write(tmp_path, "instances.json", instances(**change)), COCO)


def test_missing_file(tmp_path: Path) -> None:
    for name in ("none.json", "none.jsonl"):
        with pytest.raises(InputError, match="no such file"):
            presence(tmp_path / name, COCO)


def test_image_id_takes_only_image_suffixes() -> None:
    assert image_id("folder/photo.v2.JPG") == "photo.v2"
    assert image_id("photo.v2") == "photo.v2"
    assert image_id(7) == "7"


def test_image_id_does_as_well_as_image(tmp_path: Path) -> None:
    words = Vocabulary.named("name-bench")
    lines = [{"image_id": 4108, "objects": ["dog"]}, {"image": "kitchen.jpg", "objects": ["oven"]}]
    write_jsonl(tmp_path / "r.jsonl", lines)
    found = presence(tmp_path / "r.jsonl", words)
    assert found.present("COCO_val2014_000000004108.jpg", "dog") is True
    assert found.present("COCO_val2014_000000004108", "oven") is False
    assert found.present("kitchen", "oven") is True
    write_jsonl(tmp_path / "r.jsonl", [{"picture": "a.jpg", "objects": []}])
    with pytest.raises(InputError, match=r"line 1: missing 'image'\n.*Found picture, objects"):
        presence(tmp_path / "r.jsonl", words)
