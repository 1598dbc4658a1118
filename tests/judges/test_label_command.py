"""``probekit label``: rows in, label lines out, faults by file and line, resuming, agreement."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from probekit.cli.judge import register
from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.judges.usage import ModelUsageJudge
from probekit.judges.verdict import UsageItem
from probekit.labels import LabelSet, Usage
from probekit.rows import RowKey

CAPTION = "A dog sits on a bench. No cats are visible, but there may be a bird. A bus stop is near."


def row(word: str, category: str, **more: Any) -> dict[str, Any]:
    start = CAPTION.index(word)
    return {"caption": CAPTION, "start": start, "end": start + len(word), "category": category, **more}


ROWS = [
    row("dog", "dog", caption_id="7", surface="dog", gold="existential"),
    row("cats", "cat", caption_id="7", surface="cats", gold="negation"),
    row("bird", "bird", caption_id="7", surface="bird", gold="existential"),
    row("bus", "bus", caption_id="7", surface="bus", gold="generic"),
]


def run(*arguments: str | Path) -> Result:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


def fault(result: Result) -> str:
    assert isinstance(result.exception, InputError), result.output
    assert result.exception.exit_code == 2
    return str(result.exception)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, ROWS)
    return path


def test_writes_identity_usage_trigger_and_source_but_no_caption(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"
    result = run(rows, "--out", out)
    assert result.exit_code == 0, result.output
    lines = [line for _, line in read_jsonl(out)]
    assert [line["usage"] for line in lines] == ["existential", "negation", "hedged", "generic"]
    assert lines[1] == {
        "caption_id": "7",
        "start": ROWS[1]["start"],
        "end": ROWS[1]["end"],
        "category": "cat",
        "surface": "cats",
        "usage": "negation",
        "trigger": "No cats",
        "source": lines[1]["source"],
    }
    assert lines[1]["source"].startswith("rules-")
    assert "existential" in result.output
    assert str(out) in result.output


def test_rows_of_a_run_take_their_text_from_generations_and_make_a_label_set(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "generations.jsonl", [{"example_id": "e1", "text": CAPTION}])
    lines = []
    for index, one in enumerate(ROWS):
        lines.append(
            {"example_id": "e1", "index": index, **{k: one[k] for k in ("start", "end", "category")}}
        )
    write_jsonl(tmp_path / "rows.jsonl", lines)
    out = tmp_path / "labels.jsonl"
    result = run(tmp_path / "rows.jsonl", "--generations", tmp_path / "generations.jsonl", "--out", out)
    assert result.exit_code == 0, result.output
    labels = LabelSet.load(out)
    label = labels.get(RowKey("e1", 2))
    assert label is not None
    assert (label.usage, label.present) == (Usage.HEDGED, None)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"end": len(CAPTION) + 1}, "is not inside its caption"),
        ({"start": 5, "end": 5}, "is not inside its caption"),
        ({"start": "5"}, "whole numbers"),
        ({"caption": None}, "no 'caption'"),
        ({"category": 3}, "whole numbers"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [ROWS[0], {**ROWS[1], **change}])
    message = fault(run(path, "--out", tmp_path / "labels.jsonl"))
    assert f"{path}, line 2" in message
    assert says in message


def test_a_row_without_category_or_generation_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [{"caption": CAPTION, "start": 0, "end": 1}])
    assert "missing 'category'" in fault(run(path, "--out", tmp_path / "labels.jsonl"))
    write_jsonl(path, [{"example_id": "e9", "start": 0, "end": 1, "category": "dog"}])
    write_jsonl(tmp_path / "generations.jsonl", [{"example_id": "e1", "text": CAPTION}])
    message = fault(
        run(path, "--generations", tmp_path / "generations.jsonl", "--out", tmp_path / "labels.jsonl")
    )
    assert "no generation of example 'e9'" in message


def test_a_second_run_judges_only_what_is_missing(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"
    run(rows, "--out", out)
    whole = out.read_text()
    kept = whole.splitlines(keepends=True)[:2]
    # A marked line shows that what was there is kept, not judged anew; the third line was cut by a kill.
    marked = kept[1].replace('"No cats"', '"as it was"')
    out.write_text(kept[0] + marked + whole.splitlines(keepends=True)[2][:15])
    assert run(rows, "--out", out).exit_code == 0
    assert out.read_text() == kept[0] + marked + "".join(whole.splitlines(keepends=True)[2:])


def test_labels_of_other_rows_or_another_judge_are_not_gone_on_with(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"
    run(rows, "--out", out)
    other = tmp_path / "other.jsonl"
    write_jsonl(other, [ROWS[1], ROWS[0], *ROWS[2:]])
    assert "another row" in fault(run(other, "--out", out))
    out.write_text(out.read_text().replace("rules-", "oracle-"))
    assert "was labelled by 'oracle-" in fault(run(rows, "--out", out))


def test_against_prints_agreement_and_json_holds_it(rows: Path) -> None:
    result = run(rows, "--against", "gold")
    assert "accuracy 0.750" in result.output
    assert "existential judged hedged: 1" in result.output
    value = json.loads(CliRunner().invoke(_app(), [str(rows), "--against", "gold", "--json"]).stdout)
    assert value["agreement"]["n"] == 4
    assert value["agreement"]["classes"]["existential"]["recall"] == 0.5
    assert value["agreement"]["classes"]["hedged"]["recall"] is None
    assert value["agreement"]["confusion"]["existential"] == {"existential": 1, "hedged": 1}
    assert "no label in field 'truth'" in fault(run(rows, "--against", "truth"))


def _app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app


def test_nothing_to_write_or_measure_and_unknown_judge_are_refused(rows: Path, tmp_path: Path) -> None:
    assert "--out FILE" in fault(run(rows))
    assert "unknown judge 'oracle'" in fault(run(rows, "--judge", "oracle", "--out", tmp_path / "x.jsonl"))
    assert "needs --model" in fault(run(rows, "--judge", "hf", "--out", tmp_path / "x.jsonl"))


def responder(body: dict[str, Any]) -> str:
    """Answer as a model that takes the rule judge's word."""
    content = body["messages"][0]["content"]
    lines = content.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("<<<DATA-"))
    last = next(n for n, line in enumerate(lines) if line.startswith("DATA-"))
    entries = json.loads("\n".join(lines[first + 1 : last]))
    if '"mechanism"' in content:
        return json.dumps([{"id": entry["id"], "mechanism": "hedged"} for entry in entries])
    if '"compound"' in content:
        return json.dumps([{"id": entry["id"], "compound": False, "expression": ""} for entry in entries])
    usages = {"dog": "existential", "cats": "non_assertive", "bird": "non_assertive", "bus": "ambiguous"}
    triggers = {"cats": "No cats", "bird": "may be a bird"}
    return json.dumps(
        [
            {
                "id": entry["id"],
                "refers": True,
                "usage": usages[entry["mention"]],
                "trigger": triggers.get(entry["mention"], ""),
            }
            for entry in entries
        ]
    )


def test_openai_judge_end_to_end_pays_once(rows: Path, tmp_path: Path, stub: Any) -> None:
    pytest.importorskip("openai")
    stub.respond = lambda number, body: (200, responder(body))
    out = tmp_path / "labels.jsonl"
    asked = ("--judge", "openai", "--model", "tiny", "--base-url", stub.url, "--captions-per-call", "2")
    result = run(rows, *asked, "--out", out)
    assert result.exit_code == 0, result.output
    assert [line["usage"] for _, line in read_jsonl(out)] == [
        "existential",
        "negation",
        "hedged",
        "ambiguous",
    ]
    assert {line["source"] for _, line in read_jsonl(out)} == {"endpoint:tiny"}
    paid = len(stub.bodies)
    assert paid == 2 + 1 + 1
    out.unlink()
    assert run(rows, *asked, "--out", out).exit_code == 0
    assert len(stub.bodies) == paid
    recorded = tmp_path / "again.jsonl"
    answers = tmp_path / "labels.answers.jsonl"
    assert answers.exists()
    result = run(
        rows, "--judge", "recorded", "--model", answers, "--captions-per-call", "2", "--out", recorded
    )
    assert result.exit_code == 0, result.output
    assert [a["usage"] for _, a in read_jsonl(recorded)] == [b["usage"] for _, b in read_jsonl(out)]


def test_a_price_needs_consent_and_an_estimate_asks_nothing(rows: Path, tmp_path: Path, stub: Any) -> None:
    pytest.importorskip("openai")
    stub.respond = lambda number, body: (200, responder(body))
    out = tmp_path / "labels.jsonl"
    asked = ("--judge", "openai", "--model", "tiny", "--base-url", stub.url, "--out", out)
    priced = (*asked, "--input-price", "2.5", "--output-price", "10")
    assert "Add --yes" in fault(run(rows, *priced))
    result = run(rows, *priced, "--estimate")
    assert result.exit_code == 0
    assert "1 requests" in result.output
    assert "at the prices given" in result.output
    assert stub.bodies == []
    assert run(rows, *priced, "--yes").exit_code == 0
    assert stub.bodies


def test_estimate_counts_the_questions_that_are_then_asked(stub: Any) -> None:
    from probekit.judges.endpoint import EndpointJudge

    judge = ModelUsageJudge(EndpointJudge("tiny", stub.url), per_call=3)
    items = [UsageItem(one["caption"], one["start"], one["end"], one["category"]) for one in ROWS]
    assert judge.estimate(items).requests == len(judge.questions(items)) == 2
