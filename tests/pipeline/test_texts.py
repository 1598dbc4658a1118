"""Captions by others are looked at before a model is loaded, and find their pictures by name or number."""

from pathlib import Path

import pytest
from PIL import Image

from probekit import jobs
from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.pipeline.run import run
from probekit.pipeline.texts import adopted, read_captions

FILES = ("COCO_val2014_000000004108.jpg", "000000000139.jpg", "kitchen.png")


@pytest.fixture
def images(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for name in FILES:
        Image.new("RGB", (8, 8)).save(tmp_path / "images" / name)
    return tmp_path / "images"


@pytest.mark.parametrize("field", ["image", "image_id"])
@pytest.mark.parametrize(
    ("given", "file"),
    [
        (4108, FILES[0]),
        ("4108", FILES[0]),
        ("COCO_val2014_000000004108", FILES[0]),
        ("000000004108.jpg", FILES[0]),
        (139, FILES[1]),
        ("kitchen", FILES[2]),
        ("kitchen.png", FILES[2]),
    ],
)
def test_a_picture_is_found_by_name_and_by_number(
    images: Path, tmp_path: Path, field: str, given: object, file: str
) -> None:
    write_jsonl(tmp_path / "c.jsonl", [{field: given, "caption": "A dog."}])
    (found,) = read_captions(tmp_path / "c.jsonl", images)
    assert (found.image, found.name, found.text) == (file, Path(file).stem, "A dog.")


@pytest.mark.parametrize(
    ("said", "finished"), [({}, True), ({"finished": True}, True), ({"finished": None}, True),
                           ({"finished": False}, False)],
)  # fmt: skip
def test_a_caption_that_was_cut_stays_cut(
    images: Path, tmp_path: Path, said: dict[str, object], finished: bool
) -> None:
    class Words:
        def continuation(self, question: str, text: str) -> tuple[int, ...]:
            return tuple(range(len(text.split())))

        def decode(self, ids: tuple[int, ...]) -> str:
            return " ".join(["word"] * len(ids))

    write_jsonl(tmp_path / "c.jsonl", [{"image": "kitchen.png", "caption": "A dog and a", **said}])
    captions = read_captions(tmp_path / "c.jsonl", images)
    (line,) = adopted(Words(), "What?", captions)  # type: ignore[arg-type]
    assert (line["image_id"], line["finished"]) == ("kitchen", finished)


def test_a_number_of_two_pictures_finds_neither(images: Path, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(images / "COCO_train2014_000000004108.jpg")
    write_jsonl(tmp_path / "c.jsonl", [{"image_id": 4108, "caption": "A dog."}])
    with pytest.raises(InputError, match="not there: 4108"):
        read_captions(tmp_path / "c.jsonl", images)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"caption": "A dog."}, ["line 2", "'image'", "'image_id'"]),
        ({"image": True, "caption": "A dog."}, ["line 2", "'image'"]),
        ({"image": "kitchen.png"}, ["line 2", "'caption' or 'text'"]),
        ({"image": "kitchen.png", "caption": " "}, ["line 2", "'caption' or 'text'"]),
        ({"image": "139", "caption": "A cat."}, ["line 2", "comes twice"]),
        ({"image_id": 7, "caption": "A cat."}, ["line 2", "1 of 2 captions", "7", FILES[1]]),
        ({"image": "x" * 300, "caption": "A cat."}, ["c.jsonl, line 2", "xxx...", "too long"]),
        ({"image": "../c.jsonl", "caption": "A cat."}, ["line 2", "leaves the folder"]),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_loaded(
    images: Path, tmp_path: Path, line: dict[str, object], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probekit.families.load", lambda *names, **options: pytest.fail("model loaded"))
    write_jsonl(tmp_path / "c.jsonl", [{"image_id": 139, "caption": "A dog."}, line])
    write_jsonl(tmp_path / "r.jsonl", [{"image_id": 139, "objects": ["dog"]}])
    job = jobs.make(
        jobs.RunJob, model={"name": "organism"}, images=images, references=tmp_path / "r.jsonl",
        texts=tmp_path / "c.jsonl", out=tmp_path / "run",
    )  # fmt: skip
    with pytest.raises(InputError) as error:
        run(job)
    assert all(word in str(error.value) for word in words), error.value
    assert not (tmp_path / "run").exists()


def test_references_that_fit_no_captioned_picture_are_shown(images: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "c.jsonl", [{"image_id": 139, "caption": "A dog."}])
    write_jsonl(tmp_path / "r.jsonl", [{"image": "street", "objects": ["dog"]}])
    job = jobs.make(
        jobs.RunJob, model={"name": "organism"}, images=images, references=tmp_path / "r.jsonl",
        texts=tmp_path / "c.jsonl", out=tmp_path / "run",
    )  # fmt: skip
    with pytest.raises(InputError, match="none of the 1 captioned pictures") as error:
        run(job)
    assert "000000000139" in str(error.value)
    assert "street" in str(error.value)
