"""The page of a Ghost run: numbers stand where they should, texts of models are inert, gaps are named."""

import csv
import io
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.ghost import GhostCategory, Manifest
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.errors import InputError
from probekit.evaluation.ghost_store import QUANTITIES
from probekit.evaluation.ghost_summary import GhostSummary
from probekit.files import write_json
from probekit.report.formats import to_csv
from probekit.report.ghost import write_ghost
from probekit.report.ghost_examples import kind_of, pick
from probekit.report.ghost_figures import rate_figures
from probekit.report.ghost_models import write_models
from probekit.report.ghost_tables import detector_table, paper_table, quantity_table, rate_table


@pytest.fixture(scope="module")
def page(tmp_path_factory, made):
    """A written page, its summary and its folder."""
    folder = tmp_path_factory.mktemp("ghost")
    summary, lines, manifest = made()
    manifest = Manifest(folder, manifest.images)
    (folder / "images").mkdir()
    for image in manifest.images[1:]:
        Image.new("RGB", (72, 72), "white").save(folder / image.image)
    path = write_ghost(folder, summary, lines, manifest, load_prompts(), {"model": "made"}, "probekit ghost")
    return path.read_text(), summary, folder


def test_texts_of_a_model_and_of_prompts_are_inert(page, evil):
    text, _, _ = page
    assert evil not in text
    assert text.count("&lt;script&gt;alert(2)") >= 5 + 5
    assert "<script>" not in text
    assert not re.search(r"<[^>]*onerror", text)


def test_the_page_needs_nothing_but_itself(page):
    text, _, _ = page
    assert "default-src &#x27;none&#x27;" in text
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", text)
    assert text.count("<h2") == 8


def test_tables_hold_the_numbers_of_the_summary(page):
    _, summary, folder = page
    rows = list(csv.DictReader(io.StringIO(to_csv(rate_table(summary)))))
    everything = summary.rates.groups["all"].h_rate
    assert [row["group"] for row in rows][:4] == ["all", "text", "time", "presence"]
    for tone in range(1, 6):
        assert float(rows[0][f"t{tone}"]) == pytest.approx(everything.points[tone].value)
    assert float(rows[0]["average"]) == pytest.approx(np.mean([p.value for p in everything.points.values()]))
    assert float(rows[0]["deviation"]) == pytest.approx(np.std([p.value for p in everything.points.values()]))
    (paper,) = csv.DictReader(io.StringIO(to_csv(paper_table(summary, "made"))))
    assert float(paper["h_rate"]) == float(rows[0]["average"])
    assert float(paper["h_score"]) == pytest.approx(1 + 3 * float(paper["h_rate"]))  # scores are 4 and 1
    quantities = list(csv.DictReader(io.StringIO(to_csv(quantity_table(summary, "text")))))
    assert [row["quantity"] for row in quantities] == list(QUANTITIES.values())
    detectors = list(csv.DictReader(io.StringIO(to_csv(detector_table(summary)))))
    assert detectors[8]["heads"] == "mix natural, 3 heads"
    assert float(detectors[0]["overall"]) == summary.detectors["all"]["detector 0"].overall.value
    saved = {file.stem for file in (folder / "tables").glob("*.csv")}
    assert saved >= {"table_2", "h_rate", "h_score", "changes", "dissociation", "quantities", "verdict",
                     "detectors", "detectors_text", "quantities_text_blur", "verdict_presence"}  # fmt: skip


def test_what_is_missing_is_said(page):
    text, _, _ = page
    assert "2 have no verdict" in text
    assert "4 answers about objects have neither" in text
    assert "VNS 3" in text
    assert "picture not found" in text
    assert "1 detectors are not shown" in text
    assert ">n/a<" in text


def test_a_family_without_attention_is_named(tmp_path, made):
    summary, lines, manifest = made(6)
    groups = {g: {k: v for k, v in q.items() if k != "image_mass"} for g, q in summary.quantities.items()}
    less = replace(summary, layers=None, quantities=groups, unserved={"attention_mass": "linear attention"})
    lines = [{**line, "image_mass": None} for line in lines]
    text = write_ghost(tmp_path, less, lines, Manifest(tmp_path, manifest.images), load_prompts(), {}, "x")
    found = text.read_text()
    assert "This family has no such evidence: linear attention." in found
    assert "Where in depth tone moves attention" not in found
    assert "Image mass, by tone" not in found


def test_single_categories_leave_a_crowded_figure(made):
    summary, _, _ = made()
    few = rate_figures(summary)[0].svg()
    assert "human_intent" in few
    crowd = dict(summary.rates.groups)
    crowd |= {str(c): crowd["text_blur"] for c in GhostCategory}
    many = rate_figures(replace(summary, rates=replace(summary.rates, groups=crowd)))[0].svg()
    assert "human_intent" not in many
    assert "presence" in many


@pytest.mark.parametrize(
    ("verdicts", "kind"),
    [
        ([False, False, True, False, False], "flips"),
        ([True, True, True, True, True], "hallucinates throughout"),
        ([True, False, False, False, False], "recovers"),
        ([False, None, False, False, False], "holds"),
        ([None, None, True, None, None], "recovers"),
    ],
)
def test_pictures_are_told_apart_by_their_verdicts(verdicts, kind):
    assert kind_of(verdicts) == kind


def test_no_kind_of_picture_crowds_out_another(made):
    _, lines, _ = made(30)
    for n, line in enumerate(lines):
        line["hallucinated"] = line["image_id"] == "p07" and n % 5 == 4
    shown = pick(lines, cards=6)
    assert [kind for kind, _ in shown] == ["flips"] + ["holds"] * 5
    assert len({held[0]["category"] for _, held in shown[1:]}) == 3
    assert all([line["tone"] for line in held] == [1, 2, 3, 4, 5] for _, held in shown)
    assert math.isclose(len(shown), 6)


def record(folder: Path, summary: GhostSummary, **changes) -> Path:
    """A run's folder with its ``ghost.json``."""
    source = {
        "model": "made", "revision": "r", "dtype": "float32", "pictures": {}, "set": "s1", "store": "x",
        "prompts": {"name": "p", "digest": "d1"}, "policy": {"digest": "one"}, "h_score": "a judge",
    }  # fmt: skip
    write_json(folder / "ghost.json", {**source, **summary.record(), **changes})
    return folder


def test_models_stand_beside_each_other_in_the_papers_form(tmp_path, made, evil):
    (one, *_), (other, *_) = made(15), made(9)
    folders = [record(tmp_path / "a", one), record(tmp_path / "b", other, model=evil)]
    page, table = write_models(tmp_path / "out", folders)
    text = page.read_text()
    assert evil not in text
    assert text.count("<figure") == 2
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "table_2.csv").read_text())))
    assert [row["model"] for row in rows] == ["made", evil]
    for row, summary in zip(rows, (one, other), strict=True):
        curve = summary.rates.groups["all"].h_rate
        assert float(row["h_rate"]) == pytest.approx(np.mean([p.value for p in curve.points.values()]))
        assert float(row["h_rate_sd"]) == pytest.approx(np.std([p.value for p in curve.points.values()]))
    assert "different words" not in table.caption
    assert "different pictures" not in table.caption
    elsewhere = record(tmp_path / "d", other, set="s2", pictures={"text_blur": 7})
    _, table = write_models(tmp_path / "out", [folders[0], elsewhere])
    assert "were shown different pictures, so rates are not comparable" in table.caption
    assert "7 text_blur" in table.caption
    assert [row[1] for row in table.rows][1] == "7"
    again = [folders[0], record(tmp_path / "c", other, prompts={"name": "q", "digest": "d2"})]
    _, table = write_models(tmp_path / "out", again)
    assert [row[0] for row in table.rows] == ["made", "made (c)"]
    assert "different words" in table.caption


def test_no_model_falls_out_where_folders_share_a_name(tmp_path, made):
    made_of = [made(n)[0] for n in (15, 9, 6)]
    folders = [record(tmp_path / name / "run", one) for name, one in zip("abc", made_of, strict=True)]
    _, table = write_models(tmp_path / "out", folders)
    assert len(table.rows) == len({row[0] for row in table.rows}) == 3
    for row, summary in zip(table.rows, made_of, strict=True):
        assert row[2].value == pytest.approx(summary.rates.groups["all"].h_rate.average.value)
    with pytest.raises(InputError, match="given twice"):
        write_models(tmp_path / "out", [folders[0], folders[1], folders[0]])


@pytest.mark.parametrize("value", [[], {}, {"model": "m"}])
def test_a_file_of_something_else_is_named(tmp_path, value):
    write_json(tmp_path / "ghost.json", value)
    with pytest.raises(InputError, match="not the results of a Ghost run"):
        write_models(tmp_path / "out", [tmp_path])


def test_runs_under_different_policies_are_not_compared(tmp_path, made):
    summary, *_ = made(6)
    folders = [record(tmp_path / "a", summary), record(tmp_path / "b", summary, policy={"digest": "two"})]
    with pytest.raises(InputError, match="different policies"):
        write_models(tmp_path / "out", folders)
    with pytest.raises(InputError, match="no ghost.json here"):
        write_models(tmp_path / "out", [tmp_path])
