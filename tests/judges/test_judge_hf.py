"""The local judge on a tiny random Llama: plumbing only, nothing sensible is answered."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.errors import InputError
from probekit.judges.base import Question, Unread
from probekit.judges.hf import HuggingFaceJudge
from probekit.judges.pictures import Picture
from probekit.judges.usage import ModelUsageJudge
from probekit.judges.verdict import UsageItem
from probekit.labels import Usage

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = [
    "<s>",
    "</s>",
    "<unk>",
    "user",
    "assistant",
    ":",
    "a",
    "dog",
    "cat",
    "no",
    "yes",
    "one",
    "two",
    "three",
]
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] }} : {{ m['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}assistant :{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    path = tmp_path_factory.mktemp("tiny-llama")
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    # This tokenizer adds a BOS of its own, as Llama's does; the template writes one too.
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(path)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    return path


ASKED = [
    Question("echo", text) for text in ("a dog", "a cat no yes one two three a dog", "no", "one two a cat")
]


def test_batched_answers_equal_single_ones_and_are_repeatable(folder: Path) -> None:
    judge = HuggingFaceJudge(str(folder), device="cpu", batch_size=3, max_new_tokens=8)
    batched = dict(judge.answer(ASKED))
    single = dict(HuggingFaceJudge(str(folder), device="cpu", batch_size=1, max_new_tokens=8).answer(ASKED))
    assert batched == single == dict(judge.answer(ASKED))
    assert sorted(batched) == [0, 1, 2, 3]
    assert any(opinion.text for opinion in batched.values())


def test_answers_equal_greedy_generation_from_one_bos(folder: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    text = "<s> user : one two a cat assistant :"
    ids = torch.tensor([[WORDS.index(word) for word in text.split()]])
    out = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=8, pad_token_id=1
    )
    expected = tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True).strip()
    judge = HuggingFaceJudge(str(folder), device="cpu", max_new_tokens=8)
    assert dict(judge.answer(ASKED[3:]))[0].text == expected


def test_a_model_that_cannot_answer_leaves_mentions_ambiguous_with_a_reason(folder: Path) -> None:
    judge = ModelUsageJudge(HuggingFaceJudge(str(folder), device="cpu", max_new_tokens=4))
    (verdict,) = judge.judge([UsageItem("a dog", 2, 5, "dog")])
    assert verdict.usage is Usage.AMBIGUOUS
    assert verdict.note.startswith("unread: ")
    assert judge.source == f"hf:{folder}"
    assert not isinstance(verdict, Unread)


def test_no_model_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot load the judge"):
        list(HuggingFaceJudge(str(tmp_path / "nothing"), device="cpu").answer(ASKED))


def test_a_model_without_eyes_is_not_asked_about_a_picture(folder: Path, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    asked = [*ASKED, Question("echo", "a dog", (Picture.of(tmp_path / "a.png"),))]
    with pytest.raises(InputError, match="reads text only") as caught:
        list(HuggingFaceJudge(str(folder), device="cpu").answer(asked))
    assert caught.value.where == str(folder)


SEEING = ("llava", "qwen2_5_vl", "gemma3", "mllama")


@pytest.fixture(scope="module", params=SEEING)
def seeing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from probekit.families.tiny import make

    return make(request.param, tmp_path_factory.mktemp("seeing") / request.param)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Picture]:
    folder = tmp_path_factory.mktemp("pictures")
    found = []
    for seed in range(3):
        pixels = np.random.default_rng(seed).integers(0, 255, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((80, 80)).save(folder / f"{seed}.png")
        found.append(Picture.of(folder / f"{seed}.png"))
    return found


def test_pictures_answers_equal_the_models_own_greedy_generation(
    seeing: Path, pictures: list[Picture]
) -> None:
    """One by one through the processor's own chat template, against batches of unequal length."""
    processor = transformers.AutoProcessor.from_pretrained(seeing)
    model = transformers.AutoModelForImageTextToText.from_pretrained(seeing, dtype="auto").eval()
    asked = [
        Question("q", "one two", (pictures[0],)),
        Question("q", "what is it that is shown here", (pictures[1],)),
        Question("q", "no picture"),
        Question("q", "one two", (pictures[2],)),
        Question("q", "which", (pictures[0], pictures[1])),
    ]
    expected = {}
    for position, question in enumerate(asked):
        content = [{"type": "image", "image": Image.open(p.path)} for p in question.pictures]
        message = [{"role": "user", "content": [*content, {"type": "text", "text": question.content}]}]
        inputs = processor.apply_chat_template(
            message, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        out = model.generate(**inputs, do_sample=False, max_new_tokens=6)
        fresh = out[0, inputs["input_ids"].shape[1] :]
        expected[position] = processor.decode(fresh, skip_special_tokens=True).strip()
    judge = HuggingFaceJudge(str(seeing), device="cpu", batch_size=3, max_new_tokens=6)
    found = {position: opinion.text for position, opinion in judge.answer(asked)}
    assert found == expected
    assert len(set(found.values())) > 2, "the answers must depend on what is asked"


def test_a_model_that_sees_is_right_about_what_was_drawn(tmp_path: Path) -> None:
    """The embedded model as the judge: it says yes to what is in a picture more often than to what is not."""
    from probekit.organism import path
    from probekit.organism.questions import presence_text
    from probekit.organism.scenes import make_scene

    asked, truth = [], []
    for seed in range(900_000, 900_024):
        scene = make_scene(seed)
        plain = [thing.category for thing in scene.things if not (thing.faint or thing.hidden)]
        if not plain:
            continue
        scene.picture().save(tmp_path / f"{seed}.png")
        picture = Picture.of(tmp_path / f"{seed}.png")
        absent = next(c for c in ("boat", "oven", "cow", "remote") if c not in scene.present)
        for category, there in ((plain[0], True), (absent, False)):
            asked.append(Question("presence", presence_text(category), (picture,)))
            truth.append(there)
    judge = HuggingFaceJudge(str(path()), device="cpu", batch_size=16, max_new_tokens=3)
    said = [opinion.text.lower().startswith("yes") for _, opinion in sorted(judge.answer(asked))]
    right = np.mean([a == b for a, b in zip(said, truth, strict=True)])
    assert len(asked) >= 30
    assert right > 0.8


@pytest.mark.parametrize("family", ["paligemma", "instructblip"])
def test_a_model_that_takes_no_text_alone_is_refused_and_one_that_does_is_named(
    family: str, tmp_path: Path
) -> None:
    from probekit.families.tiny import make

    judge = HuggingFaceJudge(str(make(family, tmp_path / family)), device="cpu", max_new_tokens=3)
    with pytest.raises(InputError, match="takes no text without a picture") as caught:
        list(judge.answer(ASKED))
    assert caught.value.where == str(tmp_path / family)
    assert "made for conversation" in str(caught.value.hint)
    Image.new("RGB", (56, 56), "red").save(tmp_path / "a.png")
    shown = Question("echo", "a dog", (Picture.of(tmp_path / "a.png"),))
    assert len(dict(judge.answer([shown]))) == 1


def test_a_text_that_is_too_long_keeps_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with one text says nothing about texts in general."""
    from probekit.families.tiny import make
    from probekit.judges.hf_seeing import load_seeing

    held = load_seeing(str(make("llava", tmp_path / "llava")), None, "cpu")
    generate = held.model.generate

    def short_alone(**inputs: object) -> object:
        if inputs["input_ids"].shape[1] > 100:
            raise ValueError("the prompt is longer than the model's context")
        return generate(**inputs)

    monkeypatch.setattr(held.model, "generate", short_alone)
    assert len(held.answers([Question("echo", "a dog")], 2)) == 1
    with pytest.raises(ValueError, match="longer than the model's context") as caught:
        held.answers([Question("echo", "a dog " * 200)], 2)
    assert not isinstance(caught.value, InputError)
