"""The local judge on a tiny random Llama: plumbing only, nothing sensible is answered."""

from pathlib import Path

import pytest

from probekit.errors import InputError
from probekit.judges.base import Question, Unread
from probekit.judges.hf import HuggingFaceJudge
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
