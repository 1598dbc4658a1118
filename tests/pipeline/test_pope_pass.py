"""The audit's pass: its stores hold what eager Hugging Face forwards give; resume, refusals, errors."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from probekit import jobs
from probekit.benchmarks.pope import load_questions
from probekit.cli import app
from probekit.errors import InputError
from probekit.evaluation.pope_store import load_split
from probekit.families import Prompter, PromptTemplate, load
from probekit.families.tiny import Size, make
from probekit.files import read_json, write_jsonl
from probekit.pipeline.pope import pope
from probekit.pipeline.pope_questions import split_names
from probekit.readouts import dynamic_mass

OBJECTS = ("dog", "cat", "umbrella", "car")
ORDER = [(2, 0), (0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 2), (0, 2), (1, 2), (0, 3)]
"""Pictures in turn, so that the questions on one of them do not follow each other."""
PROMPTS = {"llava": "USER: <image>\n{q} ASSISTANT:", "qwen2_5_vl": None}


def ask(folder: Path) -> Path:
    """Ten questions on three pictures of noise."""
    rng = np.random.default_rng(5)
    (folder / "images").mkdir(parents=True)
    for number in range(3):
        pixels = rng.integers(0, 255, (60, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"p{number}.png")
    rows = [
        {
            "question_id": f"q{place}",
            "image": f"p{picture}.png",
            "text": f"Is there a {OBJECTS[number]} in the image?",
            "label": "yes" if place % 2 else "no",
        }
        for place, (picture, number) in enumerate(ORDER)
    ]
    write_jsonl(folder / "pope_random.jsonl", rows)
    return folder / "pope_random.jsonl"


@pytest.fixture(scope="module")
def organism(tmp_path_factory):
    """The embedded model's own questions on four pictures."""
    job = jobs.make(
        jobs.PopeJob, model={"name": "organism", "dtype": "float32"}, pictures=4, draws=20,
        out=tmp_path_factory.mktemp("organism") / "out",
    )  # fmt: skip
    return job, pope(job)


@pytest.fixture(scope="module", params=["organism", *PROMPTS])
def run(request, tmp_path_factory):
    """A finished audit: its job and its summary."""
    if request.param == "organism":
        return request.getfixturevalue("organism")
    folder = tmp_path_factory.mktemp("pope")
    model = str(make(request.param, folder / "model", Size()))
    job = jobs.make(
        jobs.PopeJob,
        model={"name": model, "dtype": "float32", "prompt": PROMPTS[request.param]},
        questions=(ask(folder),), images=folder / "images", suffix=" Yes or no?",
        out=folder / "out", draws=20, batch_tokens=900, shard_questions=4,
    )  # fmt: skip
    return job, pope(job)


def eager(vlm, prompter, image, question, continuation):
    """Logits ``(n, V)`` and attention ``(L, H, n, n)`` of one text, and its prompt."""
    batch = prompter.encode([question], [[image]])
    prompt = batch.prompts[0]
    ids = torch.tensor([[*prompt.ids, *continuation]])
    types = {k: torch.tensor([[*v, *[0] * len(continuation)]]) for k, v in prompt.token_types.items()}
    vlm.decoder.set_attn_implementation("eager")
    with torch.no_grad():
        out = vlm.model(
            input_ids=ids, attention_mask=torch.ones_like(ids), **types, **batch.vision,
            output_attentions=True, use_cache=False,
        )  # fmt: skip
    return out.logits[0].numpy(), torch.stack([a[0] for a in out.attentions]).numpy(), prompt


def test_logits_forms_and_attention_equal_eager_forwards(run):
    job, _ = run
    split = job.out / "random"
    inputs = load_split(split)
    vlm = load(job.model.name, dtype="float32")
    prompter = Prompter(vlm, PromptTemplate(job.model.prompt))
    sequences = dynamic_mass(inputs.tokenizer, inputs.context).sequences
    assert any(len(ids) > 1 for ids in sequences)
    assert inputs.logits.shape == (len(inputs.questions), vlm.vocabulary)
    assert inputs.attention.shape == (len(inputs.questions), vlm.depth, vlm.heads)
    for row, question in enumerate(inputs.questions):
        column = row % len(sequences)
        ids = sequences[column]
        image = Image.open((job.images or job.out / "images") / question.image).convert("RGB")
        logits, attention, prompt = eager(vlm, prompter, image, question.text + job.suffix, ids)
        last = len(prompt) - 1
        np.testing.assert_allclose(inputs.logits[row], logits[last], atol=1e-4)
        on_image = np.array(prompt.ids) == vlm.image_token_id
        mass = attention[:, :, last, : len(prompt)][..., on_image].sum(-1)
        assert 0 < mass.min() < mass.max() < 1
        np.testing.assert_allclose(inputs.attention[row], mass, atol=1e-4)
        logp = torch.tensor(logits[last : last + len(ids)]).double().log_softmax(-1)
        expected = sum(float(logp[place, word]) for place, word in enumerate(ids))
        assert inputs.forms[row, column] == pytest.approx(expected, abs=1e-4)


def test_answers_are_kept_with_their_ids_and_prefixes_are_computed_once(run):
    job, summary = run
    cost = summary.cost
    assert 0 < cost.computed == cost.distinct < cost.unshared / 3
    for name in summary.splits:
        inputs = load_split(job.out / name)
        ids = inputs.answers.token_ids
        assert all(found is not None and len(found) <= 8 for found in ids)
        first = inputs.logits.argmax(1)
        assert [found[0] for found in ids if found] == [int(w) for w, f in zip(first, ids, strict=True) if f]
        lines = (job.out / name / "answers.jsonl").read_text().splitlines()
        assert [json.loads(line)["question_id"] for line in lines] == [
            question.question_id for question in inputs.questions
        ]


def stamps(out, pattern):
    return {file: file.stat().st_mtime_ns for file in out.rglob(pattern)}


def test_only_what_is_missing_is_made_again(run, monkeypatch):
    job, _ = run
    split = job.out / "random"
    before = load_split(split)
    record, store = read_json(job.out / "pope_audit.json"), stamps(split / "store", "*.h5")
    lost = sorted((split / "forms" / "shards").glob("*.h5"))[0]
    lost.unlink()
    (job.out / "pope_audit.html").unlink()
    (job.out / "pope_audit.json").unlink()
    again = pope(job)
    assert again.cost.computed > 0
    assert lost.exists()
    assert (job.out / "pope_audit.html").exists()
    assert stamps(split / "store", "*.h5") == store
    after = load_split(split)
    np.testing.assert_allclose(after.forms, before.forms, atol=1e-5)
    assert read_json(job.out / "pope_audit.json")["random"]["readouts"] == record["random"]["readouts"]

    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    page = stamps(job.out, "pope_audit.*")
    assert pope(job).cost.computed == 0
    assert stamps(job.out, "pope_audit.*") == page
    (job.out / "readouts.md").unlink()
    pope(job)
    assert (job.out / "readouts.md").exists()


ORGANISM = ("pope", "organism", "--images-count", 4, "--draws", 20, "--dtype", "float32")


@pytest.fixture(scope="module")
def world(organism):
    """The folder of that audit, and what the command says about it."""
    out = organism[0].out
    return out, command(*ORGANISM, "--out", out)


def command(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_embedded_model_brings_balanced_questions_and_legacy_ids_are_refused(world):
    out, done = world
    assert done.exit_code == 0, done.exception
    for kind in ("random", "popular", "adversarial"):
        questions = load_questions(out / kind / "questions.jsonl")
        assert (len(questions), questions.yes, len({q.image for q in questions})) == (24, 12, 4)
    for text in ("tokens computed", "page:", "store:", "probekit ls"):
        assert text in done.stdout
    for name, record in read_json(out / "pope_audit.json").items():
        assert record["reference"] == "dynamic_single", name
        for readout in ("legacy_2tok", "legacy_8tok"):
            found = record["readouts"][readout]
            assert found["coverage"] == 0.0
            assert found["scores"] is None
            assert "coverage" in found["refused"]
        assert record["readouts"]["dynamic_mass"]["scores"]["f1"]["value"] > 0.5
        assert record["attention"]["blocks"]


def test_a_refused_readout_is_scored_when_it_is_allowed_by_name(world):
    out, _ = world
    done = command(*ORGANISM, "--out", out, "--allow-uncovered", "legacy_2tok")
    assert done.exit_code == 0, done.exception
    assert "tokens computed: none" in done.stdout
    found = read_json(out / "pope_audit.json")["popular"]["readouts"]
    # ids outside the vocabulary tie, and a tie is a no
    assert found["legacy_2tok"]["scores"]["counts"]["tp"] == 0
    assert found["legacy_2tok"]["scores"]["f1"]["value"] == 0.0
    assert found["legacy_8tok"]["scores"] is None


def refused(*arguments):
    done = command(*arguments)
    assert done.exit_code != 0
    assert isinstance(done.exception, InputError), done.exception
    assert done.exception.exit_code == 2
    return str(done.exception)


def test_bad_input_is_named_before_a_model_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    file = ask(tmp_path)
    out = ("--out", tmp_path / "out")
    ready = ("pope", "organism", *out, "--questions", file, "--images", tmp_path / "images")
    assert "legacy_3tok" in refused(*ready, "--allow-uncovered", "legacy_3tok")
    assert "--questions" in refused("pope", "some/model", *out)
    assert "--images" in refused("pope", "organism", *out, "--questions", file)
    (tmp_path / "images" / "p0.png").unlink()
    error = refused(*ready)
    assert all(words in error for words in ("p0.png", "sample q1", f"{file}, line 2"))
    file.write_text(file.read_text() + '{"question_id": "x", "image": "p1.png", "text": "Is it?"}\n')
    assert f"{file}, line 11" in refused(*ready)
    escape = tmp_path / "escape.jsonl"
    write_jsonl(escape, [{"question_id": 1, "image": "../pope_random.jsonl", "text": "Is?", "label": "no"}])
    assert "escape.jsonl, line 1" in refused("pope", "organism", *out, "--questions", escape, *ready[-2:])
    assert "no such file" in refused(*ready[:-3], tmp_path / "none.jsonl", *ready[-2:])
    assert command("pope", "organism", "--images-count", "many").exit_code == 2


def test_a_folder_of_another_audit_is_not_mixed_with_this_one(world, tmp_path):
    out, _ = world
    assert "pictures" in refused(*ORGANISM, "--out", out, "--images-count", 5)
    assert "max" in refused(*ORGANISM, "--out", out, "--max-new-tokens", 3)
    file = ask(tmp_path)
    assert "questions" in refused(
        "pope", "organism", "--out", out, "--questions", file, "--images", tmp_path / "images"
    )


def test_several_files_may_follow_one_flag_and_are_named_by_their_kind(tmp_path, monkeypatch):
    asked = []

    def stop(job):
        asked.append(job)
        raise InputError("stop")

    monkeypatch.setattr("probekit.pipeline.pope.pope", stop)
    command("pope", "m", "--questions", "a_random.json", "b_popular.json", "--images", "i", "--out", tmp_path)
    assert [str(file) for file in asked[0].questions] == ["a_random.json", "b_popular.json"]
    assert list(split_names(asked[0].questions)) == ["random", "popular"]
    assert list(split_names((Path("x_random.json"), Path("y_random.json")))) == ["x_random", "y_random"]
    with pytest.raises(InputError, match="share a name"):
        split_names((Path("a/x.json"), Path("b/x.json")))


def test_a_model_that_answers_nothing_is_audited(tmp_path, monkeypatch):
    """Its answers are empty; the first position is read all the same, and nobody is counted as yes."""
    from probekit.forward.generate import Generation, Generator

    def silent(self, questions):
        return tuple(Generation((), "", 90, True) for _ in questions)

    monkeypatch.setattr(Generator, "run", silent)
    file = ask(tmp_path)
    job = jobs.make(
        jobs.PopeJob, model={"name": "organism"}, questions=(file,), images=tmp_path / "images",
        out=tmp_path / "out", draws=0,
    )  # fmt: skip
    pope(job)
    found = read_json(tmp_path / "out" / "pope_audit.json")["random"]["readouts"]
    assert found["string_parse"]["scores"]["unknown_share"]["value"] == 1.0
    assert math.isfinite(load_split(tmp_path / "out" / "random").logits.sum())
