"""The Tri-Layer command: scores against plain forwards, sharing, resumption, faults."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from probekit.benchmarks.conditions import Condition, blind_image, noise_image
from probekit.cli import app
from probekit.errors import InputError
from probekit.families.tiny import make as make_tiny
from probekit.files import read_json, read_jsonl, write_jsonl
from probekit.jobs import TriLayerJob, make
from probekit.organism import path as organism_path
from probekit.organism import write_images
from probekit.pipeline.tri_layer_questions import TASKS, world_questions
from probekit.pipeline.tri_layer_run import tri_layer
from probekit.pipeline.tri_layer_store import stored_divergences
from probekit.scores.anchors import load_anchors
from probekit.scores.vns import vns
from probekit.store import Store

SAMPLES = {"organism": 7, "tiny": 4}
"""Seven: the embedded model then asks about two pictures, and one can stand in conflict with the other."""
ANCHORS = {"blind": load_anchors("black-8").anchors, "noise": load_anchors("noise-8").anchors}


class Plain:
    """The model as its publisher's library runs it: eager, one sequence at a time, nothing shared."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        self.processor = AutoProcessor.from_pretrained(folder)
        self.length = 0

    @torch.no_grad()
    def logp(self, image: Image.Image, question: str, ids: list[int]) -> np.ndarray:
        """Log-probabilities over the vocabulary at the query of each token of ``ids``."""
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        inputs = dict(self.processor(text=text, images=image, return_tensors="pt"))
        m = inputs["input_ids"].shape[1]
        extra = torch.tensor([ids])
        inputs["input_ids"] = torch.cat([inputs["input_ids"], extra], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            types = inputs["mm_token_type_ids"]
            inputs["mm_token_type_ids"] = torch.cat([types, torch.zeros_like(extra)], 1)
        self.length += inputs["input_ids"].shape[1]
        return self.model(**inputs).logits[0, m - 1 : -1].double().log_softmax(-1).numpy()

    def mean_logp(self, image: Image.Image, question: str, ids: list[int]) -> float:
        return float(self.logp(image, question, ids)[np.arange(len(ids)), ids].mean())


@pytest.fixture(scope="module", params=["organism", "qwen2_5_vl"])
def study(request, tmp_path_factory):
    """Folder of a finished study, of its pictures, and of the model."""
    root = tmp_path_factory.mktemp("tri_layer")
    out = root / "out"
    if request.param == "organism":
        job = make(
            TriLayerJob, model={"name": "organism"}, out=out, samples=SAMPLES["organism"], logits="factored",
            max_new_tokens=24, shard_samples=3, draws=20,
        )  # fmt: skip
        tri_layer(job)
        return job, out / "pictures", organism_path()
    folder = Path(make_tiny("qwen2_5_vl", root / "model"))
    pictures = root / "pictures"
    references = write_images(pictures, 2, seed=5)
    for n in range(2):
        # other sizes, so that the pictures have other token counts than each other and than the black one
        file = pictures / f"{n:06d}.png"
        Image.open(file).resize((84 + 56 * n, 84)).save(file)
    questions = root / "questions.jsonl"
    write_jsonl(
        questions,
        [
            {"image": f"{n % 2:06d}.png", "question": q, "answer": "yes", "task": "t"}
            for n, q in enumerate(
                ["Is there a dog?", "Is there a cat?", "What is on the left?", "How many cups?"]
            )
        ],
    )
    job = make(
        TriLayerJob, model={"name": str(folder), "dtype": "float32", "device": "cpu"}, out=out,
        questions=questions, images=pictures, references=references, vocabulary="organism",
        logits="factored", max_new_tokens=6, shard_samples=3, draws=0,
    )  # fmt: skip
    tri_layer(job)
    return job, pictures, folder


def picture(condition: str, line: dict, pictures: Path, seed: int = 0) -> Image.Image:
    if condition == "blind":
        return blind_image()
    if condition == "noise":
        return noise_image(line["sample_id"], seed=seed)
    if condition == "conflict":
        return Image.open(pictures / f"{line['conflict_image']}.png").convert("RGB")
    return Image.open(pictures / f"{line['image_id']}.png").convert("RGB")


def test_scores_equal_plain_forwards_one_sequence_at_a_time(study):
    job, pictures, folder = study
    plain = Plain(folder)
    encode = plain.processor.tokenizer.encode
    lines = [line for _, line in read_jsonl(job.out / "tri_layer.jsonl")]
    assert len(lines) == (job.samples or SAMPLES["tiny"])
    compared = 0
    for line in lines:
        answers = {
            c: {a["example_id"]: a for _, a in read_jsonl(job.out / f"answers-{c}.jsonl")}.get(
                line["sample_id"]
            )
            for c in Condition
        }
        full = answers["full"]["token_ids"]
        blank = " " if plain.processor.tokenizer.decode(full[:1]).startswith(" ") else ""
        shown = {c: picture(c, line, pictures) for c in Condition if answers[c] is not None}
        logp = {c: plain.logp(image, line["prompt"], full) for c, image in shown.items()}
        for condition, name in (("blind", "vns"), ("noise", "vns_noise"), ("conflict", "vns_conflict")):
            if condition in logp:
                kl = (np.exp(logp["full"]) * (logp["full"] - logp[condition])).sum(-1)
                top = np.sort(kl)[::-1][: max(1, math.ceil(round(0.3 * len(kl), 9)))]
                assert line[name] == pytest.approx(top.mean(), abs=1e-4)
                assert line["kl"][condition] == pytest.approx(kl, abs=1e-4)
                compared += 1

        def anchors(which, condition, line=line, blank=blank, shown=shown):
            return np.array(
                [
                    plain.mean_logp(
                        shown[condition], line["prompt"], encode(blank + a, add_special_tokens=False)
                    )
                    for a in ANCHORS[which]
                ]
            )

        for which, suffix in (("blind", ""), ("noise", "_noise")):
            other, own = anchors(which, which), anchors(which, "full")
            assert line[f"lad{suffix}"] == pytest.approx((other - own).max(), abs=1e-4)
            assert line[f"lad{suffix}_best"] == pytest.approx((other - own)[other.argmax()], abs=1e-4)
            if answers[which]["text"] in ANCHORS[which]:
                assert line[f"cs{suffix}"] <= 0.0  # the answer is an anchor; rounding must not lift it
            response = plain.mean_logp(shown[which], line["prompt"], answers[which]["token_ids"])
            assert line[f"cs{suffix}"] == pytest.approx(response - other.max(), abs=1e-4)
            response = plain.mean_logp(shown[which], line["prompt"], full)
            assert line[f"cs{suffix}_full"] == pytest.approx(response - other.max(), abs=1e-4)
            if which == "blind" and "conflict" in shown:
                control = (anchors("blind", "conflict") - own).max()
                assert line["lad_conflict"] == pytest.approx(control, abs=1e-4)
    assert compared >= 2 * len(lines) + 2
    assert any(line["lad_conflict"] is not None for line in lines)


def test_vns_from_the_stored_states_equals_the_reduced_one(study):
    job, _, _ = study
    compared = 0
    for _, line in read_jsonl(job.out / "tri_layer.jsonl"):
        for condition, name in (("blind", "vns"), ("noise", "vns_noise"), ("conflict", "vns_conflict")):
            if condition in line["kl"]:
                kl = stored_divergences(job.out, line["sample_id"], Condition(condition))
                assert vns(kl) == pytest.approx(line[name], abs=1e-4)
                compared += 1
    assert compared >= 2 * 4


def test_tokens_are_counted_and_far_fewer_than_one_by_one(study):
    job, _, folder = study
    tokens = read_json(job.out / "summary.json")["tokens"]
    # every text has its prompt and its own tokens; a plain loop computes all of them
    evidence = [line for _, line in read_jsonl(job.out / "evidence.jsonl")]
    assert tokens["texts"] == sum(len(line["scores"]) for line in evidence)
    assert tokens["computed"] < tokens["loop"] / 3
    assert tokens["ratio"] == pytest.approx(tokens["loop"] / tokens["computed"])
    answered = [line for _, line in read_jsonl(job.out / "answers-full.jsonl")]
    assert tokens["answered"] == sum(len(line["token_ids"]) for line in answered)
    assert tokens["replay_agreement"] == 1.0
    assert Store.open(job.out / "store").header.replay_agreement == 1.0
    # one sample's tokens by hand: prompt as the processor makes it, plus each anchor
    line = next(value for _, value in read_jsonl(job.out / "tri_layer.jsonl"))
    plain = Plain(folder)
    plain.logp(blind_image(), line["prompt"], [1])
    answers = {a["example_id"]: a for _, a in read_jsonl(job.out / "answers-blind.jsonl")}
    assert answers[line["sample_id"]]["prompt_tokens"] == plain.length - 1


def test_the_black_picture_is_one_for_all_samples(tmp_path, monkeypatch):
    """Its prefix is computed once a group of samples, and its vision features, too."""
    from probekit.forward import trace as traces

    seen: list[int] = []
    see_batch = traces.see_batch

    def counted(vlm, batch):
        seen.append(batch.pictures)
        return see_batch(vlm, batch)

    monkeypatch.setattr(traces, "see_batch", counted)
    job = {"model": {"name": "organism"}, "samples": 10, "max_new_tokens": 24, "draws": 0}
    together = tri_layer(make(TriLayerJob, out=tmp_path / "a", shard_samples=10, **job)).cost
    assert seen[0] == 1
    apart = tri_layer(make(TriLayerJob, out=tmp_path / "b", shard_samples=1, **job)).cost
    assert apart.loop == together.loop
    # ten samples alone compute the 36 image tokens of the black picture nine times more
    assert apart.computed - together.computed > 9 * 36
    lines = [[line for _, line in read_jsonl(tmp_path / name / "tri_layer.jsonl")] for name in "ab"]
    for one, other in zip(*lines, strict=True):
        for name in ("lad", "vns", "cs", "vns_noise", "lad_conflict"):
            assert (one[name] is None) == (other[name] is None)
            assert one[name] is None or one[name] == pytest.approx(other[name], abs=1e-5)


def test_a_broken_off_study_goes_on_and_equals_the_unbroken_one(study, tmp_path):
    job, pictures, _ = study
    out = tmp_path / "out"
    shutil.copytree(job.out, out)
    again = job.model_copy(update={"out": out, "images": pictures})
    lines = (job.out / "evidence.jsonl").read_text().splitlines()
    (out / "evidence.jsonl").write_text("\n".join(lines[:1]) + "\n" + lines[1][:30])
    for part in ("answers-noise.jsonl",):
        answered = (job.out / part).read_text().splitlines()
        (out / part).write_text("\n".join(answered[:2]) + "\n")
    tri_layer(again)
    whole = [json.loads(line) for line in lines]
    found = [json.loads(line) for line in (out / "evidence.jsonl").read_text().splitlines()]
    assert [line["example_id"] for line in found] == [line["example_id"] for line in whole]
    for one, other in zip(found, whole, strict=True):
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-5)


def test_a_finished_study_loads_no_model(study, monkeypatch):
    job, _, _ = study
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    before = (job.out / "tri_layer.jsonl").read_bytes()
    tri_layer(job)
    assert (job.out / "tri_layer.jsonl").read_bytes() == before


def test_other_anchors_do_not_go_on_with_the_same_evidence(study):
    job, _, _ = study
    with pytest.raises(InputError, match="other answers, anchors"):
        tri_layer(job.model_copy(update={"anchors": ("black-1", "noise-8")}))


def test_every_result_names_anchors_and_choices(study):
    job, _, _ = study
    summary = read_json(job.out / "summary.json")
    for _, line in read_jsonl(job.out / "tri_layer.jsonl"):
        assert line["anchors"] == {
            "blind": load_anchors("black-8").digest,
            "noise": load_anchors("noise-8").digest,
        }
        assert line["choices"] == summary["choices"]["digest"]
    assert (job.out / "tri_layer.html").read_text().count("<figure") >= 4
    assert "| visual sycophancy |" in (job.out / "tables" / "taxonomy.md").read_text()


def test_the_worlds_questions_are_balanced_and_mixed(tmp_path):
    world_questions(tmp_path / "q.jsonl", tmp_path / "pictures", 50, 3)
    lines = [line for _, line in read_jsonl(tmp_path / "q.jsonl")]
    assert len({line["id"] for line in lines}) == 50
    assert {task: sum(line["task"] == task for line in lines) for task in TASKS} == dict.fromkeys(TASKS, 10)
    for task in TASKS[:4]:
        assert sum(line["answer"] == "yes" for line in lines if line["task"] == task) == 5
    assert all(line["prior"] == "none" for line in lines if line["task"] in ("where", "sentence"))
    assert {"right", "wrong", "refused"} <= {line["prior"] for line in lines}


@pytest.mark.parametrize(
    ("line", "flags", "message"),
    [
        ('{"image": "a.png", "question": "Q?"}', [], "line 2: missing 'answer'"),
        ('{"image": "no.png", "question": "Q?", "answer": "yes"}', [], "line 2: no picture no.png"),
        ('{"image": "../a.png", "question": "Q?", "answer": "yes"}', [], "leaves the folder"),
        ("{", [], "line 2: not JSON"),
        ("", ["--anchors", "black-9"], "no anchor set black-9"),
        ("", ["--anchors", "black-1", "--anchors", "black-8"], "are both for blind"),
        ("", ["--logits", "all"], "logits"),
    ],
)
def test_bad_input_is_named_before_a_model_is_loaded(tmp_path, monkeypatch, line, flags, message):
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    Image.new("RGB", (72, 72)).save(tmp_path / "a.png")
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"image": "a.png", "question": "Is there a dog?", "answer": "no"}\n' + line + "\n")
    command = ["tri-layer", "organism", "--questions", str(questions), "--images", str(tmp_path)]
    found = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out"), *flags])
    assert isinstance(found.exception, InputError)
    assert message in str(found.exception)


def test_another_model_needs_questions(tmp_path):
    with pytest.raises(InputError, match="no file of questions"):
        tri_layer(make(TriLayerJob, model={"name": "some/model"}, out=tmp_path / "out"))
