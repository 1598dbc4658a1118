"""Questions answered by the embedded model: whole, resumed, and refused."""

import json
from pathlib import Path

import pytest

from probekit.benchmarks.ghost import write_questions
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.benchmarks.ghost_world import PROMPTS, make_world_ghost
from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.jobs import ModelSpec, make
from probekit.organism import path as organism_path
from probekit.pipeline.answer import answer, by_picture, read_questions

WEIGHTS = organism_path()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answer")
    manifest = make_world_ghost(folder / "set", 1)
    write_questions(folder / "questions.jsonl", manifest, load_prompts(PROMPTS))
    return folder


def ask(folder: Path, name: str, batch: int = 16) -> Path:
    spec = make(ModelSpec, name=str(WEIGHTS), device="cpu", dtype="float32")
    return answer(
        spec, folder / "questions.jsonl", folder / "set", folder / name, max_new_tokens=12, batch=batch
    )


def test_a_resumed_run_equals_an_unbroken_one(folder: Path) -> None:
    whole = ask(folder, "whole.jsonl").read_text().splitlines()
    assert len(whole) == 10
    assert all(json.loads(line)["text"] for line in whole)
    part = folder / "part.jsonl"
    part.write_text("\n".join(whole[:4]) + "\n" + whole[4][:30])
    (folder / "part.json").write_text((folder / "whole.json").read_text())
    assert ask(folder, "part.jsonl", batch=3).read_text().splitlines() == whole
    before = part.stat().st_mtime_ns
    ask(folder, "part.jsonl")
    assert part.stat().st_mtime_ns == before or part.read_text().splitlines() == whole


def test_fields_of_the_question_are_kept(folder: Path) -> None:
    asked = {line["example_id"]: line for _, line in read_jsonl(folder / "questions.jsonl")}
    for _, line in read_jsonl(ask(folder, "whole.jsonl")):
        assert asked[line["example_id"]].items() <= line.items()


def test_answers_of_another_run_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    (folder / "other.json").write_text('{"digest": "0"}')
    with pytest.raises(InputError, match="another run"):
        ask(folder, "other.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"example_id": "a", "image_id": "i", "image": "i.png"}, "line 1.*prompt"),
        ({"example_id": "a", "image_id": "i", "image": None, "prompt": "q"}, "line 1.*texts"),
    ],
)
def test_faulty_questions_name_file_and_line(tmp_path: Path, line: dict[str, object], message: str) -> None:
    path = tmp_path / "q.jsonl"
    write_jsonl(path, [line])
    with pytest.raises(InputError, match=message):
        read_questions(path)


def test_doubled_and_missing_questions(tmp_path: Path) -> None:
    line = {"example_id": "a", "image_id": "i", "image": "i.png", "prompt": "q"}
    write_jsonl(tmp_path / "q.jsonl", [line, line])
    with pytest.raises(InputError, match=r"line 2.*twice"):
        read_questions(tmp_path / "q.jsonl")
    (tmp_path / "e.jsonl").write_text("")
    with pytest.raises(InputError, match="no questions"):
        read_questions(tmp_path / "e.jsonl")


def test_one_bad_picture_does_not_cost_its_neighbours_their_answers(folder: Path) -> None:
    whole = ask(folder, "whole.jsonl").read_text().splitlines()
    picture = folder / "set" / json.loads(whole[0])["image"]
    sound = picture.read_bytes()
    picture.write_bytes(sound[: len(sound) // 2])
    try:
        with pytest.raises(InputError, match=json.loads(whole[0])["example_id"]):
            ask(folder, "bad.jsonl")
        assert (folder / "bad.jsonl").read_text().splitlines() == whole[5:]
    finally:
        picture.write_bytes(sound)
    assert sorted(ask(folder, "bad.jsonl").read_text().splitlines()) == sorted(whole)


def test_neighbours_about_one_picture_share_a_batch() -> None:
    lines = [{"image": image} for image in "aaabbbbbbbc"]
    cut = [[line["image"] for line in batch] for batch in by_picture(lines, 3)]
    assert cut == [list("aaa"), list("bbbbbb"), list("bc")]
    assert list(by_picture([], 3)) == []


def test_a_picture_that_changed_after_its_answer_is_noticed_and_a_missing_one_is_no_matter(
    folder: Path,
) -> None:
    whole = ask(folder, "changed.jsonl").read_text()
    picture = folder / "set" / json.loads(whole.splitlines()[0])["image"]
    sound = picture.read_bytes()
    try:
        picture.write_bytes(sound + b"\0")
        with pytest.raises(InputError, match="has changed since it was answered"):
            ask(folder, "changed.jsonl")
        picture.unlink()
        assert ask(folder, "changed.jsonl").read_text() == whole
    finally:
        picture.write_bytes(sound)


def test_a_header_that_is_no_object_is_refused(folder: Path) -> None:
    (folder / "odd.json").write_text("[]")
    with pytest.raises(InputError, match="another run"):
        ask(folder, "odd.jsonl")
