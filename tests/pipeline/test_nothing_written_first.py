"""A mistyped name leaves no folder behind that would refuse the right one later."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.benchmarks.ghost_make import make_ghost
from probekit.cli import app
from probekit.errors import InputError
from probekit.files import JsonlAppender, write_jsonl
from probekit.organism import write_images


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert isinstance(done.exception, InputError), done.output
    return str(done.exception)


def worked(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output + repr(done.exception)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures, questions and samples of one's own, each also with a picture that is not there."""
    root = tmp_path_factory.mktemp("given")
    write_images(root / "images", 6, 5)
    make_ghost(root / "set", 1, 3, (112, 84))
    for name, picture in (("", "000001.png"), ("-lost", "lost.png")):
        asked = {"question_id": "q1", "image": picture, "text": "Is there a dog?", "label": "no"}
        write_jsonl(root / f"pope{name}.jsonl", [asked])
        plain = {"id": "q1", "image": picture, "question": "Is there a dog?", "answer": "no"}
        write_jsonl(root / f"plain{name}.jsonl", [plain])
        sample = {"id": "s1", "image": picture, "question": "Where is the cat?", "answers": ["left"]}
        sample["gold"] = [{"text": "It is left."}]
        sample["distractors"] = [{"text": f"A bus is right. {n}"} for n in range(5)]
        write_jsonl(root / f"samples{name}.jsonl", [sample])
        first = json.loads((root / "set/manifest.jsonl").read_text().splitlines()[0])
        write_jsonl(root / f"set/one{name}.jsonl", [first | ({"image": picture} if name else {})])
    return root


def commands(root: Path) -> dict[str, list[object]]:
    """What is right but for the model, which comes first."""
    images = ["--images", root / "images"]
    return {
        "ghost": ["ghost", "run", "MODEL", "--manifest", root / "set/one.jsonl", "--no-trace"],
        "ghost-drawn": ["ghost", "run", "MODEL", "--per-category", 1],
        "deflection": ["deflection", "run", "MODEL", "--samples", root / "samples.jsonl", *images],
        "pope": ["pope", "MODEL", "--questions", root / "pope.jsonl", *images],
        "tri-layer": ["tri-layer", "MODEL", "--questions", root / "plain.jsonl", *images],
        "run": ["run", "MODEL", "--references", root / "images/references.jsonl", *images],
        "generate": ["generate", "MODEL", *images],
    }


@pytest.mark.parametrize(
    "name", ["ghost", "ghost-drawn", "deflection", "pope", "tri-layer", "run", "generate"]
)
def test_a_model_that_is_not_there_leaves_nothing(name: str, given: Path, tmp_path: Path) -> None:
    asked = ["organsim" if part == "MODEL" else part for part in commands(given)[name]]
    out = tmp_path / ("texts.jsonl" if name == "generate" else "run")
    assert "organsim" in refused(*asked, "--offline", "--out", out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ghost", "deflection", "pope", "tri-layer"])
def test_a_device_that_is_not_there_leaves_nothing(name: str, given: Path, tmp_path: Path) -> None:
    """The embedded model is drawn a set, samples or questions only when it can be asked."""
    asked = {
        "ghost": ["ghost", "run", "organism", "--per-category", 1],
        "deflection": ["deflection", "run", "organism", "--per-kind", 1],
        "pope": ["pope", "organism", "--images-count", 2],
        "tri-layer": ["tri-layer", "organism", "--samples", 2],
    }[name]
    assert "no device is called" in refused(*asked, "--device", "cpuu", "--out", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("ghost", "set/one.jsonl", "set/nowhere.jsonl"),
        ("ghost", "set/one.jsonl", "set/one-lost.jsonl"),
        ("deflection", "samples.jsonl", "samples-nowhere.jsonl"),
        ("deflection", "samples.jsonl", "samples-lost.jsonl"),
        ("pope", "pope.jsonl", "pope-lost.jsonl"),
        ("tri-layer", "plain.jsonl", "plain-lost.jsonl"),
        ("run", "images/references.jsonl", "nowhere.jsonl"),
        ("run", "images", "nowhere"),
    ],
)
def test_a_file_or_picture_that_is_not_there_leaves_nothing(
    name: str, right: str, wrong: str, given: Path, tmp_path: Path
) -> None:
    asked = ["organism" if part == "MODEL" else part for part in commands(given)[name]]
    mistyped = [given / wrong if part == given / right else part for part in asked]
    assert mistyped != asked
    refused(*mistyped, "--out", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_other_inputs_of_a_run_are_looked_at_first(given: Path, tmp_path: Path) -> None:
    asked = ["organism" if part == "MODEL" else part for part in commands(given)["run"]]
    for option in ("--usage", "--texts", "--vocabulary", "--detector"):
        refused(*asked, option, tmp_path / "nowhere.jsonl", "--out", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_extract_leaves_nothing(given: Path, tmp_path: Path) -> None:
    lines = [{"example_id": "a", "image_id": "000001", "image": "000001.png", "prompt": "What?",
              "token_ids": [5, 6], "text": "a b", "prompt_tokens": 3}]  # fmt: skip
    write_jsonl(given / "texts.jsonl", lines)
    write_jsonl(given / "rows.jsonl", [{"example_id": "a", "index": 0, "image_id": "000001",
        "category": "dog", "token": 0, "token_end": 0, "start": 0, "end": 1, "surface": "a"}])  # fmt: skip
    asked = ["extract", "--generations", given / "texts.jsonl", "--rows", given / "rows.jsonl",
             "--images", given / "images", "--out", tmp_path / "store"]  # fmt: skip
    refused(*asked, "--model", "organsim", "--offline")
    refused(*asked[:1], *asked[3:], "--generations", given / "none.jsonl", "--model", "organism")
    assert list(tmp_path.iterdir()) == []


def test_the_right_name_goes_on_in_the_same_folder(given: Path, tmp_path: Path) -> None:
    asked = ["ghost", "run", "organsim", "--manifest", given / "set/one.jsonl", "--no-trace", "--offline"]
    refused(*asked, "--out", tmp_path / "run")
    asked[2] = "organism"
    worked(*asked, "--draws", 5, "--out", tmp_path / "run")


def test_a_study_of_another_model_keeps_its_job(given: Path, tmp_path: Path) -> None:
    asked = ["tri-layer", "organism", "--questions", given / "plain.jsonl", "--images", given / "images",
             "--draws", 5, "--max-new-tokens", 2, "--out", tmp_path / "run"]  # fmt: skip
    worked(*asked)
    before = (tmp_path / "run/job.json").read_bytes()
    asked[1] = "organsim"
    assert "another model" in refused(*asked, "--offline")
    assert (tmp_path / "run/job.json").read_bytes() == before


def test_lines_make_their_file_and_a_failure_before_them_does_not(tmp_path: Path) -> None:
    path = tmp_path / "folder/lines.jsonl"
    with pytest.raises(ZeroDivisionError), JsonlAppender(path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with JsonlAppender(path):
        pass
    assert path.read_bytes() == b""
    with JsonlAppender(path) as lines:
        lines.append([{"a": 1}])
    assert path.read_bytes() == b'{"a": 1}\n'


def test_the_mark_of_a_picture_in_a_text_names_its_sample_and_leaves_nothing(
    given: Path, tmp_path: Path
) -> None:
    """In a question that would be the second; in the words of every prompt; in a judge of a traced run."""
    image, text = "000001.png", "Is there <image> a dog?"
    good = [{"question_id": "q1", "image": image, "text": "Is there a dog?", "label": "no"}]
    write_jsonl(given / "pope-mark.jsonl", [*good, {**good[0], "question_id": "q2", "text": text}])
    plain = [{"id": "q1", "image": image, "question": "Is there a dog?", "answer": "no"}]
    write_jsonl(given / "plain-mark.jsonl", [*plain, {**plain[0], "id": "q2", "question": text}])
    sample = json.loads((given / "samples.jsonl").read_text())
    sound = {**sample, "id": "s0"}
    write_jsonl(given / "samples-mark.jsonl", [sound, {**sample, "id": "s1", "question": text}])
    lines = [json.loads(line) for line in (given / "set/manifest.jsonl").read_text().splitlines()[:2]]
    lines[1]["target"] = "the name <image> here"
    write_jsonl(given / "set/one-mark.jsonl", lines)
    second = Path(lines[1]["image"]).stem
    for name, file, where in (
        ("pope", "pope.jsonl", "sample q2"),
        ("tri-layer", "plain.jsonl", "sample q2"),
        ("deflection", "samples.jsonl", "sample s1"),
        ("ghost", "set/one.jsonl", f"sample {second}-tone1"),
    ):
        path = given / file
        marked = path.with_name(path.name.replace(".jsonl", "-mark.jsonl"))
        asked = [{"MODEL": "organism", path: marked}.get(part, part) for part in commands(given)[name]]
        told = refused(*asked, "--out", tmp_path / "run")
        assert told.startswith(f"{where}: a text of the prompt holds '<image>'"), told
        assert list(tmp_path.iterdir()) == [], name
