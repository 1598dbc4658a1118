"""From a run folder to its page: the evaluation's numbers, nothing from outside, the same bytes twice."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from probekit.cli.report import register
from probekit.errors import InputError
from probekit.evaluation.records import Evaluation
from probekit.report import report
from probekit.report.mixes import budgets as budgets_of
from probekit.report.summary import mixing_section

EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def written(full_run: Path) -> str:
    """The page of a full run."""
    return report(full_run).page.read_text()


def files_of(run: Path) -> dict[str, bytes]:
    kept = [run / name for name in ("table.csv", "table.md", "table.tex", "report.html")]
    return {str(path.relative_to(run)): path.read_bytes() for path in [*kept, *(run / "figures").iterdir()]}


def test_same_run_same_bytes(full_run: Path, written: str) -> None:
    assert written == (full_run / "report.html").read_text()
    first = files_of(full_run)
    report(full_run)
    assert files_of(full_run) == first
    assert {
        "figures/auroc.svg",
        "figures/mix-fpr.svg",
        "figures/mix-tpr.svg",
        "figures/positions.svg",
    } <= set(first)


def test_the_page_needs_nothing_from_outside(written: str, parse: Any) -> None:
    seen = parse(written)
    for _, attributes in seen.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster", "background"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith(("#", "data:image/")), (name, value)
    assert not {"link", "iframe", "object", "embed", "base"} & {name for name, _ in seen.elements}
    assert "http://" not in written
    assert "https://" not in written
    assert "@import" not in written
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", written))


def test_every_number_of_the_evaluation_is_in_its_panel(full_run: Path, written: str) -> None:
    evaluation = Evaluation.load(full_run / "evaluation.json")
    panels = written.split('class="panel"')[1:]
    assert len(panels) == 6
    checked = 0
    for panel in panels:
        found = re.search(r"Results, mix (\w+)(?: %)?, mentions ([\w-]+)<", panel)
        assert found is not None
        mix, population = found.groups()
        rows = dict(re.findall(r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', panel))
        for r in evaluation.records:
            if (r.mix, r.population) != (mix, population.replace("-", "_")):
                continue
            value = "n/a" if math.isnan(r.value) else f"{100 * r.value:.1f}"
            shown = value if r.measure != "auroc" or math.isnan(r.value) else f"{r.value:.3f}"
            place = ("auroc", "tpr", "fpr_concrete", "fpr_non_assertive").index(r.measure)
            if r.measure == "fpr_non_assertive" and r.subtype != "all":
                place += 1 + ("hedged", "depictive", "purpose", "negation").index(r.subtype)
            cells = re.findall(r"<td[^>]*>(.*?)</td>", rows[r.detector])[2:]
            assert re.sub(r"<span.*?</span>", "", cells[place]).replace("</abbr>", "").split(">")[-1] == shown
            if not math.isnan(r.value):
                assert f'title="n = {r.n:,}"' in rows[r.detector]
            checked += 1
    assert checked == len(evaluation.records)


def test_the_gallery_shows_held_out_mentions_of_the_chosen_mix(full_run: Path, parse: Any) -> None:
    seen = parse(report(full_run, detector="lookback", mix="30").page.read_text())
    with (full_run / "scores.csv").open(newline="") as handle:
        rows = [r for r in csv.DictReader(handle) if r["split"] == "test" and r["detector"] == "lookback"]
    values = {f"{float(r['score']):.3g}" for r in rows if r["mix"] == "30" and r["score"]}
    titles = [m["title"] for m in seen.named("mark") if "data-m" in m]
    shown = [found[1] for title in titles if (found := re.search(r"Score (\S+),", title))]
    assert len(shown) > 10
    assert set(shown) <= values
    tested = {r["example_id"] for r in rows}
    cards = [text.split(" · ")[0] for path, text in seen.texts if path[-1:] == ("p",) and " · " in text]
    assert cards
    assert set(cards) <= tested


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("scores.csv", "scores.csv: no gallery"),
        ("generations.jsonl", "generations.jsonl: no gallery"),
        ("rows.jsonl", "rows.jsonl: no positions"),
        ("labels/labels.jsonl", "labels/labels.jsonl: no mention can be marked"),
        ("images", "The image folder is not there"),
        ("job.json", None),
        ("dropped.jsonl", None),
    ],
)
def test_a_missing_input_is_said_on_the_page(
    run_folder: Path, parse: Any, lost: str, said: str | None
) -> None:
    path = run_folder / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    paths = report(run_folder)
    words = parse(paths.page.read_text()).words()
    if said is None:
        assert [sentence.split(":")[0] for sentence in paths.missing] == ["glsim"]
        assert "glsim: not evaluated, for want of image_similarity[layer=last]." in words
    else:
        assert said in words
        assert any(said in sentence for sentence in paths.missing)


def test_without_an_evaluation_the_command_that_makes_one_is_named(run_folder: Path, tmp_path: Path) -> None:
    (run_folder / "evaluation.json").unlink()
    with pytest.raises(InputError, match="probekit evaluate"):
        report(run_folder)
    with pytest.raises(InputError, match="no such run folder"):
        report(tmp_path / "nowhere")
    assert not (run_folder / "report.html").exists()


def test_unknown_choices_are_refused_with_the_known_ones(full_run: Path) -> None:
    with pytest.raises(InputError, match="none, natural, 30"):
        report(full_run, mix="11")
    with pytest.raises(InputError, match="lookback, hidden_mid"):
        report(full_run, detector="hidden")


def test_an_image_outside_its_folder_is_refused(run_folder: Path) -> None:
    path = run_folder / "generations.jsonl"
    path.write_text(path.read_text().replace('"image": "', '"image": "../../'))
    with pytest.raises(InputError, match="leaves the folder"):
        report(run_folder)


def test_the_job_can_name_another_image_folder(run_folder: Path, tmp_path: Path) -> None:
    with_images = report(run_folder).page.read_text()
    assert with_images.count("data:image/png") > 5
    (run_folder / "images").rename(tmp_path / "elsewhere")
    (run_folder / "job.json").write_text(json.dumps({"images": str(tmp_path / "elsewhere")}))
    assert report(run_folder).page.read_text() == with_images


def test_hostile_data_stays_text(make_run: Callable[..., Path], tmp_path: Path, parse: Any) -> None:
    run = make_run(tmp_path / "run", images=8, mixes=("natural", "max"))
    plain = parse(report(run).page.read_text())
    prefix = "<img src=x onerror=alert(1)>"
    for image in list((run / "images").iterdir()):
        image.rename(run / "images" / f"{prefix}{image.name}")
    texts = (run / "generations.jsonl").read_text().replace('"image": "', f'"image": "{prefix}')
    texts = texts.replace("The picture shows a small scene.", json.dumps(EVIL)[1:-1] + " " * 4)
    (run / "generations.jsonl").write_text(texts)
    rows = (run / "rows.jsonl").read_text()
    (run / "rows.jsonl").write_text(rows.replace('"category": "', f'"category": {json.dumps(EVIL)[:-1]}'))
    (run / "dropped.jsonl").write_text(json.dumps({"reason": EVIL}) + "\n")
    value = json.loads((run / "evaluation.json").read_text())
    for record in value["records"]:
        record["detector"] = record["detector"].replace("hidden_mid", EVIL)
        record["mix"] = record["mix"].replace("max", EVIL)
    value["provenance"] = {"model": EVIL, EVIL: {"x": EVIL}}
    value["counts"] = {EVIL: [EVIL, {EVIL: EVIL}]}
    (run / "evaluation.json").write_text(json.dumps(value))
    with (run / "scores.csv").open(newline="") as handle:
        table = [[EVIL if c == "hidden_mid" else c for c in line] for line in csv.reader(handle)]
    with (run / "scores.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows(table)

    paths = report(run, detector=EVIL, mix="natural")
    seen = parse(paths.page.read_text())
    assert len(seen.named("script")) == len(plain.named("script")) == 2
    assert not [key for _, a in seen.elements for key in a if key.startswith("on")]
    assert all((image["src"] or "").startswith("data:") for image in seen.named("img"))
    words = seen.words()
    assert words.count(EVIL) > 40
    assert words.count(prefix) >= 2
    assert "<script" not in paths.markdown.read_text()


def test_the_command_prints_the_table_and_the_page(full_run: Path) -> None:
    app = typer.Typer()
    register(app)

    @app.callback()
    def root() -> None:
        """Two commands, so that typer keeps the name of the first."""

    done = CliRunner().invoke(app, ["report", str(full_run), "--mix", "30"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert str(full_run / "report.html") in done.output.replace("\n", "")
    assert "Results, mix 30" in done.output
    evaluation = Evaluation.load(full_run / "evaluation.json")
    one = next(
        r for r in evaluation.records if (r.detector, r.mix, r.measure) == ("hidden_mid", "30", "auroc")
    )
    assert f"{one.value:.3f}" in done.output


def test_a_run_that_moved_keeps_its_pictures_and_shows_no_path_in_its_title(
    run_folder: Path, parse: Any
) -> None:
    (run_folder / "job.json").write_text(json.dumps({"images": "runs/gone/images"}))
    value = json.loads((run_folder / "evaluation.json").read_text())
    value["provenance"]["model"] = "/somewhere/else/models/toy-7b"
    (run_folder / "evaluation.json").write_text(json.dumps(value))
    page = report(run_folder).page.read_text()
    assert page.count("data:image/png") > 5
    assert parse(page).words("title") == "Which mentions to doubt: models/toy-7b"
    assert "/somewhere" not in page


def test_mixes_stand_in_the_order_of_what_was_drawn(make_run: Callable[..., Path], tmp_path: Path) -> None:
    evaluation = Evaluation.load(make_run(tmp_path / "run", images=4) / "evaluation.json")
    sizes = {
        "none": (0, 0),
        "10": (3, 3),
        "30": (9, 10),
        "100": (29, 30),
        "natural": (49, 46),
        "max": (60, 61),
    }
    budgets = {
        mix: {str(i): {"concrete": 5, "non_assertive": n} for i, n in enumerate(pair)}
        for mix, pair in sizes.items()
    }
    drawn = Evaluation(evaluation.records, {"budgets": budgets}, {})
    for known, order in ((drawn, list(sizes)), (evaluation, ["none", "natural", "10", "30", "100", "max"])):
        # numbers are per cent of the hallucinated training examples, and say so where they stand
        assert "% of hallucinated" in mixing_section(known).figures[0].frame.x
        assert budgets_of(known)["10"].startswith("10 %")
        figure = mixing_section(known).figures[0]
        first = figure.frame.alt.split("; ")[0].split("hidden_mid: ")[-1].split("lookback: ")[-1]
        assert [place.split()[0] for place in first.split(", ")] == order
    words = [e.text for e in ET.fromstring(mixing_section(drawn).figures[0].svg()).iter() if e.text]
    assert {"48", "30", "60"} <= set(words)


def test_rows_of_other_pictures_are_told_apart_from_unlabelled_ones(run_folder: Path, parse) -> None:
    """As where a run was made again of fewer pictures: their rows stay, and have no label."""
    path = run_folder / "labels/labels.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    names = sorted({line["example_id"] for line in lines})
    gone = [line for line in lines if line["example_id"] in names[-2:]]
    first = next(line for line in lines if line["example_id"] == names[0])
    kept = [line for line in lines if line not in gone and line is not first]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    file = run_folder / "evaluation.json"
    value = json.loads(file.read_text())
    value["counts"]["unlabelled"] = len(gone) + 1
    file.write_text(json.dumps(value))
    words = " ".join(parse(report(run_folder).page.read_text()).words().split())
    assert f"of other pictures, none of whose mentions has a label {len(gone)}" in words
    assert "of labelled pictures 1" in words
