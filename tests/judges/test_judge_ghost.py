"""Ghost-100's three stages asked of a judge that sees: through a stub endpoint, a record, a local model.

The stub knows each picture by its bytes alone and answers from a table written here, so that whatever comes
out right was seen.
"""

import base64
import hashlib
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from probekit.benchmarks.ghost import Family, GhostCategory, Manifest
from probekit.benchmarks.ghost_make import make_ghost
from probekit.benchmarks.ghost_validate import DIMENSIONS
from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl, write_jsonl
from probekit.judges.ghost import clusters, compliance, quality
from probekit.judges.ghost.scenarios import SHIPPED, load_scenarios

pytest.importorskip("openai")

GOOD = dict.fromkeys(DIMENSIONS, 4)


class World:
    """A set, and what the judge behind the stub thinks of each of its pictures."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.by_bytes = {
            hashlib.sha256((manifest.root / image.image).read_bytes()).hexdigest(): image
            for image in manifest.images
        }
        self.scores: dict[str, dict[str, int]] = {}
        self.refused: dict[str, str] = {}
        self.words: dict[str, list[str]] = {}
        self.sorted_into: dict[str, GhostCategory] = {}
        self.garbled: set[tuple[str, str]] = set()
        self.asked: list[tuple[str, str, str, float]] = []

    def respond(self, number: int, body: dict[str, Any]) -> tuple[int, str]:
        *shown, text = body["messages"][0]["content"]
        (part,) = shown
        url = part["image_url"]["url"]
        assert url.startswith("data:image/png;base64,")
        image = self.by_bytes[hashlib.sha256(base64.b64decode(url.split(",", 1)[1])).hexdigest()]
        key, content = image.image_id, text["text"]
        kind = "quality" if "realism" in content else "compliance" if '"q1"' in content else "cluster"
        self.asked.append((kind, key, content, body["temperature"]))
        if (kind, key) in self.garbled:
            return 200, "It looks rather good to me."
        if kind == "quality":
            return 200, json.dumps({**GOOD, **self.scores.get(key, {})})
        if kind == "compliance":
            answer: dict[str, Any] = {"q1": key not in self.refused, "q2": True, "passes": True}
            answer["reason"] = self.refused.get(key, "")
            if image.category.family is Family.TEXT:
                answer["allowed_words"] = self.words.get(key, [])
            return 200, f"```json\n{json.dumps(answer)}\n```"
        groups = {c.category: c.number for c in load_scenarios().clusters}
        return 200, json.dumps({"group": groups[self.sorted_into.get(key, image.category)]})

    def count(self, kind: str) -> Counter[str]:
        return Counter(key for what, key, _, _ in self.asked if what == kind)


@pytest.fixture
def world(tmp_path: Path, stub: Any) -> World:
    made = World(make_ghost(tmp_path / "set", 2, seed=3, size=(64, 64)))
    stub.respond = made.respond
    return made


def command(world: World, *more: object) -> list[str]:
    return ["ghost", "validate", str(world.manifest.root / "manifest.jsonl"), *map(str, more)]


def asking(stub: Any, folder: Path) -> tuple[object, ...]:
    return ("--judge", "endpoint", "--model", "tiny", "--base-url", stub.url, "--verdicts", folder)


def run(arguments: list[str]) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def told(output: str) -> list[str]:
    """The result, without what was said while asking."""
    return output.split("Verdicts: ")[1].splitlines()[1:]


def test_all_three_stages_from_what_the_endpoint_saw(world: World, stub: Any, tmp_path: Path) -> None:
    ids = [image.image_id for image in world.manifest.images]
    world.scores = {ids[0]: {"realism": 2}}
    world.refused = {ids[2]: "a name can be read", ids[15]: "a pen lies there"}
    world.sorted_into = {ids[4]: GhostCategory.TEXT_BLUR}
    folder, record = tmp_path / "verdicts", tmp_path / "record.json"
    output = run(command(world, *asking(stub, folder), "--yes", "--out", record))
    # 16 pictures five times, 16 once, and the 14 that passed stage 2.
    assert "To ask of tiny: 112 requests with 112 pictures" in output
    assert world.count("quality") == Counter(dict.fromkeys(ids, 5))
    assert world.count("compliance") == Counter(ids)
    assert world.count("cluster") == Counter(set(ids) - set(world.refused))
    assert "stage 1: 15 of 16 pass, 0 not judged" in output
    assert f"stage 1: {ids[0]}: realism 2.0 < 3.0" in output
    assert "stage 2: 14 of 16 comply, 0 not judged" in output
    assert f"stage 2: {ids[2]}: no to Q1 (a name can be read)" in output, "its own 'passes' decides nothing"
    # One of 14 is in the wrong cluster; text_blank has 2 pictures, 1 of them found.
    assert f"stage 3: recall {13 / 14:.1%} over all 14" in output
    assert "stage 3: text_blank: 50.0%" in output
    assert "could not be read" not in output
    held = read_json(record)
    assert held["separability"]["confusion"][2][0] == 1
    assert read_json(folder / "clusters.json") == {
        str(c.number): str(c.category) for c in load_scenarios().clusters
    }


def test_the_five_askings_are_five_questions_drawn_and_the_others_are_not(
    world: World, stub: Any, tmp_path: Path
) -> None:
    run(command(world, *asking(stub, tmp_path / "v"), "--yes"))
    for image in world.manifest.images:
        contents = [c for kind, key, c, _ in world.asked if (kind, key) == ("quality", image.image_id)]
        assert len(set(contents)) == 5
    assert {(kind, t) for kind, _, _, t in world.asked} == {("quality", 1), ("compliance", 0), ("cluster", 0)}
    lines = [line for _, line in read_jsonl(tmp_path / "v" / "answers.jsonl")]
    assert {(line["kind"], line["judge"]["temperature"]) for line in lines} == {
        ("ghost_quality", "1"),
        ("ghost_compliance", "0"),
        ("ghost_compliance_text", "0"),
        ("ghost_cluster", "0"),
    }
    orders = [q.content.split('"dimensions": [')[1].split("]")[0] for q in _first_five(world.manifest)]
    assert len(set(orders)) == 5
    assert all(sorted(json.loads(f"[{order}]")) == sorted(DIMENSIONS) for order in orders)


def _first_five(manifest: Manifest) -> list[Any]:
    return quality.questions(manifest, load_scenarios())[:5]


def test_stage_3_is_told_groups_and_nothing_of_the_picture(world: World) -> None:
    scenarios = load_scenarios()
    order = clusters.order(world.manifest.images, 1)
    asked = clusters.questions(world.manifest, order, scenarios, 1)
    told = [c.description for c in scenarios.clusters]
    for image, question in zip(order, asked, strict=True):
        assert all(text in question.content for text in told)
        secret = (*map(str, GhostCategory), image.image_id, image.image, image.target)
        assert not [word for word in secret if word in question.content]
    categories = [str(image.category) for image in order]
    assert categories != sorted(categories, key=list(map(str, GhostCategory)).index)
    assert order == clusters.order(world.manifest.images[::-1], 1), "the seed decides, not the manifest"
    assert order != clusters.order(world.manifest.images, 2)
    assert len({question.content for question in asked}) > 1, "the groups' order varies"


def test_a_second_run_asks_only_what_is_missing_and_says_so(world: World, stub: Any, tmp_path: Path) -> None:
    folder = tmp_path / "v"
    first = run(command(world, *asking(stub, folder), "--yes"))
    asked, held = len(world.asked), {p.name: p.read_text() for p in folder.iterdir()}
    again = run(command(world, *asking(stub, folder)))
    assert "To ask of tiny: 0 requests" in again, "so nobody need agree"
    assert len(world.asked) == asked
    lines = (folder / "answers.jsonl").read_text().splitlines(keepends=True)
    # Killed in the middle of stage 2, with a line half written.
    stage_2 = next(n for n, line in enumerate(lines) if '"kind": "ghost_compliance' in line)
    (folder / "answers.jsonl").write_text("".join(lines[: stage_2 + 5]) + lines[stage_2 + 5][:40])
    for name in ("compliance.jsonl", "assignments.jsonl", "clusters.json"):
        (folder / name).unlink()
    last = run(command(world, *asking(stub, folder), "--yes"))
    assert "To ask of tiny: 27 requests" in last
    assert len(world.asked) == asked + 11 + 16
    assert {p.name: p.read_text() for p in folder.iterdir() if p.name != "answers.jsonl"} == {
        name: text for name, text in held.items() if name != "answers.jsonl"
    }
    assert told(first) == told(last)


def test_without_consent_nothing_is_asked(world: World, stub: Any, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, command(world, *asking(stub, tmp_path / "v")))
    assert isinstance(result.exception, InputError)
    assert "112 requests with 112 pictures" in result.output
    assert world.asked == []


def test_a_record_of_the_answers_gives_the_same_verdicts_offline(
    world: World, stub: Any, tmp_path: Path
) -> None:
    world.refused = {world.manifest.images[5].image_id: "no"}
    first = run(command(world, *asking(stub, tmp_path / "v"), "--yes"))
    asked = len(world.asked)
    record = (
        "--judge",
        "recorded",
        "--model",
        tmp_path / "v" / "answers.jsonl",
        "--verdicts",
        tmp_path / "w",
    )
    second = run(command(world, *record))
    assert len(world.asked) == asked
    assert told(first) == told(second)
    for name in ("quality.jsonl", "compliance.jsonl", "assignments.jsonl"):
        assert (tmp_path / "v" / name).read_text() == (tmp_path / "w" / name).read_text()


def test_what_cannot_be_read_is_counted_and_nothing_is_made_of_it(
    world: World, stub: Any, tmp_path: Path
) -> None:
    ids = [image.image_id for image in world.manifest.images]
    world.garbled = {("quality", ids[0]), ("compliance", ids[1]), ("cluster", ids[2])}
    folder = tmp_path / "v"
    output = run(command(world, *asking(stub, folder), "--yes"))
    assert "stage 1: 15 of 15 pass, 1 not judged" in output
    assert "stage 1: 5 answers could not be read" in output
    assert "stage 2: 15 of 15 comply, 1 not judged" in output
    # Of the 15 that passed stage 2 one has no cluster.
    assert "stage 3: recall 100.0% over all 14" in output
    assert "stage 3: 1 answers could not be read" in output
    assert world.count("compliance")[ids[1]] == 2, "asked once more"
    (line,) = [one for _, one in read_jsonl(folder / "compliance.jsonl") if one["image_id"] == ids[1]]
    assert set(line) == {"image_id", "unread"}


def test_rounds_that_can_be_read_stand_without_the_one_that_cannot(
    world: World, stub: Any, tmp_path: Path
) -> None:
    bad = world.manifest.images[0].image_id
    answer = world.respond

    def respond(number: int, body: dict[str, Any]) -> tuple[int, str]:
        status, text = answer(number, body)
        kind, key, content, _ = world.asked[-1]
        third = kind == "quality" and key == bad and '"assessment": 3' in content
        return status, '{"foreground": 9}' if third else text

    stub.respond = respond
    output = run(command(world, *asking(stub, tmp_path / "v"), "--yes", "--stage", 1))
    lines = {line["image_id"]: line for _, line in read_jsonl(tmp_path / "v" / "quality.jsonl")}
    assert (len(lines[bad]["rounds"]), lines[bad]["unread"]) == (4, 1)
    assert "stage 1: 15 of 15 pass, 0 not judged, 1 scored fewer than 5 times and left out" in output
    assert "stage 1: 1 answers could not be read" in output
    assert world.count("cluster") == Counter()


def test_allowed_words_are_known_on_later_badges_and_grow_the_manifest(
    stub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(make_ghost(tmp_path / "set", 2, seed=3, size=(64, 64)))
    stub.respond = world.respond
    monkeypatch.setattr(compliance, "BLOCK", 2)
    ids = [image.image_id for image in world.manifest.images]
    world.words = {ids[0]: ["HALL", "Quartz"], ids[3]: ["hall", "EXIT"]}
    grown = world.manifest.root / "grown.jsonl"
    run(command(world, *asking(stub, tmp_path / "v"), "--yes", "--stage", 2, "--grown", grown))
    known = {}
    for kind, key, content, _ in world.asked:
        assert kind == "compliance"
        data = content.split("<<<DATA-")[1].split("\n", 1)[1].split("\nDATA-")[0]
        known[key] = json.loads(data)[0]["known"]
    own = {image.image_id: list(image.whitelist) for image in world.manifest.images}
    assert [known[key] for key in ids[:2]] == [own[key] for key in ids[:2]]
    assert known[ids[2]] == [*own[ids[2]], "HALL", "Quartz"]
    assert known[ids[4]] == [*own[ids[4]], "HALL", "Quartz", "EXIT"]
    assert [known[key] for key in ids[6:]] == [own[key] for key in ids[6:]], "badges only"
    after = {line["image"]: line["whitelist"] for _, line in read_jsonl(grown)}
    for image in world.manifest.images:
        assert after[image.image] == [*image.whitelist, *world.words.get(image.image_id, [])]


def test_faults_end_it_before_anything_is_asked(world: World, stub: Any, tmp_path: Path) -> None:
    (world.manifest.root / world.manifest.images[3].image).unlink()
    result = CliRunner().invoke(app, command(world, *asking(stub, tmp_path / "v"), "--yes"))
    assert result.exit_code == 1
    assert "no such file" in result.output
    assert world.asked == []


def test_recorded_stages_are_not_asked_again(world: World, stub: Any, tmp_path: Path) -> None:
    ids = [image.image_id for image in world.manifest.images]
    verdicts = tmp_path / "own.jsonl"
    write_jsonl(verdicts, [{"image_id": key, "q1": key in ids[:3], "q2": True} for key in ids])
    output = run(command(world, *asking(stub, tmp_path / "v"), "--yes", "--compliance", verdicts))
    assert world.count("compliance") == Counter()
    assert world.count("cluster") == Counter(ids[:3]), "those that the recorded verdicts let pass"
    assert "83 requests" in output
    twice = command(world, *asking(stub, tmp_path / "v"), "--compliance", verdicts, "--stage", 2)
    assert isinstance(CliRunner().invoke(app, twice).exception, InputError)
    incomplete = command(world, "--judge", "endpoint", "--model", "tiny")
    assert isinstance(CliRunner().invoke(app, incomplete).exception, InputError)


def test_a_local_model_is_shown_the_pictures_and_what_it_babbles_is_unread(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from probekit.families.tiny import make
    from probekit.judges import choose
    from probekit.judges.hf import HuggingFaceJudge

    # A random model never ends its answer.
    monkeypatch.setattr(choose, "HuggingFaceJudge", partial(HuggingFaceJudge, max_new_tokens=8))
    small = Manifest(world.manifest.root, world.manifest.images[:2])
    small.save(world.manifest.root / "manifest.jsonl")
    folder = make("llava", tmp_path / "llava")
    local = ["--judge", "hf", "--model", folder, "--device", "cpu", "--verdicts", tmp_path / "v", "--stage"]
    output = run(command(world, *local, 3))
    assert f"To ask of {folder}: 2 requests with 2 pictures" in output
    assert "stage 3: 2 answers could not be read" in output
    assert "stage 3: no picture has a cluster" in output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: probekit-1", "name: [", "YAML"),
        ("  text_blur: A", "  text_smear: A", "each category"),
        ("  - id: 2", "  - id: 1", "two clusters"),
        (
            "A clock face with its numerals",
            "A Time Fix, that is a clock face, with its numerals",
            "names the category",
        ),
        ("category: text_blank", "category: blank", "no number, category and text"),
    ],
)
def test_scenarios_of_ones_own_are_checked(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "s.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        load_scenarios(path)
    assert str(caught.value.where).partition(", line")[0] == str(path)
    path.write_text(text.replace("probekit-1", "mine"), encoding="utf-8")
    assert load_scenarios(path).digest == load_scenarios().digest


def test_thresholds_of_stage_1_can_be_set(world: World, tmp_path: Path) -> None:
    ids = [image.image_id for image in world.manifest.images]
    scores = tmp_path / "q.jsonl"
    write_jsonl(scores, [{"image_id": ids[0], "rounds": [{**GOOD, "realism": 2}] * 5}])
    assert "stage 1: 0 of 1 pass, 15 not judged" in run(command(world, "--quality", scores))
    low = command(world, "--quality", scores, "--threshold", "realism=2")
    assert "stage 1: 1 of 1 pass" in run(low)
    assert "stage 1: 0 of 1 pass" in run([*low, "--least-sharpness", "1e9"])
    alone = run(command(world, "--least-sharpness", "1e9"))
    assert all(f"sharpness: {key}: " in alone for key in ids), "no judge is needed to measure it"
    assert "< 1000000000.0" in alone
    assert f"files: no faults in {len(ids)} pictures" in alone
    assert " < " not in run(command(world, "--least-sharpness", "0"))
    for wrong in ("realism", "realism=9", "beauty=3"):
        bad = command(world, "--quality", scores, "--threshold", wrong)
        assert isinstance(CliRunner().invoke(app, bad).exception, InputError)
