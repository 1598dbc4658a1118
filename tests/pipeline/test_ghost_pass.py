"""The traced pass of a Ghost run: its numbers against plain forwards, resumption, families, faults."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from probekit import jobs
from probekit.benchmarks.ghost_make import make_ghost
from probekit.benchmarks.ghost_prompts import SHIPPED
from probekit.detectors import DETECTORS
from probekit.detectors.heads import FittedHead
from probekit.errors import InputError
from probekit.families.tiny import make as make_tiny
from probekit.files import read_json, read_jsonl, write_jsonl
from probekit.organism import path as organism_path
from probekit.pipeline import ghost_trace
from probekit.pipeline.ghost import ask, load_run, prepare, trace
from probekit.pipeline.ghost_view import View
from probekit.pipeline.tracing import LateModel
from probekit.store import Store, content_digest

TINY = ("qwen2_5_vl", "qwen3_5")
"""Other picture sizes than the black one; and a family without attention rows in some layers."""


class Plain:
    """The model as its publisher's library runs it: eager, one sequence at a time, nothing shared."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        self.processor = AutoProcessor.from_pretrained(folder)

    @torch.no_grad()
    def run(self, image: Image.Image, question: str, ids: list[int]):
        """Log-probabilities ``(T, V)`` at the query of each token, output, prompt ids."""
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        inputs = dict(self.processor(text=text, images=image, return_tensors="pt"))
        prompt = inputs["input_ids"][0]
        extra = torch.tensor([ids])
        inputs["input_ids"] = torch.cat([inputs["input_ids"], extra], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            types = inputs["mm_token_type_ids"]
            inputs["mm_token_type_ids"] = torch.cat([types, torch.zeros_like(extra)], 1)
        out = self.model(**inputs, output_attentions=True, use_cache=False)
        return out.logits[0, len(prompt) - 1 : -1].double().log_softmax(-1).numpy(), out, prompt


def begin(kind: str, root: Path):
    """A run that has answers and no trace yet."""
    values = {"out": root / "run", "draws": 20, "shard_pictures": 3, "batch_tokens": 900}
    if kind == "organism":
        job = jobs.make(
            jobs.GhostJob, model={"name": "organism", "dtype": "float32"}, per_category=4, **values
        )
    else:
        folder = make_tiny(kind, root / kind)
        make_ghost(root / "set", 1, 3, (112, 84))
        job = jobs.make(
            jobs.GhostJob, model={"name": str(folder), "dtype": "float32", "device": "cpu"},
            manifest=root / "set" / "manifest.jsonl", max_new_tokens=5, **values,
        )  # fmt: skip
    run, model = prepare(job), LateModel(job.model)
    ask(run, model)
    return run, model


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A traced run of the embedded model, its results, and the model's folder."""
    run, model = begin("organism", tmp_path_factory.mktemp("ghost"))
    return run, trace(run, model), organism_path()


@pytest.fixture(scope="module", params=["organism", *TINY])
def traced(request, tmp_path_factory):
    """The same of each family."""
    if request.param == "organism":
        return request.getfixturevalue("world")
    run, model = begin(request.param, tmp_path_factory.mktemp("ghost"))
    return run, trace(run, model), Path(run.job.model.name)


@pytest.fixture
def no_page(monkeypatch):
    """Figures take longer than all the rest; most tests do not look at them."""
    monkeypatch.setattr("probekit.report.ghost.write_ghost", lambda out, *rest: out / "ghost.html")


def answered(run):
    """Answers with tokens, and their lines of results."""
    results = {line["example_id"]: line for _, line in read_jsonl(run.job.out / "ghost.jsonl")}
    lines = [line for _, line in read_jsonl(run.responses) if line["token_ids"]]
    return [(line, results[line["example_id"]]) for line in lines]


def test_quantities_equal_plain_forwards_with_the_picture_and_with_black(traced):
    run, _, folder = traced
    plain = Plain(folder)
    chosen = answered(run)[::6]
    assert len(chosen) >= 6
    for line, result in chosen:
        image = Image.open(run.manifest.root / line["image"]).convert("RGB")
        ids = line["token_ids"]
        full, out, prompt = plain.run(image, line["prompt"], ids)
        black, _, _ = plain.run(Image.new("RGB", (224, 224)), line["prompt"], ids)
        kl = (np.exp(full) * (full - black)).sum(-1)
        top = np.sort(kl)[::-1][: max(1, math.ceil(round(0.3 * len(kl), 9)))]
        entropy = -(np.exp(full) * full).sum(-1)
        place = np.arange(len(ids))
        expected = {
            "vns": top.mean(),
            "kl_first": kl[0],
            "entropy": entropy[0],
            "entropy_mean": entropy.mean(),
            "nll": -full[place, ids].mean(),
            "nll_black": -black[place, ids].mean(),
            "tokens": len(ids),
        }
        assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-4)
        assert result["detectors"]["nll"] == pytest.approx(-full[0, ids[0]], abs=1e-4)
        assert result["detectors"]["VNS, negated"] == -result["vns"]
        if folder.name == "qwen3_5":
            continue
        on_image = (prompt == plain.model.config.image_token_id).numpy()
        rows = torch.stack(out.attentions)[:, 0, :, len(prompt) - 1, : len(prompt)].numpy()
        mass = rows[..., on_image].sum(-1).mean(-1)
        depth = len(mass)
        low, high = (math.floor(block * depth / 32 + 0.5) for block in (14, 20))
        assert 0 < mass.min() < 1
        assert result["image_mass"] == pytest.approx(mass[low : min(high, depth - 1) + 1].mean(), abs=1e-4)
        first, last = (math.floor(block * depth / 32 + 0.5) for block in (5, 18))
        svar = -mass[first : min(last, depth - 1) + 1].sum()
        assert result["detectors"]["svar"] == pytest.approx(svar, abs=1e-4)


def test_a_family_without_attention_rows_gives_what_it_has(traced):
    run, found, folder = traced
    missing = found.summary.missing
    results = [result for _, result in answered(run)]
    if folder.name != "qwen3_5":
        assert missing["image_mass"] == missing["vns"] == found.summary.counts["not_traced"]
        assert found.summary.layers.shape == (5, Store.open(run.job.out / "store").header.depth)
        assert not found.summary.unserved
        return
    assert missing["image_mass"] == found.summary.counts["responses"]
    assert missing["vns"] == found.summary.counts["not_traced"]
    assert all(result["image_mass"] is None for result in results)
    assert found.summary.layers is None
    assert any(key.startswith("attention_mass") for key in found.summary.unserved)
    assert {"svar", "lookback", "dhcp"} <= set(found.summary.left_out)
    assert {"entropy", "nll", "ic"} <= set(found.summary.detectors["all"])
    assert "no attention rows over the text" in found.page.read_text()


def test_prefixes_are_shared_and_every_token_is_kept(traced):
    run, found, folder = traced
    lines = [line for line, _ in answered(run)]
    positions = Store.open(run.job.out / "positions").rows()
    held = {}
    for example, index, word in zip(positions.example_id, positions.index, positions.token_id, strict=True):
        held.setdefault(example, {})[int(index)] = int(word)
    assert {e: [words[n] for n in range(len(words))] for e, words in held.items()} == {
        line["example_id"]: line["token_ids"] for line in lines
    }
    cost = found.cost
    assert cost.answered == cost.replayed == sum(len(line["token_ids"]) for line in lines)
    if "qwen" not in folder.name:
        assert cost.computed == cost.distinct < cost.loop / 3
    else:
        # small pictures and long questions: limbs of a tree compute some tokens twice, and a recurrent
        # decoder shares the black picture's beginning alone when states of image tokens are read
        most = 1.0 if folder.name == "qwen3_5" else 0.8
        assert cost.distinct <= cost.computed < most * cost.loop


def test_the_black_picture_is_computed_once_for_the_whole_run(world, tmp_path, monkeypatch, no_page):
    from probekit.forward import trace as traces

    run, _, _ = world
    seen = []
    see_batch = traces.see_batch

    def counted(vlm, batch):
        seen.append(batch.pictures)
        return see_batch(vlm, batch)

    out = untraced(run, tmp_path)
    again = load_run(out)
    (model := LateModel(run.job.model)).get()
    monkeypatch.setattr(traces, "see_batch", counted)
    trace(again, model)
    # every picture of the set once, those of the first shard's replay, and black
    assert sum(seen) <= len(run.manifest.images) + 3 + 1


def untraced(run, folder: Path) -> Path:
    """A copy of a run without what the pass made."""
    out = folder / "copy"
    shutil.copytree(run.job.out, out, ignore=shutil.ignore_patterns("store", "positions", "trace.jsonl"))
    return out


def test_a_killed_pass_goes_on_and_gives_the_same_stores(world, tmp_path, monkeypatch, no_page):
    run, _, _ = world
    out = untraced(run, tmp_path)
    broken, shards = ghost_trace._run, []

    def killed(*arguments):
        if len(shards) == 2:
            raise KeyboardInterrupt
        shards.append(1)
        return broken(*arguments)

    monkeypatch.setattr(ghost_trace, "_run", killed)
    with pytest.raises(KeyboardInterrupt):
        trace(load_run(out), LateModel(run.job.model))
    monkeypatch.setattr(ghost_trace, "_run", broken)
    assert 1 <= len(Store.unchecked(out / "store").entries) < 3
    # the second store lags behind: a kill may come between the two
    for shard in sorted((out / "positions" / "shards").glob("*.h5"))[:1]:
        shard.unlink()
    trace(load_run(out), LateModel(run.job.model))
    for name in ("store", "positions"):
        assert content_digest(Store.open(out / name)) == content_digest(Store.open(run.job.out / name))
    before, after = ((folder / "ghost.jsonl").read_text() for folder in (run.job.out, out))
    assert before == after
    assert read_json(out / "ghost.json")["tokens"]["answered"] == sum(
        len(line["token_ids"]) for line, _ in answered(run)
    )


def test_a_traced_run_loads_no_model(world, monkeypatch, no_page):
    run, _, _ = world
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    before = (run.job.out / "ghost.jsonl").read_bytes()
    trace(load_run(run.job.out), LateModel(run.job.model))
    assert (run.job.out / "ghost.jsonl").read_bytes() == before
    # fewer detectors ask for less than there is
    fewer = trace(load_run(run.job.out, detectors=("nll",)), LateModel(run.job.model)).summary
    assert "entropy" not in fewer.detectors["all"]
    assert "nll" in fewer.detectors["all"]
    trace(load_run(run.job.out), LateModel(run.job.model))


def test_judged_scores_change_the_view_alone(world, tmp_path, no_page):
    run, found, _ = world
    assert found.summary.score_source == "wording, no judge"
    judged = tmp_path / "judged.jsonl"
    write_jsonl(judged, [{**line, "score": 4} for _, line in read_jsonl(run.responses)])
    again = trace(run, LateModel(run.job.model), View(judged=judged)).summary
    assert again.score_source == "recorded scores"
    assert again.rates.groups["all"].h_score.average.value == pytest.approx(4.0)
    assert again.quantities["all"]["vns"].curve == found.summary.quantities["all"]["vns"].curve
    trace(run, LateModel(run.job.model))


def lookback_heads(heads: Path, width: int, mix: str = "natural", **changes) -> np.ndarray:
    """A folder of one head of `lookback`; returns its coefficients."""
    detector = DETECTORS["lookback"]
    coef = np.linspace(-2.0, 2.0, width)
    head = FittedHead(
        **{
            "detector": "lookback", "variant": detector.variant, "parameters": detector.parameters,
            "mix": mix, "seed": 0, "fitted_on": "x", "rows": {"concrete": 1},
            "weights": {"coef": coef, "intercept": np.array([0.25])}, **changes,
        }
    )  # fmt: skip
    head.save(heads / "lookback" / mix / "seed0")
    return coef


def test_heads_score_the_first_token_of_answers(world, tmp_path, no_page):
    run, _, folder = world
    header = Store.open(run.job.out / "store").header
    coef = lookback_heads(tmp_path / "heads", header.depth * header.heads)
    found = trace(run, LateModel(run.job.model), View(heads=tmp_path / "heads"))
    assert found.summary.trained == {"lookback": "mix natural, 1 heads"}
    plain = Plain(folder)
    line, result = answered(run)[7]
    assert result["text"] == line["text"]
    image = Image.open(run.manifest.root / line["image"]).convert("RGB")
    _, out, prompt = plain.run(image, line["prompt"], line["token_ids"])
    rows = torch.stack(out.attentions)[:, 0, :, len(prompt) - 1, : len(prompt)].double().numpy()
    # SPEC 1.1: the assistant header counts as new; its length is what follows the question's last token
    header_tokens = len(plain.processor.tokenizer.encode(" ASSISTANT:", add_special_tokens=False))
    assert header_tokens > 0
    context = rows[..., :-header_tokens].mean(-1)
    new = rows[..., -header_tokens:].mean(-1)
    ratio = (context / (context + new)).reshape(-1)
    expected = 1 / (1 + np.exp(-(ratio @ coef + 0.25)))
    assert 0.05 < expected < 0.99
    assert result["detectors"]["lookback"] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(InputError, match="of mix max"):
        trace(run, LateModel(run.job.model), View(heads=tmp_path / "heads", mix="max"))
    lookback_heads(tmp_path / "narrow", 3)
    with pytest.raises(InputError, match="do not fit this model's features"):
        trace(run, LateModel(run.job.model), View(heads=tmp_path / "narrow"))
    lookback_heads(tmp_path / "other", len(coef), variant="older")
    with pytest.raises(InputError, match="other parameters"):
        trace(run, LateModel(run.job.model), View(heads=tmp_path / "other"))
    trace(run, LateModel(run.job.model))


def test_empty_answers_are_left_out_and_counted(world, tmp_path, no_page):
    run, model = load_run(untraced(world[0], tmp_path)), LateModel(world[0].job.model)
    lines = [line for _, line in read_jsonl(run.responses)]
    lines[3] |= {"token_ids": [], "text": ""}
    write_jsonl(run.responses, lines)
    found = trace(run, model)
    assert found.summary.counts["not_traced"] == found.summary.missing["vns"] == 1
    assert found.summary.counts["without_verdict"] == 1
    curve = found.summary.quantities["all"]["vns"].curve
    assert curve.points[lines[3]["tone"]].excluded == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"token_ids": []}, "line 2: sample .* has a text but no token ids"),
        ({"token_ids": [1.5]}, "line 2: 'token_ids' must be a list"),
        ({"token_ids": [True]}, "line 2: 'token_ids' must be a list"),
        ({"prompt_tokens": None}, "line 2: 'prompt_tokens' must be a whole number"),
        ({"image_id": "nobody"}, "line 2: image 'nobody' is not in the manifest"),
        ({"token_ids": [10**6]}, "outside the model's"),
    ],
)
def test_bad_answers_are_named(world, tmp_path, change, message, no_page):
    run, model = load_run(untraced(world[0], tmp_path)), LateModel(world[0].job.model)
    lines = [line for _, line in read_jsonl(run.responses)]
    lines[1] |= change
    write_jsonl(run.responses, lines)
    with pytest.raises(InputError, match=message):
        trace(run, model)


def test_answers_without_any_token_are_named(world, tmp_path, no_page):
    run, model = load_run(untraced(world[0], tmp_path)), LateModel(world[0].job.model)
    write_jsonl(run.responses, [{**r, "token_ids": [], "text": ""} for _, r in read_jsonl(run.responses)])
    with pytest.raises(InputError, match="no answer has tokens"):
        trace(run, model)


def test_scores_of_another_runs_answers_are_refused(world, tmp_path, no_page):
    run, _, _ = world
    lines = [line for _, line in read_jsonl(run.responses)]
    lines[2] |= {"text": "Something else entirely."}
    write_jsonl(tmp_path / "judged.jsonl", [{**line, "score": 4} for line in lines])
    with pytest.raises(InputError, match=f"{lines[2]['image_id']}' at tone 3 is not that of this run"):
        trace(run, LateModel(run.job.model), View(judged=tmp_path / "judged.jsonl"))


def test_other_prompts_in_a_folder_change_nothing_there(world, tmp_path):
    run = load_run(untraced(world[0], tmp_path))
    held = {path: path.read_bytes() for path in run.job.out.iterdir() if path.is_file()}
    other = run.job.model_copy(update={"prompts": SHIPPED})
    with pytest.raises(InputError, match="answers here are to other questions"):
        prepare(other)
    assert {path: path.read_bytes() for path in run.job.out.iterdir() if path.is_file()} == held


def test_a_folder_of_another_run_is_refused(world):
    run, _, _ = world
    other = run.job.model_copy(update={"max_new_tokens": 3})
    with pytest.raises(InputError, match="max_new_tokens"):
        prepare(other)
    with pytest.raises(InputError, match="no detector is called"):
        trace(load_run(run.job.out, detectors=("nobody",)), LateModel(run.job.model))


@pytest.mark.parametrize("value", ["[1]", '{"model": "abc", "samples": 3}'])
def test_a_folder_of_something_else_is_left_alone(world, tmp_path, value):
    (tmp_path / "job.json").write_text(value)
    (tmp_path / "responses.jsonl").write_text("")
    job = world[0].job.model_copy(update={"out": tmp_path})
    for begin_here in (lambda: prepare(job), lambda: load_run(tmp_path)):
        with pytest.raises(InputError, match=r"job\.json: not the job of a Ghost run"):
            begin_here()
    assert not (tmp_path / "set").exists()


def test_results_say_where_they_come_from(world):
    run, found, _ = world
    record = read_json(run.job.out / "ghost.json")
    assert record["prompts"] == {"name": run.prompts.name, "digest": run.prompts.digest}
    assert record["policy"]["digest"] == found.summary.rates.policy.digest
    assert record["counts"]["responses"] == 5 * len(run.manifest.images)
    assert (run.job.out / "tables" / "h_rate.csv").read_text().startswith("group,t1,t1_low")
    assert json.loads((run.job.out / "job.json").read_text())["model"]["name"] == run.job.model.name
