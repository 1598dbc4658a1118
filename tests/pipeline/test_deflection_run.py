"""A DeflectionBench run: resumed after kills, choices against Hugging Face, rates from the text."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from probekit.benchmarks.deflection import Outcome, Scenario, load_samples
from probekit.benchmarks.deflection_wording import Wording
from probekit.benchmarks.deflection_world import make_deflection
from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.jobs import ModelSpec
from probekit.organism import is_refusal
from probekit.pipeline import deflection as study
from probekit.pipeline import deflection_answers, deflection_trace
from probekit.pipeline.deflection import DeflectionJob, deflection
from probekit.store import Store, content_digest, verify

PER_KIND = 1
SPEC = ModelSpec(name="organism")


def job(out: Path, **changes: object) -> DeflectionJob:
    given: dict[str, object] = {"per_kind": PER_KIND, "draws": 20, "shard_prompts": 10, "batch": 7}
    return DeflectionJob(SPEC, out, **{**given, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    deflection(job(out))
    return out


class Killed(Exception):
    pass


def failing(monkeypatch: pytest.MonkeyPatch, module: object, name: str, after: int) -> None:
    """The function works ``after`` times, then the process 'dies'."""
    real, calls = getattr(module, name), iter(range(after))

    def step(*args: object, **kwargs: object) -> object:
        if next(calls, None) is None:
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, step)


def test_a_run_that_is_killed_four_times_gives_the_same_files(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    for module, name, after in (
        (deflection_answers, "_answers", 3),
        (deflection_trace, "trace_texts", 2),
        (deflection_answers, "_answers", 2),
        (deflection_trace, "trace_texts", 1),
    ):
        with monkeypatch.context() as patch:
            failing(patch, module, name, after)
            with pytest.raises(Killed):
                deflection(job(out))
        answers = out / ("forced/answers.jsonl" if (out / "forced").exists() else "answers.jsonl")
        # a line cut by the kill, and one that a batch had left behind
        lines = answers.read_bytes().splitlines(keepends=True)
        answers.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    deflection(job(out))
    for name in ("answers.jsonl", "forced/answers.jsonl", "set/samples.jsonl", "deflection.json"):
        kept, expected = (folder / name for folder in (out, whole))
        assert kept.read_text().replace(str(out), "") == expected.read_text().replace(str(whole), ""), name
    for name in ("store", "forced/store"):
        assert content_digest(Store.open(out / name)) == content_digest(Store.open(whole / name))
        assert verify(out / name).findings == ()


def test_a_finished_run_asks_no_model(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (whole / "deflection.json").read_bytes()

    def refuse(self: object) -> object:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(study.LateModel, "get", refuse)
    deflection(job(whole))
    assert (whole / "deflection.json").read_bytes() == before


def test_rates_are_those_of_the_written_texts(whole: Path) -> None:
    """Counted from the answers by hand: the right words alone, and one of the model's refusals."""
    samples = {s.sample_id: s for s in load_samples(whole / "set/samples.jsonl")}
    lines = [line for _, line in read_jsonl(whole / "answers.jsonl")]
    assert len(lines) == 12 * PER_KIND * 4
    found = json.loads((whole / "deflection.json").read_text())["results"]["all"]["scenarios"]
    for scenario in Scenario:
        held = [line for line in lines if line["scenario"] == scenario]
        right = [
            line["text"].lower().strip(" .") in samples[line["sample_id"]].answers
            or ("presence" in line["sample_id"] and line["text"].startswith("Yes"))
            for line in held
        ]
        declined = [is_refusal(line["text"]) for line in held]
        # what begins like a refusal and breaks off is left to the rules
        broken = [line["text"].startswith(("The image is", "I cann")) for line in held]
        rates = found[scenario]
        assert rates["accuracy"]["value"] == pytest.approx(np.mean(right))
        least, most = np.mean(declined), np.mean(np.logical_or(declined, broken))
        assert least - 1e-9 <= rates["deflection"]["value"] <= most + 1e-9
        assert most - least < 0.25
        total = sum(rates[name]["value"] for name in ("accuracy", "deflection", "hallucination"))
        assert total == pytest.approx(1.0)


def processed(vlm: object, line: dict[str, object], images: Path, ending: str) -> tuple[dict, int]:
    """Hugging Face's own processing of the chat and an answer behind it; the length of the prompt."""
    pictures = iter([Image.open(images / name).convert("RGB") for name in line["images"]])
    chat = [
        {
            **m,
            "content": [{**p, "image": next(pictures)} if p["type"] == "image" else p for p in m["content"]],
        }
        for m in line["messages"]
    ]
    processor = vlm.processor
    inputs = processor.apply_chat_template(
        chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )
    tail = processor.tokenizer(ending, add_special_tokens=False, return_tensors="pt")["input_ids"]
    prompt = inputs["input_ids"].shape[1]
    inputs["input_ids"] = torch.cat([inputs["input_ids"], tail], 1)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    return inputs, prompt


def hugging_face(vlm: object, line: dict[str, object], images: Path, ending: str) -> tuple[torch.Tensor, int]:
    """Log-probabilities of the answer's tokens and what follows."""
    inputs, prompt = processed(vlm, line, images, ending)
    with torch.no_grad():
        logp = vlm.model(**inputs).logits[0].float().log_softmax(-1)
    return logp[prompt - 1 :], prompt


def test_choices_and_statistics_are_hugging_faces(whole: Path) -> None:
    """Of each kind one prompt among distractors, several pictures and earlier turns among them."""
    from probekit.evaluation.deflection_store import load_trace
    from probekit.families import load

    vlm = load("organism", dtype="float32")
    samples = {s.sample_id: s for s in load_samples(whole / "set/samples.jsonl")}
    lines = [
        line for _, line in read_jsonl(whole / "forced/answers.jsonl") if line["scenario"] == "realistic"
    ]
    trace = load_trace(whole / "forced/store", [line["example_id"] for line in lines])
    seen = set()
    for row, line in enumerate(lines):
        seen |= {len(line["images"]), -len(line["messages"])}
        scores = {}
        for choice in samples[line["sample_id"]].choices:
            ids = vlm.tokenizer(f" {choice}", add_special_tokens=False)["input_ids"]
            logp, prompt = hugging_face(vlm, line, whole / "set/images", f" {choice}")
            scores[choice] = sum(float(logp[at, word]) for at, word in enumerate(ids))
            if choice == line["text"]:
                assert line["token_ids"] == ids
                first = logp[0]
                expected = {
                    "total": scores[choice],
                    "nll": scores[choice] / len(ids),
                    "first": float(first[ids[0]]),
                    "entropy": float((first.exp() * first).sum()),
                    "margin": float(first.topk(2).values[0] - first.topk(2).values[1]),
                }
                for name in expected:
                    value = trace.confidences()[name]
                    assert value[row] == pytest.approx(expected[name], abs=1e-4), (line["example_id"], name)
            assert line["prompt_tokens"] == prompt
        assert line["choices"] == pytest.approx(scores, abs=1e-4)
        assert line["text"] == max(scores, key=scores.__getitem__)
    assert {1, 7, -1, -13} <= seen


def test_detectors_of_the_attention_are_made_from_hugging_faces_rows(whole: Path) -> None:
    """SVAR and the Lookback ratio of some prompts with one and several pictures, from eager attention."""
    from probekit.evaluation.deflection_store import load_trace
    from probekit.families import load

    vlm = load("organism", dtype="float32")
    vlm.model.set_attn_implementation("eager")
    lines = [
        line for _, line in read_jsonl(whole / "forced/answers.jsonl") if line["scenario"] == "realistic"
    ]
    trace = load_trace(whole / "forced/store", [line["example_id"] for line in lines])
    assert {len(line["images"]) for line in lines} >= {1, 7}
    for row, line in enumerate(lines):
        inputs, prompt = processed(vlm, line, whole / "set/images", f" {line['text']}")
        with torch.no_grad():
            found = vlm.model(**inputs, output_attentions=True).attentions
        rows = torch.stack([layer[0, :, prompt - 1, :prompt] for layer in found]).double()
        seen = inputs["input_ids"][0, :prompt] == vlm.model.config.image_token_id
        image = rows[..., seen].sum(-1).mean(-1)
        low, high = (math.floor(edge * len(found) / 32 + 0.5) for edge in (5, 18))
        assert trace.confidences()["svar"][row] == pytest.approx(
            float(image[low : min(high, len(found) - 1) + 1].sum()), abs=1e-3
        )
        assert trace.confidences()["vade_proxy"][row] == pytest.approx(float(image.mean()), abs=1e-3)
        # what the assistant's header adds to the chat is new, everything before it is context
        closed, opened = (
            vlm.processor.apply_chat_template(line["messages"], add_generation_prompt=add, tokenize=False)
            for add in (False, True)
        )
        header = len(vlm.tokenizer(opened, add_special_tokens=False)["input_ids"]) - len(
            vlm.tokenizer(closed, add_special_tokens=False)["input_ids"]
        )
        assert header > 0
        old, new = rows[..., : prompt - header].mean(-1), rows[..., prompt - header :].mean(-1)
        np.testing.assert_allclose(
            trace.states["lookback"][row].reshape(len(found), -1), (old / (old + new)).numpy(), atol=2e-3
        )
    assert "length (control)" in (whole / "deflection.html").read_text()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Samples of one's own: without a picture, with one, and with a picture among the evidence."""
    make_deflection(tmp_path / "world", 1)
    images = tmp_path / "world/images"
    names = sorted(path.name for path in images.glob("*question.png"))[:3]
    lines = [
        {"id": "bare", "gold": [{"text": "A dog."}]},
        {"id": "one", "image": names[0], "gold": [{"text": "A cat is on the left."}]},
        {"id": "two", "gold": [{"image": names[1]}]},
    ]
    for line in lines:
        line |= {"question": "Where is the cat?", "answers": ["on the left"]}
        line["distractors"] = [{"text": f"A bus is on the right. {n}"} for n in range(5)]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_samples_of_ones_own_with_and_without_pictures(own: Path, tmp_path: Path) -> None:
    """Wording that offers declining: two files of answers, two stores, three samples under four scenarios."""
    wording = tmp_path / "wording.json"
    Wording(with_evidence="If it is not there, say that you cannot answer.", without_evidence="Answer.",
            forced_with="Answer.", forced_without="Answer now.").save(wording)  # fmt: skip
    out = tmp_path / "run"
    given = {"samples": own, "images": tmp_path / "world/images", "wording": wording, "max_new_tokens": 6}
    found = deflection(job(out, **given)).summary
    assert found.forced_apart
    for folder in (out, out / "forced"):
        lines = {line["example_id"]: line for _, line in read_jsonl(folder / "answers.jsonl")}
        assert {len(line["images"]) for line in lines.values()} == {0, 1}
        rows = Store.open(folder / "store").rows()
        tokens = dict(zip(rows.example_id, rows.image_tokens, strict=True))
        assert len(tokens) == 12
        for name, line in lines.items():
            assert tokens[name] == 36 * len(line["images"])
    assert found.results["all"].scenarios[Scenario.ORACLE].n == 3


def test_rates_alone_from_the_command_line(whole: Path, tmp_path: Path) -> None:
    """Made by one command and asked by another, without a pass: the rates of the whole run, no detectors."""

    def run(*arguments: object) -> str:
        done = CliRunner().invoke(app, ["deflection", *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    made, out = tmp_path / "made", tmp_path / "run"
    assert "12 samples" in run("make", made, "--per-kind", 1)
    told = run("run", "organism", "--samples", made / "samples.jsonl", "--no-trace", "--out", out,
               "--draws", 20, "--batch", 7)  # fmt: skip
    assert "Declining not offered" in told
    assert "Own deflection against" not in told
    found, expected = (json.loads((folder / "deflection.json").read_text()) for folder in (out, whole))
    assert found["results"] == expected["results"]
    assert found["forced"] == expected["forced"]
    assert found["detectors"] == found["attention"] == {}
    assert not (out / "store").exists()
    scored = run("score", out / "answers.jsonl", "--samples", made / "samples.jsonl", "--draws", 0)
    rate = expected["results"]["all"]["scenarios"]["oracle"]["accuracy"]["value"]
    assert f"{100 * rate:.1f}" in scored


def test_a_prompt_beyond_the_context_names_its_sample(own: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in own.read_text().splitlines()]
    lines[1]["gold"] = [{"text": "A cat is on the left. " * 90}]
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match="context of 512") as error:
        deflection(job(tmp_path / "run", samples=own, images=tmp_path / "world/images"))
    assert error.value.where == "sample one-oracle"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": "Is there <image> a dog?"}, "by which this model marks a picture"),
        ({"choices": ["Yes", "</s>"]}, "the tokenizer gives"),
    ],
)
def test_special_tokens_in_a_text_name_the_sample(
    own: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    lines = [json.loads(line) for line in own.read_text().splitlines()]
    lines[1] |= change
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=message) as error:
        deflection(job(tmp_path / "run", samples=own, images=tmp_path / "world/images", trace=False))
    assert error.value.where == "sample one"


def test_a_folder_of_something_else_is_left_alone(own: Path, tmp_path: Path) -> None:
    out = tmp_path / "other"
    out.mkdir()
    (out / "job.json").write_text("[1]")
    with pytest.raises(InputError, match="belongs to another run"):
        deflection(job(out))
    assert [path.name for path in out.iterdir()] == ["job.json"]
    with pytest.raises(InputError, match=r"job\.json: not the job of a run"):
        deflection(job(out, samples=own))


def test_another_runs_folder_is_refused(whole: Path, own: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="12 samples, 24 are asked for"):
        deflection(job(whole, per_kind=2))
    with pytest.raises(InputError, match="another samples"):
        deflection(job(whole, samples=own, images=tmp_path / "world/images"))
    with pytest.raises(InputError, match="no samples"):
        deflection(DeflectionJob(ModelSpec(name="some/model"), tmp_path / "none"))
    own.write_text(own.read_text().replace("question.png", "questions.png"))
    with pytest.raises(InputError, match=r"no picture .*questions\.png"):
        deflection(job(tmp_path / "gone", samples=own, images=tmp_path / "world/images"))


def test_the_page_shows_every_kind_and_the_page_is_whole(whole: Path) -> None:
    page = (whole / "deflection.html").read_text()
    for sample in load_samples(whole / "set/samples.jsonl"):
        assert sample.sample_id in page
        assert sample.kind in page
    assert "not attempted" in page
    assert str(Outcome.CORRECT) in page
    assert {path.stem for path in (whole / "tables").glob("*.md")} >= {
        "rates",
        "kinds",
        "detectors_all",
        "attention",
    }


def test_a_picture_replaced_between_a_run_and_its_resumption_is_noticed(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question's picture and a picture among the evidence; a missing one is named as before."""
    images = tmp_path / "world/images"
    given = {"samples": own, "images": images, "trace": False, "max_new_tokens": 4, "batch": 4}
    with monkeypatch.context() as patch:
        failing(patch, deflection_answers, "_answers", 2)
        with pytest.raises(Killed):
            deflection(job(tmp_path / "run", **given))
    answers = tmp_path / "run/answers.jsonl"
    held = [line for _, line in read_jsonl(answers)]
    names = {name for line in held for name in line["images"]}
    assert len(names) == 2
    before = answers.read_bytes()
    for name in names:
        picture = images / name
        sound = picture.read_bytes()
        Image.new("RGB", (64, 64), "white").save(picture)
        with pytest.raises(
            InputError, match=rf"the picture {name} has changed since it was answered"
        ) as error:
            deflection(job(tmp_path / "run", **given))
        assert "sample " in str(error.value.where)
        assert answers.read_bytes() == before
        picture.write_bytes(sound)
    deflection(job(tmp_path / "run", **given))
    deflection(job(tmp_path / "unbroken", **given))
    assert answers.read_bytes() == (tmp_path / "unbroken/answers.jsonl").read_bytes()
