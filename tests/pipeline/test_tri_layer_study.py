"""The Tri-Layer study against plain Hugging Face forwards, one sequence at a time, and its own resumption."""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from probekit.benchmarks.example import Example
from probekit.families.tiny import make as make_tiny
from probekit.files import read_jsonl
from probekit.jobs import ModelSpec, make
from probekit.organism import Scene, make_scene
from probekit.organism import path as organism_path
from probekit.pipeline.tri_layer import Study, prepare, run
from probekit.pipeline.tri_layer_rows import rows_of
from probekit.scores.anchors import load_anchors
from probekit.scores.choices import Choices

CONDITIONS = ("full", "blind", "noise", "conflict")


class Plain:
    """The model as its publisher's library runs it: eager, one sequence, no cache, no sharing."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        self.processor = AutoProcessor.from_pretrained(folder)

    @torch.no_grad()
    def logp(self, image: Image.Image, question: str, ids: tuple[int, ...]) -> np.ndarray:
        """Log-probabilities over the vocabulary at the query of each token of ``ids``."""
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        # Some templates write the beginning-of-sequence token that the tokenizer adds as well.
        inputs = dict(self.processor(text=text, images=image, return_tensors="pt"))
        bos = self.processor.tokenizer.bos_token_id
        if bos is not None and (inputs["input_ids"][0, :2] == bos).all():
            inputs = {k: v[:, 1:] if k in ("input_ids", "attention_mask") else v for k, v in inputs.items()}
        m = inputs["input_ids"].shape[1]
        extra = torch.tensor([ids])
        inputs["input_ids"] = torch.cat([inputs["input_ids"], extra], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            types = inputs["mm_token_type_ids"]
            inputs["mm_token_type_ids"] = torch.cat([types, torch.zeros_like(extra)], 1)
        logits = self.model(**inputs).logits[0, m - 1 : -1]
        return logits.double().log_softmax(-1).numpy()


@cache
def folder_of(family: str, root: Path) -> Path:
    return organism_path() if family == "organism" else Path(make_tiny(family, root / family))


@pytest.fixture(scope="module", params=["organism", "qwen2_5_vl"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    root = tmp_path_factory.mktemp("study")
    model = folder_of(request.param, root)
    pictures = root / "pictures"
    pictures.mkdir()
    examples, objects = [], {}
    for number, scene in enumerate(_disjoint_scenes()):
        # The pictures differ in size, so that they differ in tokens where resolution is dynamic.
        scene.picture().resize((72 + 28 * number, 72)).save(pictures / f"p{number}.png")
        asked = sorted(scene.present)[0]
        objects[f"p{number}"] = sorted(scene.present)
        examples.append(
            Example.ask(
                f"q{number}",
                f"p{number}",
                f"p{number}.png",
                f"Is there a {asked} in the image?",
                reference="yes",
            )
        )
    made = prepare(examples, pictures, root / "out", objects=objects)
    run(made, make(ModelSpec, name=str(model), device="cpu", dtype="float32"), max_new_tokens=8)
    return made, model


def _disjoint_scenes() -> list[Scene]:
    """Three scenes without a common object, so that each can be a conflict picture of the others."""
    found: list[Scene] = []
    for seed in range(200):
        scene = make_scene(seed)
        if len(found) < 3 and all(not scene.present & other.present for other in found):
            found.append(scene)
    assert len(found) == 3
    return found


def image_of(made: Study, condition: str, name: str) -> Image.Image:
    root = made.out / "images" if condition in ("blind", "noise") else made.root
    return Image.open(root / name).convert("RGB")


def test_every_number_equals_plain_forwards(study: tuple[Study, Path]) -> None:
    made, folder = study
    plain = Plain(folder)
    lines = {
        c: {line["example_id"]: line for _, line in read_jsonl(made.out / f"answers-{c}.jsonl")}
        for c in CONDITIONS
    }
    rows = {row.sample_id: row for row in rows_of(made.out, "m")}
    anchors = {
        name: load_anchors(f"{'black' if name == 'blind' else name}-1").anchors for name in ("blind", "noise")
    }
    checked = 0
    for _, evidence in read_jsonl(made.out / "evidence.jsonl"):
        key = evidence["example_id"]
        ids = tuple(lines["full"][key]["token_ids"])
        logp, question = {}, lines["full"][key]["prompt"]
        for condition in CONDITIONS:
            if key not in lines[condition]:
                continue
            image = image_of(made, condition, lines[condition][key]["image"])
            logp[condition] = plain.logp(image, question, ids)
            score = logp[condition][np.arange(len(ids)), ids].mean()
            assert evidence["scores"][f"full@{condition}"] == pytest.approx(score, abs=1e-4)
            if condition in anchors:
                own = tuple(lines[condition][key]["token_ids"])
                direct = plain.logp(image, question, own)[np.arange(len(own)), own].mean()
                assert evidence["scores"][f"own@{condition}"] == pytest.approx(direct, abs=1e-4)
        for condition, other in logp.items():
            if condition != "full":
                kl = (np.exp(logp["full"]) * (logp["full"] - other)).sum(-1)
                assert evidence["kl"][condition] == pytest.approx(kl, abs=1e-4)
                top = np.sort(kl)[::-1][: math.ceil(0.3 * len(kl))].mean()
                name = {"blind": "vns", "noise": "vns_noise", "conflict": "vns_conflict"}[condition]
                assert getattr(rows[key], name) == pytest.approx(top, abs=1e-4)
                checked += 1
        blank = " " if plain.processor.tokenizer.decode([ids[0]]).startswith(" ") else ""
        for which, sentences in anchors.items():
            scores = {}
            for shown in (which, "full"):
                image = image_of(made, shown, lines[shown][key]["image"])
                for n, sentence in enumerate(sentences):
                    tokens = tuple(
                        plain.processor.tokenizer.encode(blank + sentence, add_special_tokens=False)
                    )
                    direct = plain.logp(image, question, tokens)[np.arange(len(tokens)), tokens].mean()
                    assert evidence["scores"][f"{which}.{n}@{shown}"] == pytest.approx(direct, abs=1e-4)
                    scores[n, shown] = direct
            lad = max(scores[n, which] - scores[n, "full"] for n in range(len(sentences)))
            best = max(scores[n, which] for n in range(len(sentences)))
            noise = "" if which == "blind" else "_noise"
            assert getattr(rows[key], f"lad{noise}") == pytest.approx(lad, abs=1e-4)
            cs = evidence["scores"][f"own@{which}"] - best
            assert getattr(rows[key], f"cs{noise}") == pytest.approx(cs, abs=1e-4)
    assert checked == 9


def test_other_choices_are_computed_without_a_pass(study: tuple[Study, Path]) -> None:
    made, _ = study
    evidence = {e["example_id"]: e for _, e in read_jsonl(made.out / "evidence.jsonl")}
    for row in rows_of(made.out, "m", choices=Choices(fraction=1.0, gen="full")):
        assert row.vns == pytest.approx(np.mean(evidence[row.sample_id]["kl"]["blind"]))
        assert row.cs == row.cs_full


def test_a_resumed_study_equals_an_unbroken_one(study: tuple[Study, Path]) -> None:
    made, folder = study
    path = made.out / "evidence.jsonl"
    whole = path.read_text()
    lines = whole.splitlines()
    path.write_text("\n".join(lines[:1]) + "\n" + lines[1][:40])
    run(made, make(ModelSpec, name=str(folder), device="cpu", dtype="float32"), max_new_tokens=8)
    again = [json.loads(line) for line in path.read_text().splitlines()]
    for one, other in zip(again, map(json.loads, lines), strict=True):
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-6)


def test_prompts_are_computed_once(study: tuple[Study, Path]) -> None:
    made, _ = study
    summary = json.loads((made.out / "summary.json").read_text())
    assert summary["tokens_computed"] < summary["tokens_of_a_plain_loop"]


def test_the_conflict_picture_and_its_reason_are_kept(study: tuple[Study, Path]) -> None:
    made, _ = study
    for _, line in read_jsonl(made.out / "conflicts.jsonl"):
        assert line["reason"] == "no_shared_object"
        assert line["image_id"] is not None
        assert line["asked"]
        assert not set(line["asked"]) & set(line["shown"])
