"""Prompts with none, one or several pictures among texts, against Hugging Face's own way with the chat."""

import numpy as np
import pytest
import torch
from PIL import Image

from probekit.benchmarks.example import Message, Picture, Text
from probekit.captures import AttentionMass, HiddenState, Logits, TokenStatistics
from probekit.errors import FamilyError, InputError
from probekit.families import Prompter, PromptTemplate, load
from probekit.families.conversation import chat
from probekit.families.prompting import AFTER, IMAGE
from probekit.families.tiny import Size, make
from probekit.forward.generate import Generator, Question
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

FAMILIES = (
    "llava",
    "llava_onevision",
    "qwen2_5_vl",
    "qwen3_vl",
    "internvl",
    "idefics3",
    "gemma3",
    "aya_vision",
    "pixtral",
)
CAPTURES = (
    Logits(form="full"),
    HiddenState(layer="mid", read_at="query", window=1),
    TokenStatistics(),
    AttentionMass(window=1),
)
SIZES = ((60, 60), (112, 56), (40, 90), (70, 70))


def pixels(seed):
    values = np.random.default_rng(seed).integers(0, 255, (*SIZES[seed % len(SIZES)], 3), dtype=np.uint8)
    return Image.fromarray(values)


def user(*parts):
    return Message("user", tuple(Picture() if part is None else Text(part) for part in parts))


THREE = (user(None, "Evidence 1 is this picture:", None, "Evidence 2: a text.", None, "What is it?"),)
WORDS = (user(None, "Evidence 1 is this picture:", None, "Another text.", None, "Where is it?"),)
TURNS = (
    user(None, "Is there a dog?"),
    Message("assistant", (Text("Yes."),)),
    user("And here: ", None, "Where is it?"),
)
ONE = (user(None, "What is it?"),)


def conversation(vlm):
    """Two turns with a picture each; the tiny Pixtral's template writes no answers, so one turn there."""
    pixtral = vlm.processor.tokenizer.convert_tokens_to_ids("[IMG]") == vlm.image_token_id
    return (THREE, (3, 1, 1)) if pixtral else (TURNS, (3, 1))


NONE = (user("First a text.", "Then a question?"),)


@pytest.fixture(scope="module", params=FAMILIES)
def vlm(request, tmp_path_factory):
    return load(str(make(request.param, tmp_path_factory.mktemp(request.param), Size())), dtype="float32")


def forced(name, messages, seeds, length=7, ids=None):
    ids = ids or tuple(int(i) for i in np.random.default_rng(list(name.encode())).integers(40, 250, length))
    targets = tuple(Target(RowKey(name, n), n, n) for n in range(len(ids)))
    opened = tuple(lambda seed=seed: pixels(seed) for seed in seeds) or None
    return Forced(name, opened, "+".join(map(str, seeds)), messages, ids, targets)


def hugging_face(vlm, messages, seeds):
    """What Hugging Face's processor makes of the chat with its pictures."""
    told = chat(messages)
    pictures = iter(seeds)
    for message in told:
        for part in message["content"]:
            if part["type"] == "image":
                part["image"] = pixels(next(pictures))
    return vlm.processor.apply_chat_template(
        told, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )


def eager(vlm, text, seeds):
    """Hugging Face's eager logits, mid states and attention of a text, from its own processor's inputs."""
    inputs = hugging_face(vlm, text.question, seeds)
    prompt = inputs["input_ids"].shape[1]
    for key, value in list(inputs.items()):
        if value.shape == (1, prompt):
            fill = {"input_ids": text.continuation, "attention_mask": [1] * len(text.continuation)}
            tail = fill.get(key, [vlm.family.caption_type] * len(text.continuation))
            inputs[key] = torch.cat([value, torch.tensor([tail])], 1)
    vlm.decoder.set_attn_implementation("eager")
    with torch.no_grad():
        out = vlm.model(
            **inputs, output_hidden_states=True, output_attentions=True, use_cache=False, logits_to_keep=0
        )
    return inputs["input_ids"][0].tolist(), prompt, out


def check(vlm, text, seeds, traced, rows):
    ids, prompt, out = eager(vlm, text, seeds)
    places = [prompt - 1 + n for n in range(len(text.continuation))]
    mass = torch.stack([layer[0] for layer in out.attentions])[:, :, places].transpose(1, 2).transpose(0, 1)
    image = torch.tensor([word == vlm.image_token_id for word in ids])
    expected = {
        CAPTURES[0]: out.logits[0, places],
        CAPTURES[1]: out.hidden_states[vlm.depth // 2][0, places],
    }
    for capture, wanted in expected.items():
        torch.testing.assert_close(traced.arrays[capture][rows], wanted, atol=1e-4, rtol=1e-4)
    found = traced.arrays[CAPTURES[3]][rows][:, 0, ..., 2]
    torch.testing.assert_close(found, mass[..., image].sum(-1), atol=1e-5, rtol=1e-4)
    assert (traced.image_tokens[rows] == int(image.sum())).all()
    return out.logits[0, places]


@pytest.mark.parametrize("sharing", [None, False])
def test_captures_of_several_pictures_equal_hugging_faces_forward(vlm, sharing):
    """Three, two in two turns, one: in one batch, two continuations over the first, and the first pictures
    among other words, which are a tree of their own."""
    texts = [
        forced("three", THREE, (0, 1, 2)),
        forced("other", THREE, (0, 1, 2), length=5),
        forced("turns", *conversation(vlm)),
        forced("one", ONE, (2,)),
        forced("words", WORDS, (0, 1, 2)),
    ]
    shown = [(0, 1, 2), (0, 1, 2), conversation(vlm)[1], (2,), (0, 1, 2)]
    tracer = Tracer(vlm, Prompter(vlm), CAPTURES, sharing=sharing)
    traced = tracer.run(texts)
    start = 0
    for text, seeds in zip(texts, shown, strict=True):
        rows = slice(start, start + len(text.targets))
        check(vlm, text, seeds, traced, rows)
        start = rows.stop
    if tracer.sharing:
        lengths = [
            len(hugging_face(vlm, t.question, s)["input_ids"][0]) for t, s in zip(texts, shown, strict=True)
        ]
        assert tracer.computed == sum(lengths) - lengths[1] + sum(len(t.continuation) for t in texts)


def test_the_order_of_pictures_is_kept(vlm):
    """The same three pictures in another order are another prompt, also beside the first in one batch."""
    texts = [forced("three", THREE, (0, 3, 0)), forced("three", THREE, (3, 0, 0))]
    traced = Tracer(vlm, Prompter(vlm), CAPTURES).run(texts)
    length = len(texts[0].targets)
    wanted = [
        check(vlm, texts[number], seeds, traced, slice(number * length, (number + 1) * length))
        for number, seeds in enumerate([(0, 3, 0), (3, 0, 0)])
    ]
    if vlm.family.name != "gemma3":  # whose random member's logits hardly depend on its pictures
        assert not torch.allclose(*wanted, atol=1e-3)


def test_prompts_are_those_of_the_processor(vlm):
    for messages, seeds in ((THREE, (0, 1, 2)), conversation(vlm), (ONE, (2,)), (NONE, ())):
        prompt = Prompter(vlm).encode([messages], [[pixels(seed) for seed in seeds]]).prompts[0]
        assert list(prompt.ids) == hugging_face(vlm, messages, seeds)["input_ids"][0].tolist()
        kinds = prompt.groups.tolist()
        runs = sum(
            kind == IMAGE and before != IMAGE for kind, before in zip(kinds, [-1, *kinds], strict=False)
        )
        assert (runs > 0) == bool(seeds)
        if len(seeds) > 1:
            assert AFTER in kinds[kinds.index(IMAGE) : len(kinds) - kinds[::-1].index(IMAGE)]


@pytest.mark.parametrize("share", [False, True])
def test_answers_equal_hugging_faces_own_generation(vlm, share):
    """Alone, and where questions about the same pictures in the same order are decoded over one cache."""
    other = (user(None, "Evidence 1 is this picture:", None, "Another text.", None, "Where is it?"),)
    asked = [
        ("three", THREE, (0, 1, 2)),
        ("one", ONE, (2,)),
        ("turns", *conversation(vlm)),
        ("other", other, (0, 1, 2)),
    ]
    questions = [
        Question(
            name,
            "x",
            tuple(lambda s=s: pixels(s) for s in seeds),
            messages,
            "+".join(map(str, seeds)) * share,
        )
        for name, messages, seeds in asked
    ]
    answers = Generator(vlm, Prompter(vlm), 6).run(questions)
    for answer, (_, messages, seeds) in zip(answers, asked, strict=True):
        inputs = hugging_face(vlm, messages, seeds)
        with torch.no_grad():
            out = vlm.model.generate(**inputs, max_new_tokens=6, do_sample=False)
        expected = out[0, inputs["input_ids"].shape[1] :].tolist()
        assert list(answer.token_ids) == expected[: len(answer.token_ids)]
        assert answer.prompt_tokens == inputs["input_ids"].shape[1]


def test_a_text_without_pictures_is_generated_from_and_forced(vlm):
    inputs = hugging_face(vlm, NONE, ())
    answer = Generator(vlm, Prompter(vlm), 4).run([Question("none", "x", None, NONE)])[0]
    with torch.no_grad():
        out = vlm.model.generate(**inputs, max_new_tokens=4, do_sample=False)
    assert list(answer.token_ids) == out[0, inputs["input_ids"].shape[1] :].tolist()[: len(answer.token_ids)]
    text = forced("none", NONE, ())
    check(vlm, text, (), Tracer(vlm, Prompter(vlm), CAPTURES).run([text]), slice(0, len(text.targets)))


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return load(str(make("llava", tmp_path_factory.mktemp("llava"), Size())), dtype="float32")


def test_a_processor_of_one_picture_says_so(tmp_path):
    vlm = load(str(make("instructblip", tmp_path, Size())), dtype="float32")
    with pytest.raises(FamilyError, match="InstructBlipProcessor reads one picture beside each text"):
        Prompter(vlm, PromptTemplate("<image>{q}")).encode([THREE], [[pixels(seed) for seed in (0, 1, 2)]])


def test_pieces_of_pictures_that_do_not_add_up_are_refused():
    """Two sets of two pictures with 3 tokens each; a prompt that holds one token too many."""
    from probekit.families.vision import _by_picture

    pieces = [torch.full((3, 2), float(n)) for n in range(4)]
    features, parts = _by_picture(pieces, 2, [3, 9])
    assert parts == (1, 3)
    assert [f[:, 0].tolist() for f in features] == [[0.0] * 3, [1.0] * 3 + [2.0] * 3 + [3.0] * 3]
    with pytest.raises(FamilyError, match="prompts hold 6, 7 image tokens.*pieces of 3, 3, 3, 3"):
        _by_picture(pieces, 2, [6, 7])


def test_places_and_pictures_must_agree(llava):
    with pytest.raises(InputError, match="3 places for pictures, 2 are given"):
        Prompter(llava).encode([THREE], [[pixels(0), pixels(1)]])


def test_a_template_of_ones_own_keeps_pictures_between_texts(llava):
    text, headless = Prompter(llava, PromptTemplate("USER: <image>\n{q} ASSISTANT:")).text(THREE, 3)
    assert headless == (
        "USER: <image>\nEvidence 1 is this picture:<image>Evidence 2: a text.<image>What is it?"
    )
    assert text == headless + " ASSISTANT:"
    assert Prompter(llava, PromptTemplate("<image>{q}")).text(NONE, 0)[0] == "First a text.Then a question?"
    with pytest.raises(InputError, match="one user turn, not 3 messages"):
        Prompter(llava, PromptTemplate("<image>{q}")).text(TURNS, 2)


def test_a_prompt_beyond_the_context_is_refused_with_its_sample_and_length():
    vlm = load("organism", dtype="float32")
    long = (user(None, "There is a dog on the left. " * 80),)
    asked = [Question("short", "x", lambda: pixels(0), ONE), Question("s9", "x", lambda: pixels(0), long)]
    length = hugging_face(vlm, long, (0,))["input_ids"].shape[1]
    with pytest.raises(InputError, match=f"a prompt of {length} tokens and an answer of 4 .*512") as error:
        Generator(vlm, Prompter(vlm), 4).run(asked)
    assert error.value.where == "sample s9"


def test_a_text_beyond_the_context_is_refused_before_it_is_traced():
    vlm = load("organism", dtype="float32")
    texts = [forced("short", ONE, (0,)), forced("s9", ONE, (1,), length=500)]
    prompt = hugging_face(vlm, ONE, (1,))["input_ids"].shape[1]
    tracer = Tracer(vlm, Prompter(vlm), CAPTURES)
    with pytest.raises(InputError, match=f"a prompt of {prompt} tokens and an answer of 500 .*512") as error:
        tracer.run(texts)
    assert error.value.where == "sample s9"
    assert tracer.computed == 0
