"""Answers decoded in prefix trees are those of Hugging Face's own generation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from probekit.errors import InputError
from probekit.families import Prompter, Vlm, load
from probekit.forward import decode as trees
from probekit.forward.generate import Generator, Question


def picture(seed, size=(60, 60)):
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), dtype=np.uint8)
    return lambda: Image.fromarray(pixels)


ASKED = ("What is this?", "Is there a dog?", "A longer question, is it not, about what is there?", "Why?")


def questions(keys=("a", "b", "a", "a", "b", "c")):
    seeds = {"a": (7, (60, 60)), "b": (8, (56, 112)), "c": (9, (60, 60))}
    return [
        Question(f"e{n}", key, picture(*seeds[key]), ASKED[n % len(ASKED)], key) for n, key in enumerate(keys)
    ]


def alone(asked):
    return [replace(question, image_key="") for question in asked]


def test_answers_are_those_of_hugging_faces_own_generation(vlm, prompter):
    generator = Generator(vlm, prompter, 12)
    found = generator.run(questions())
    for question, answer in zip(alone(questions()), found, strict=True):
        assert generator.run([question])[0] == answer


def test_each_prompt_token_goes_through_the_model_once(vlm, prompter):
    seen = []
    handle = vlm.layers[0].register_forward_pre_hook(
        lambda _, given, kept: seen.append((given or [kept["hidden_states"]])[0].shape[:2]), with_kwargs=True
    )
    try:
        Generator(vlm, prompter, 3).run(questions(("a", "a", "a", "a")))
    finally:
        handle.remove()
    prompts = [prompter.encode([text], [[picture(7)()]]).prompts[0] for text in ASKED]
    prefixes = {prompt.ids[:end] for prompt in prompts for end in range(1, len(prompt) + 1)}
    assert tuple(seen[0]) == (1, len(prefixes))
    assert len(prefixes) < sum(map(len, prompts))
    assert all(tuple(shape) == (1, 4) for shape in seen[1:])


def test_an_answer_that_ends_does_not_change_the_others(vlm, prompter, monkeypatch):
    generator = Generator(vlm, prompter, 10)
    whole = generator.run(questions(("a", "a", "a")))
    # the third word of one answer that no other holds before it has ended becomes an end token
    end = next(a.token_ids[2] for a in whole if all(a.token_ids[2] not in b.token_ids[:2] for b in whole))
    monkeypatch.setattr(Generator, "_ends", property(lambda self: frozenset({end})))
    for before, after in zip(whole, generator.run(questions(("a", "a", "a"))), strict=True):
        cut = before.token_ids.index(end) if end in before.token_ids else None
        assert after.token_ids == before.token_ids[:cut]
        assert after.finished == (cut is not None)


@pytest.mark.parametrize("keys", [("a", "a", "a"), ("a", "b", "c")])
def test_an_answer_is_cut_before_a_placeholder_of_pictures(vlm, prompter, monkeypatch, keys):
    """No later pass could be given it back: the model would look for another picture."""
    generator = Generator(vlm, prompter, 10)
    whole = generator.run(questions(keys))
    word = whole[0].token_ids[3]
    monkeypatch.setattr(Vlm, "placeholders", property(lambda self: frozenset({word})))
    for before, after in zip(whole, generator.run(questions(keys)), strict=True):
        cut = before.token_ids.index(word) if word in before.token_ids else None
        assert after.token_ids == before.token_ids[:cut]
        assert after.finished == (before.finished and cut is None)
    assert word not in generator.run(questions(keys))[0].token_ids


def test_a_seen_sibling_would_be_noticed(llava, monkeypatch):
    from probekit.forward import inputs

    generator = Generator(llava, Prompter(llava), 12)
    expected = generator.run(questions())
    monkeypatch.setattr(inputs, "visible", lambda tree: np.tril(np.ones((len(tree), len(tree)), dtype=bool)))
    assert generator.run(questions()) != expected


def test_the_organism_answers_alike_in_trees_and_alone():
    from probekit.organism.questions import presence_text

    vlm = load("organism")
    generator = Generator(vlm, Prompter(vlm), 20)
    asked = [
        Question(f"{seed}.{category}", str(seed), picture(seed), presence_text(category, form), str(seed))
        for seed in (1, 2)
        for form, category in enumerate(("dog", "cat", "bench"))
    ]
    assert generator.run(asked) == generator.run(alone(asked))


def test_decoding_that_a_checkpoint_steers_is_left_to_hugging_face(vlm, prompter, monkeypatch):
    called = []
    decode = trees.decode
    monkeypatch.setattr("probekit.forward.generate.decode", lambda *a: called.append(1) or decode(*a))
    generator = Generator(vlm, prompter, 4)
    generator.run(questions())
    assert called == [1]
    monkeypatch.setattr(vlm.model.generation_config, "no_repeat_ngram_size", 2)
    generator.run(questions())
    monkeypatch.undo()
    monkeypatch.setattr("probekit.forward.generate.decode", lambda *a: called.append(1) or decode(*a))
    generator.run(questions(("a", "b", "c")))
    generator.run(alone(questions()))
    assert called == [1]


def test_a_prompt_without_room_is_named(vlm, prompter, monkeypatch):
    monkeypatch.setattr(vlm.config.get_text_config(), "max_position_embeddings", 20)
    with pytest.raises(InputError, match="sample e0"):
        Generator(vlm, prompter, 4).run(questions())


def test_several_rows_of_several_widths_decode_together(vlm, prompter):
    generator = Generator(vlm, prompter, 6)
    for keys in (("a", "b", "b", "b"), ("c", "c", "a")):
        found = generator.run(questions(keys))
        assert found == tuple(generator.run([question])[0] for question in alone(questions(keys)))
    assert torch.is_grad_enabled()
