"""Greedy generation: batch and single agree, ids are kept, replaying gives them back."""

import torch

from probekit.captures import HiddenState, TokenStatistics
from probekit.families import Prompter
from probekit.forward.generate import Generator, Question
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey


def questions(texts):
    return [Question(t.example_id, t.image_key, t.image, t.question) for t in texts]


def test_a_batch_answers_like_single_questions(vlm, prompter, texts):
    generator = Generator(vlm, prompter, 8)
    together = generator.run(questions(texts))
    for question, answer in zip(questions(texts), together, strict=True):
        assert generator.run([question])[0] == answer


def test_answers_equal_hugging_faces_own_generation(vlm, prompter, texts):
    text = texts[0]
    answer = Generator(vlm, prompter, 8).run(questions([text]))[0]
    batch = prompter.encode([text.question], [[text.image()]])
    ids = torch.tensor([batch.prompts[0].ids])
    types = {k: torch.tensor([v]) for k, v in batch.prompts[0].token_types.items()}
    with torch.no_grad():
        out = vlm.model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), **types, **batch.vision,
            max_new_tokens=8, do_sample=False,
        )  # fmt: skip
    expected = out[0, ids.shape[1] :].tolist()
    assert list(answer.token_ids) == expected[: len(answer.token_ids)]
    assert answer.text == vlm.tokenizer.decode(answer.token_ids, skip_special_tokens=True)
    assert answer.prompt_tokens == ids.shape[1]


def test_replaying_greedy_answers_gives_them_back_with_the_states_that_predicted_them(vlm, prompter, texts):
    """Greedy decoding with a cache equals the teacher-forced pass; the state at m + t - 1 predicts t."""
    answers = Generator(vlm, prompter, 10).run(questions(texts))
    forced = [
        Forced(t.example_id, t.image, t.image_key, t.question, a.token_ids,
               tuple(Target(RowKey(t.example_id, n), n, n) for n in range(len(a.token_ids))))
        for t, a in zip(texts, answers, strict=True)
        if a.token_ids
    ]  # fmt: skip
    query = HiddenState(layer="last", read_at="query", window=1)
    own = HiddenState(layer="last", read_at="self", window=1)
    traced = Tracer(vlm, prompter, (query, own, TokenStatistics())).run(forced)
    assert all(equal == tokens for equal, tokens in traced.agreement)
    words = torch.tensor([word for text in forced for word in text.continuation])
    assert torch.equal(vlm.logits(traced.arrays[query]).argmax(-1), words)
    assert not torch.equal(vlm.logits(traced.arrays[own]).argmax(-1), words)


def test_prompter_hash_names_the_template(vlm):
    from probekit.families import PromptTemplate

    assert Prompter(vlm).template_hash == Prompter(vlm).template_hash
    other = Prompter(vlm, PromptTemplate("<image>{q}")).template_hash
    assert other != Prompter(vlm).template_hash
