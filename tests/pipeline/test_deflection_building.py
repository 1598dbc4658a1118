"""Mining with encoders made here, an index that is kept, gating by recorded responses."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from probekit.benchmarks.deflection import Outcome, load_samples
from probekit.benchmarks.deflection_mining import Index
from probekit.cli import app
from probekit.errors import InputError
from probekit.families.encoders import Encoder
from probekit.files import read_jsonl
from probekit.pipeline.deflection_gate import gate
from probekit.pipeline.deflection_mining import Mining, banned, mine, read_pool

TEXTS = {
    "p1": "The tower of Pisa leans over a square in Tuscany.",
    "p2": "The tower of London stands beside a river.",
    "p3": "A bridge in Prague is made of stone.",
    "p4": "The tower is in Paris, France.",
    "p5": "Gold passage about the iron tower and its engineer.",
    "p6": "An oven is for baking bread.",
    "p7": "The wheel of Vienna turns slowly.",
    "p8": "A short note. gold passage ABOUT the iron tower, and its engineer! More words.",
}


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def tokenizer():
    from probekit.families.tiny.tokenizer import byte_tokenizer

    found = byte_tokenizer((), words=320)
    found.padding_side = "right"
    return found


@pytest.fixture(scope="module")
def bert(tmp_path_factory, tokenizer) -> str:
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=64)  # fmt: skip
    BertModel(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def clip(tmp_path_factory, tokenizer) -> str:
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor

    folder = tmp_path_factory.mktemp("clip")
    torch.manual_seed(1)
    part = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config={**part, "vocab_size": len(tokenizer), "max_position_embeddings": 40,
                     "eos_token_id": tokenizer.eos_token_id},
        vision_config={**part, "image_size": 28, "patch_size": 14},
        projection_dim=16,
    )  # fmt: skip
    CLIPModel(config).eval().save_pretrained(folder)
    images = CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for number in range(9):
        pixels = np.random.default_rng(number).integers(0, 255, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"i{number}.png")
    write(tmp_path / "texts.jsonl", [{"id": name, "text": text} for name, text in TEXTS.items()])
    write(tmp_path / "photos.jsonl", [{"id": f"x{n}", "image": f"i{n}.png"} for n in range(9)])
    gold = [{"text": "Gold passage about the iron tower and its engineer."}, {"image": "i1.png"}]
    write(
        tmp_path / "bare.jsonl",
        [
            {"id": "a", "question": "Where is this tower?", "image": "i0.png", "answers": ["Paris"],
             "gold": gold, "note": "kept"},
            {"id": "b", "question": "What is an oven for?", "image": "i2.png", "answers": ["baking"],
             "gold": [], "distractors": [{"text": TEXTS["p3"]}]},
        ],
    )  # fmt: skip
    return tmp_path


def own_texts(name: str, texts: list[str], limit: int) -> np.ndarray:
    """Hugging Face's mean of last states, one text at a time, no padding."""
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(name).eval(), AutoTokenizer.from_pretrained(name)
    rows = []
    for text in texts:
        inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=limit)
        with torch.no_grad():
            rows.append(model(**inputs).last_hidden_state[0].mean(0).numpy())
    return np.stack(rows)


def nearest(query: np.ndarray, rows: np.ndarray, names: list[str]) -> list[str]:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return [names[at] for at in np.argsort(-(unit @ query / np.linalg.norm(query)), kind="stable")]


def test_encoders_are_hugging_faces_one_item_at_a_time(bert: str, clip: str, world: Path) -> None:
    texts = [*TEXTS.values(), "word " * 90]
    np.testing.assert_allclose(Encoder.load(bert).texts(texts), own_texts(bert, texts, 64), atol=1e-5)
    first = Encoder.load(bert, pooling="first").texts(texts[:2])
    assert not np.allclose(first, own_texts(bert, texts[:2], 64), atol=1e-3)

    from transformers import CLIPModel, CLIPProcessor

    model, processor = CLIPModel.from_pretrained(clip).eval(), CLIPProcessor.from_pretrained(clip)
    pictures = [Image.open(world / f"i{n}.png").convert("RGB") for n in range(3)]
    encoder = Encoder.load(clip)
    short = list(TEXTS.values())[:3]
    for at in range(3):
        with torch.no_grad():
            out = model(**processor(text=[short[at][:20]], images=pictures[at], return_tensors="pt"))
        image = encoder.images([lambda at=at: pictures[at] for at in (0, 1, 2)])[at]
        text = encoder.texts([words[:20] for words in short])[at]
        # CLIP's own outputs are of unit length
        np.testing.assert_allclose(image / np.linalg.norm(image), out.image_embeds[0], atol=1e-5)
        np.testing.assert_allclose(text / np.linalg.norm(text), out.text_embeds[0], atol=1e-5)
    with pytest.raises(InputError, match="texts alone"):
        Encoder.load(bert).images([lambda: pictures[0]])
    with pytest.raises(InputError, match="cannot be loaded"):
        Encoder.load(str(world / "nothing"), offline=True)


def test_mined_texts_are_the_nearest_that_are_neither_gold_nor_answers(bert: str, world: Path) -> None:
    out = world / "mined.jsonl"
    mine(world / "bare.jsonl", world / "texts.jsonl", out, Encoder.load(bert), index=world / "i.npz",
         how=Mining(k=3))  # fmt: skip
    rows = own_texts(bert, list(TEXTS.values()), 64)
    lines = {line["id"]: line for _, line in read_jsonl(out)}
    queries = own_texts(bert, ["Where is this tower?", "What is an oven for?"], 64)
    order = nearest(queries[0], rows, list(TEXTS))
    expected = [name for name in order if name not in ("p4", "p5", "p8")][:3]
    assert [piece["source"] for piece in lines["a"]["distractors"]] == [f"{name}#0" for name in expected]
    assert lines["a"]["note"] == "kept"
    order = nearest(queries[1], rows, list(TEXTS))
    expected = [name for name in order if name not in ("p3", "p6")][:3]
    found = lines["b"]["distractors"]
    assert found[0] == {"text": TEXTS["p3"]}
    assert [piece["source"] for piece in found[1:]] == [f"{name}#0" for name in expected]
    assert load_samples(out, least_distractors=3)


def test_a_second_encoder_orders_the_first_ones_finds(bert: str, clip: str, world: Path) -> None:
    out = world / "mined.jsonl"
    first, second = Encoder.load(clip), Encoder.load(bert)
    mine(world / "bare.jsonl", world / "texts.jsonl", out, first, index=world / "i.npz", images=world,
         how=Mining(k=2, depth=4, query="image"), reranker=second)  # fmt: skip
    names = [name for name in TEXTS if name not in ("p4", "p5", "p8")]
    rows = first.texts([TEXTS[name] for name in names])
    four = nearest(first.images([lambda: Image.open(world / "i0.png").convert("RGB")])[0], rows, names)[:4]
    asked = own_texts(bert, ["Where is this tower?"], 64)[0]
    two = nearest(asked, own_texts(bert, [TEXTS[name] for name in four], 64), four)[:2]
    line = next(iter(read_jsonl(out)))[1]
    assert [piece["source"] for piece in line["distractors"]] == [f"{name}#0" for name in two]


def test_mined_pictures_leave_out_gold_and_question(clip: str, world: Path) -> None:
    out = world / "mined.jsonl"
    mine(world / "bare.jsonl", world / "photos.jsonl", out, Encoder.load(clip), index=world / "i.npz",
         images=world, how=Mining(k=7, depth=7, query="image"))  # fmt: skip
    line = next(iter(read_jsonl(out)))[1]
    assert {piece["image"] for piece in line["distractors"]} == {f"i{n}.png" for n in range(2, 9)}
    with pytest.raises(InputError, match="sample a: 8 distractors asked of 7"):
        mine(world / "bare.jsonl", world / "photos.jsonl", out, Encoder.load(clip), index=world / "i.npz",
             images=world, how=Mining(k=8, depth=8, query="image"))  # fmt: skip


def test_the_index_is_built_once(bert: str, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, out, index = Encoder.load(bert), world / "mined.jsonl", world / "i.npz"
    given = (world / "bare.jsonl", world / "texts.jsonl", out, encoder)
    mine(*given, index=index, how=Mining(k=2))
    first = out.read_bytes()

    def refuse(*args: object) -> object:
        raise AssertionError("the index was built again")

    monkeypatch.setattr(Index, "build", refuse)
    mine(*given, index=index, how=Mining(k=2))
    assert out.read_bytes() == first
    write(world / "texts.jsonl", [{"id": "new", "text": "Another pool."}])
    with pytest.raises(InputError, match="another pool or encoder"):
        mine(*given, index=index, how=Mining(k=1))


def test_faiss_finds_the_same(bert: str, world: Path) -> None:
    pytest.importorskip("faiss")
    found = {}
    for backend in ("numpy", "faiss"):
        out = world / f"{backend}.jsonl"
        index, how = world / f"{backend}.npz", Mining(k=4, backend=backend)
        mine(world / "bare.jsonl", world / "texts.jsonl", out, Encoder.load(bert), index=index, how=how)
        found[backend] = out.read_bytes()
    assert found["numpy"] == found["faiss"]


def test_pools_are_cut_and_checked(world: Path) -> None:
    path = world / "pool.jsonl"
    write(path, [{"id": "long", "text": " ".join(map(str, range(25)))}])
    items = read_pool(path, 10, 4)
    assert [item.item for item in items] == [f"long#{n}" for n in range(4)]
    assert items[1].text == " ".join(map(str, range(6, 16)))
    for lines, message in (
        ([{"id": "a", "text": " "}], "line 1.*needs a 'text'"),
        ([{"id": "a", "text": "x"}] * 2, "line 2.*comes twice"),
        ([{"id": "a", "text": "x", "image": "y"}], "a text and an image"),
        ([{"id": "a", "text": "x"}, {"id": "b", "image": "y"}], "texts and pictures"),
        ([], "empty pool"),
    ):
        write(path, lines)
        with pytest.raises(InputError, match=message):
            read_pool(path, 10, 4)


def test_what_is_banned_by_hand(world: Path) -> None:
    sample = load_samples(world / "bare.jsonl", least_distractors=0)[0]
    items = read_pool(world / "texts.jsonl", 100, 20)
    # the answer, the gold, and a passage that holds the gold in other case and punctuation
    assert banned((sample,), items) == ({"p4#0", "p5#0", "p8#0"},)
    # a part of the gold alone; words in which the answer is a part of another word
    pieces = write(world / "pieces.jsonl", [
        {"id": "part", "text": "About the iron tower"}, {"id": "inside", "text": "The parisian way."},
        {"id": "cut", "text": "about the iron tow"},
    ])  # fmt: skip
    assert banned((sample,), read_pool(pieces, 100, 20)) == ({"part#0"},)


def responses(
    path: Path, texts: dict[str, dict[str, str]], alone: dict[str, list[str]] | None = None
) -> Path:
    lines: list[dict[str, object]] = [
        {"sample_id": sample, "scenario": scenario, "text": text}
        for sample, held in texts.items()
        for scenario, text in held.items()
    ]
    lines += [
        {"sample_id": sample, "distractor": number, "text": text}
        for sample, held in (alone or {}).items()
        for number, text in enumerate(held)
    ]
    return write(path, lines)


@pytest.fixture
def set_of_four(tmp_path: Path) -> Path:
    lines = [
        {"id": name, "question": "Q?", "answers": ["Rome"], "gold": [{"text": "g"}],
         "distractors": [{"text": f"d{n}"} for n in range(6)]}
        for name in "abcd"
    ]  # fmt: skip
    return write(tmp_path / "samples.jsonl", lines)


def test_gating_by_hand(set_of_four: Path, tmp_path: Path) -> None:
    """a: remembered by one. b: stays. c: failed by all with the gold. d: declined by one from memory."""
    refuse, wrong, right = "I cannot answer.", "Oslo", "Rome"
    one = responses(
        tmp_path / "one.jsonl",
        {"a": {"parametric": right, "oracle": right}, "b": {"parametric": wrong, "oracle": wrong},
         "c": {"parametric": wrong, "oracle": wrong}, "d": {"parametric": refuse, "oracle": right}},
        {name: [wrong] * 6 for name in "abcd"} | {"b": [wrong, right, *[wrong] * 4]},
    )  # fmt: skip
    two = responses(
        tmp_path / "two.jsonl",
        {name: {"parametric": wrong, "oracle": refuse if name == "c" else right} for name in "abcd"},
    )
    out = tmp_path / "kept.jsonl"
    found = gate(set_of_four, [one, two], out)
    assert [sample.sample_id for sample in load_samples(out)] == ["b", "d"]
    assert [(line["id"], line["stage"]) for line in found.samples] == [
        ("a", "I, parametric"), ("c", "III, oracle")]  # fmt: skip
    assert [(line["id"], line["distractor"]) for line in found.distractors] == [("b", 1)]
    assert [e.text for e in load_samples(out)[0].distractors] == ["d0", "d2", "d3", "d4", "d5"]
    assert found.stages == (
        "I, parametric (2 models)",
        "III, oracle (2 models)",
        "III, distractors (1 models)",
    )
    assert len(list(read_jsonl(tmp_path / "dropped.jsonl"))) == 3
    strict = gate(set_of_four, [one, two], out, rule="all_incorrect", least_distractors=6)
    assert {line["id"]: line["stage"] for line in strict.samples} == {
        "a": "I, parametric", "b": "III, distractors", "c": "III, oracle", "d": "I, parametric"}  # fmt: skip
    assert strict.kept == 0


def test_incomplete_responses_are_refused(set_of_four: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept.jsonl"
    half = responses(tmp_path / "half.jsonl", {name: {"parametric": "Oslo"} for name in "abc"})
    with pytest.raises(InputError, match=r"half\.jsonl: no response to d under parametric"):
        gate(set_of_four, [half], out)
    other = responses(tmp_path / "other.jsonl", {name: {"adversarial": "Oslo"} for name in "abcd"})
    with pytest.raises(InputError, match="no response under parametric or oracle"):
        gate(set_of_four, [other], out)
    alone = responses(tmp_path / "alone.jsonl", {}, {"a": ["Oslo"] * 5})
    with pytest.raises(InputError, match="distractor 5 of a alone"):
        gate(set_of_four, [alone], out)
    (tmp_path / "x").mkdir()
    twin = responses(tmp_path / "x/half.jsonl", {"a": {"parametric": "Oslo"}})
    with pytest.raises(InputError, match="share a name"):
        gate(set_of_four, [half, twin], out)


def test_responses_to_a_distractor_alone_are_checked(set_of_four: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "kept.jsonl", tmp_path / "alone.jsonl"
    line = {"sample_id": "a", "distractor": 0, "text": "Oslo"}
    for second, message in (
        (line, "line 2: a second response to distractor 0 of 'a'"),
        ({**line, "distractor": True}, "line 2: sample 'a' has no distractor True"),
        ({**line, "distractor": 1, "text": 5}, "line 2: 'text' must be a text"),
    ):
        write(path, [line, second])
        with pytest.raises(InputError, match=message):
            gate(set_of_four, [path], out)
    # a sample without distractors has none to drop
    bare = {"id": "a", "question": "Q?", "answers": ["Rome"], "gold": [{"text": "g"}]}
    samples = write(tmp_path / "two.jsonl", [bare, {**bare, "id": "b", "distractors": [{"text": "d"}]}])
    write(path, [{"sample_id": "b", "distractor": 0, "text": "Rome"}])
    gate(samples, [path], out, least_distractors=0)
    assert [line.get("distractors") for _, line in read_jsonl(out)] == [[], []]


def test_gating_writes_over_nothing_it_reads(set_of_four: Path, tmp_path: Path) -> None:
    answers = responses(tmp_path / "dropped.jsonl", {name: {"oracle": "Rome"} for name in "abcd"})
    held = set_of_four.read_bytes(), answers.read_bytes()
    for out, given in ((set_of_four, answers), (answers, answers), (tmp_path / "kept.jsonl", answers)):
        with pytest.raises(InputError, match=r"would overwrite its input|file of what is dropped"):
            gate(set_of_four, [given], out)
    assert (set_of_four.read_bytes(), answers.read_bytes()) == held


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["deflection", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_from_the_command_line(bert: str, world: Path) -> None:
    """Mined, asked by distractor, answered, gated."""
    mined, prompts, kept = world / "mined.jsonl", world / "prompts.jsonl", world / "kept.jsonl"
    out = run("mine", world / "bare.jsonl", "--pool", world / "texts.jsonl", "--encoder", bert, "--k", 2,
              "--out", mined)  # fmt: skip
    assert "2 samples with 2 more distractors each, of 8 items" in out
    assert (world / "mined.index.npz").exists()
    assert "5 prompts" in run("questions", mined, "--distractors", "--out", prompts)
    lines = [line for _, line in read_jsonl(prompts)]
    assert [line["example_id"] for line in lines] == [
        "a-distractor0", "a-distractor1", "b-distractor0", "b-distractor1", "b-distractor2"]  # fmt: skip
    assert [sum(part["type"] == "image" for part in line["messages"][-1]["content"]) for line in lines] == [
        1
    ] * 5
    answered = write(world / "model.jsonl", [{**line, "text": "baking"} for line in lines])
    told = run("gate", mined, "--responses", answered, "--out", kept, "--least-distractors", 1)
    assert "1 samples stay" in told
    (sample,) = load_samples(kept, least_distractors=1)
    assert sample.sample_id == "a"
    recorded = write(
        world / "model.jsonl", [{**line, "text": "baking", "outcome": Outcome.INCORRECT} for line in lines]
    )
    assert "2 samples stay" in run(
        "gate", mined, "--responses", recorded, "--out", kept, "--least-distractors", 1
    )


@pytest.mark.parametrize("command", ["make", "run", "answer", "mine", "gate", "questions", "judge", "score"])
def test_help_teaches(command: str) -> None:
    assert len(run(command, "--help").splitlines()) > 10
