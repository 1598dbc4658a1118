"""What is shipped: the weights of the card, loaded as any Hugging Face VLM is."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from probekit.errors import ContractError
from probekit.files import read_json
from probekit.organism import make_scene, path, questions, scene_seed
from probekit.organism.answer_figures import prefers_yes
from probekit.organism.card import check_weights
from probekit.organism.generation import Organism
from probekit.organism.settings import Settings
from probekit.organism.usage import usage_of
from probekit.organism.vocabulary import find_forms


@pytest.fixture(scope="module")
def organism() -> Organism:
    return Organism.load(path())


def test_light_import() -> None:
    code = (
        "import sys, probekit.organism, probekit.cli.organism;"
        "print([m for m in ('torch', 'transformers', 'nnsight') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_weights_are_those_of_the_card() -> None:
    assert len(check_weights(path())) == 64


def test_changed_weights_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes((path() / "card.json").read_bytes())
    changed = bytearray((path() / "model.safetensors").read_bytes())
    changed[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(changed)
    with pytest.raises(ContractError, match="SHA-256"):
        check_weights(tmp_path)


def test_the_card_is_of_the_default_recipe() -> None:
    card = read_json(path() / "card.json")
    assert card["settings"] == Settings(seed=card["seed"]).as_dict()
    assert card["parameters"] < 2_000_000


def test_one_bos_and_float32(organism: Organism) -> None:
    inputs = organism.inputs([make_scene(1).image], ["Describe the image."])
    ids = inputs["input_ids"][0].tolist()
    assert ids.count(organism.processor.tokenizer.bos_token_id) == 1
    assert ids.count(organism.model.config.image_token_id) == 36
    assert organism.model.dtype == torch.float32


def test_yes_and_no_are_single_tokens(organism: Organism) -> None:
    encode = organism.processor.tokenizer
    for word in (" Yes", " No", "Yes", "No", "yes", "no", " yes", " no"):
        assert len(encode(word, add_special_tokens=False).input_ids) == 1


def test_answers_beat_chance(organism: Organism) -> None:
    pairs = []
    for index in range(30):
        scene = make_scene(scene_seed(3, index))
        pairs += [(scene, question) for question in questions(scene, "random", pairs=1)]
    said = prefers_yes(organism, [s for s, _ in pairs], [q for _, q in pairs])
    right = sum(yes == (q.answer == "yes") for yes, (_, q) in zip(said, pairs, strict=True))
    # 60 fair coins show 42 heads or more once in 700 times.
    assert len(pairs) == 60
    assert right >= 42


def test_captions_are_sentences_about_the_vocabulary(organism: Organism) -> None:
    scenes = [make_scene(scene_seed(4, index)) for index in range(8)]
    answers = organism.answer([scene.image for scene in scenes], ["Describe the image."] * len(scenes))
    for answer in answers:
        assert answer.text.strip().endswith(".")
        mentions = find_forms(answer.text)
        assert mentions
        for start, end, _ in mentions:
            assert usage_of(answer.text, start, end)
            piece = answer.pieces[answer.token_at(start, end)].strip().lower()
            assert answer.text[start:end].lower().startswith(piece)
