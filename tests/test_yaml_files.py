"""YAML files: a key named twice is refused by every reader, with file, line and key."""

from pathlib import Path

import pytest
import yaml

from probekit import jobs
from probekit.benchmarks.ghost_prompts import SHIPPED as PROMPTS
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.errors import InputError
from probekit.judges.ghost.scenarios import SHIPPED as SCENARIOS
from probekit.judges.ghost.scenarios import load_scenarios
from probekit.mentions import Vocabulary
from probekit.metrics.rates_consistency import PRINTED, load_printed
from probekit.metrics.throne_questions import load_questions
from probekit.scores.anchors import SHIPPED as ANCHORS
from probekit.scores.anchors import load_anchors
from probekit.yaml_files import read_yaml, read_yaml_lines

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = "instruction: Look.\nquestions: [{singular: 'Is {0} {1} there?', plural: 'Are {0} there?'}]\n"


def job(path: Path) -> object:
    return jobs.load(path, jobs.StudyJob)


READERS = {
    "prompts": (load_prompts, PROMPTS.read_text(), "name"),
    "scenarios": (load_scenarios, SCENARIOS.read_text(), "name"),
    "anchors": (load_anchors, (ANCHORS / "black-8.yaml").read_text(), "condition"),
    "vocabulary": (Vocabulary.load, "name: own\ncategories: {dog: [dogs]}\n", "name"),
    "printed": (load_printed, PRINTED.read_text(), "tones"),
    "throne": (lambda path: load_questions(path, 1), QUESTIONS, "instruction"),
    "job": (job, "run: runs/demo\nseeds: 3\n", "seeds"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_a_key_that_comes_twice(name: str, tmp_path: Path) -> None:
    reader, text, key = READERS[name]
    path = tmp_path / "own.yaml"
    path.write_text(text)
    reader(path)
    held = yaml.safe_load(text)[key]
    path.write_text(f"{text.rstrip()}\n{yaml.safe_dump({key: held})}")
    line = len(text.rstrip().splitlines()) + 1
    with pytest.raises(InputError, match=rf"own\.yaml, line {line}: the key '{key}' comes twice"):
        reader(path)


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 5, "'c'"),
        ("- a: 1\n- a: 1\n  b: 2\n  a: 2\n", 4, "'a'"),
        ("1: a\n0x1: b\n", 2, "1"),
        ("{a: 1, a: 1}\n", 1, "'a'"),
        ("a: &x {b: 1, b: 2}\nc: *x\n", 1, "'b'"),
    ],
)
def test_at_any_depth(text: str, line: int, key: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"own\.yaml, line {line}: the key {key} comes twice"):
        read_yaml(path)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n'1': 2\n1: 3\n",
        "base: &b {x: 1, y: 2}\nmore: &m {<<: *b, x: 3}\nlast: {<<: *m, y: 4}\n",
        "all: [&b {x: 1}, &c {x: 2}]\nboth: {<<: [*b, *c], x: 3}\n",
        "",
        "[1, 2.5, true, null, 2026-01-31]\n",
    ],
)
def test_what_names_no_key_twice_is_read_as_yaml_says(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    assert read_yaml(path) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: 2026-13-45\n", "a: [\n", "? [a]\n: 1\n", "a: 1\n--- \nb: 2\n"])
def test_what_is_no_yaml_is_an_input_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"own\.yaml.*not YAML"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("!!bool maybe", "bool"), ("!!timestamp foo", "timestamp"), ("!!int ''", "int"), ("!!int x", "int"),
     ("!!float ''", "float"), ("2026-13-45", "timestamp")],
)  # fmt: skip
@pytest.mark.parametrize("form", ["{}", "[1, {}]", "{{x: {}}}"])
def test_a_value_that_is_not_what_its_tag_says_is_named_with_its_line(
    value: str, kind: str, form: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"a: 1\nb: {form.format(value)}\nc: x\n")
    with pytest.raises(InputError, match=rf"own\.yaml, line 2.*is no {kind}"):
        read_yaml(path)


def test_a_key_that_is_not_what_its_tag_says_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("a: 1\n!!bool maybe : 2\n")
    with pytest.raises(InputError, match=r"own\.yaml, line 2.*'maybe' is no bool"):
        read_yaml(path)


def test_lines_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("a:\n  b: 1\nc: 2\n")
    line_of = read_yaml_lines(path)[1]
    assert [line_of(place) for place in (["a"], ["a", "b"], ["c"], ["d"], ["a", "x"])] == [1, 2, 3, None, 1]


@pytest.mark.parametrize("folder", ["probekit", "extract", "train", "analysis", "bench"])
def test_no_other_place_reads_yaml(folder: str) -> None:
    readers = [
        path.relative_to(ROOT)
        for path in (ROOT / folder).rglob("*.py")
        if "import yaml" in path.read_text() and path.name != "yaml_files.py"
    ]
    assert readers == []
