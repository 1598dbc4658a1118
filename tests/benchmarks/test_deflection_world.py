"""Samples in the embedded model's world: what the evidence says, shows and does not say; words it knows."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.deflection import Evidence, Sample, Scenario, load_samples, pose
from probekit.benchmarks.deflection_wording import ORGANISM_WORDING, Wording
from probekit.benchmarks.deflection_world import KINDS, SAMPLES, WORDING, make_deflection
from probekit.benchmarks.example import Picture, Text
from probekit.errors import InputError
from probekit.organism.images import scene_seed
from probekit.organism.questions import presence_text
from probekit.organism.scenes import make_scene
from probekit.organism.sentences import PLACES
from probekit.organism.vocabulary import CATEGORIES, find_forms

PER_KIND = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("set")
    assert make_deflection(out, PER_KIND, seed=4) == PER_KIND * len(KINDS) == PER_KIND * 12
    return out


@pytest.fixture(scope="module")
def samples(made: Path) -> tuple[Sample, ...]:
    return load_samples(made / SAMPLES)


@pytest.fixture(scope="module")
def scenes() -> dict[bytes, object]:
    """Every scene of the seed that was near, by its pixels."""
    found = [make_scene(scene_seed(4, number)) for number in range(700)]
    return {scene.image.tobytes(): scene for scene in found}


def asked_about(sample: Sample) -> str:
    (category,) = {c for _, _, c in find_forms(sample.question)}
    return category


def pixels(made: Path, name: str) -> bytes:
    return np.asarray(Image.open(made / "images" / name)).tobytes()


def test_every_kind_has_its_samples_and_five_distractors(samples: tuple[Sample, ...]) -> None:
    assert [kind for kind in KINDS for _ in range(PER_KIND)] == [sample.kind for sample in samples]
    assert all(len(sample.gold) == 1 and len(sample.distractors) == 5 for sample in samples)
    assert len({sample.question for sample in samples}) > 12


def test_the_same_seed_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    make_deflection(tmp_path, PER_KIND, seed=4)
    for path in sorted(made.rglob("*.*")):
        assert (tmp_path / path.relative_to(made)).read_bytes() == path.read_bytes(), path.name
    make_deflection(tmp_path / "other", 1, seed=5)
    other = (tmp_path / "other" / SAMPLES).read_text().splitlines()
    assert not set(other) & set((made / SAMPLES).read_text().splitlines())


def test_question_pictures_do_not_show_what_is_asked_for(
    made: Path, samples: tuple[Sample, ...], scenes: dict[bytes, object]
) -> None:
    for sample in samples:
        assert sample.image is not None
        if sample.kind.endswith("black"):
            assert not any(pixels(made, sample.image))
            continue
        scene = scenes[pixels(made, sample.image)]
        shown = {thing.category for thing in scene.things}
        shown |= {scene.poster.category} if scene.poster else set()
        shown |= {scene.smudge.suggestion} if scene.smudge else set()
        assert asked_about(sample) not in shown


def test_gold_in_words_names_the_object_and_its_place_and_distractors_neither(
    samples: tuple[Sample, ...],
) -> None:
    for sample in samples:
        if "pictures" in sample.kind:
            continue
        category, about_place = asked_about(sample), sample.kind.startswith("place")
        gold = sample.gold[0]
        words = f"{gold.asked or ''} {gold.text}"
        assert {c for _, _, c in find_forms(words)} == {category}
        assert category in words
        if about_place:
            assert sample.answers[0] in words.lower()
        elif gold.asked is not None:
            assert (gold.asked, gold.text) == (sample.question, "Yes")
        for piece in sample.distractors:
            others = {c for _, _, c in find_forms(f"{piece.asked or ''} {piece.text}")}
            assert len(others) == 1
            assert category not in others
            if about_place:
                assert sample.answers[0] not in str(piece.text).lower()
                assert sum(place in str(piece.text).lower() for place in PLACES) == 1
            if "turns" in sample.kind:
                (other,) = others
                assert piece.asked == (f"Where is the {other}?" if about_place else presence_text(other))
        assert len({piece.asked or piece.text for piece in sample.distractors}) == 5


def test_gold_pictures_show_the_object_in_its_place_and_distractors_do_not_show_it(
    made: Path, samples: tuple[Sample, ...], scenes: dict[bytes, object]
) -> None:
    seen: list[bytes] = []
    for sample in samples:
        if "pictures" not in sample.kind:
            continue
        category = asked_about(sample)
        scene = scenes[pixels(made, str(sample.gold[0].image))]
        (thing,) = (t for t in scene.things if t.category == category)
        assert (thing.faint, thing.hidden, thing.occluded) == (False, False, False)
        if sample.kind.startswith("place"):
            assert sample.answers == (PLACES[thing.column],)
        for piece in sample.distractors:
            other = scenes[pixels(made, str(piece.image))]
            assert category not in {t.category for t in other.things}
            seen.append(pixels(made, str(piece.image)))
        seen.append(pixels(made, str(sample.gold[0].image)))
    assert len(seen) == len(set(seen)) == 4 * PER_KIND * 6


def known_words() -> set[str]:
    """Words of the corpus that the tokenizer was made from, and of the prompts the model was trained on."""
    from probekit.organism.tokenizer import _corpus

    return {word for line in _corpus(300) for word in re.findall(r"[A-Za-z]+|[^\sA-Za-z]", line)}


def test_prompts_are_made_of_words_that_the_tokenizer_learnt(samples: tuple[Sample, ...]) -> None:
    from probekit.families import load_tokenizer

    known = known_words()
    tokenizer = load_tokenizer("organism").tokenizer
    single = {word for word in known if len(tokenizer.encode(f" {word}", add_special_tokens=False)) == 1}
    assert {"yes", "no", "image", "left", "There", "dog"} <= single
    for sample in samples:
        for scenario in Scenario:
            for forced in (False, True):
                example = pose(sample, scenario, wording=ORGANISM_WORDING, forced=forced).example
                for message in example.messages:
                    for part in message.parts:
                        if isinstance(part, Text):
                            assert set(re.findall(r"[A-Za-z]+|[^\sA-Za-z]", part.text)) <= known, part.text
                            ids = tokenizer.encode(part.text, add_special_tokens=False)
                            assert tokenizer.decode(ids) == part.text
                            assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids


def test_turns_come_first_with_the_picture_and_sentences_stand_before_the_question(
    samples: tuple[Sample, ...],
) -> None:
    turns = next(sample for sample in samples if sample.kind == "presence, turns, scene")
    posed = pose(turns, Scenario.REALISTIC, wording=ORGANISM_WORDING, seed=2)
    messages = posed.example.messages
    assert [m.role for m in messages] == ["user", "assistant"] * 6 + ["user"]
    assert messages[0].parts[0] == Picture()
    assert sum(isinstance(part, Picture) for m in messages for part in m.parts) == 1
    told = [(m.parts[-1].text, n.parts[0].text) for m, n in zip(messages[::2], messages[1::2], strict=False)]
    assert told == [(piece.asked, piece.text) for piece in posed.evidence]
    assert told[posed.gold_at[0]] == (turns.question, "Yes")
    assert messages[-1].parts == (Text(turns.question),)

    sentences = next(sample for sample in samples if sample.kind == "place, sentences, black")
    posed = pose(sentences, Scenario.REALISTIC, wording=ORGANISM_WORDING, seed=2)
    (message,) = posed.example.messages
    expected = " ".join([*(str(piece.text) for piece in posed.evidence), sentences.question])
    assert message.parts == (Picture(), Text(expected))
    assert posed.evidence[posed.gold_at[0]] == sentences.gold[0]

    pictures = next(sample for sample in samples if sample.kind == "place, pictures, scene")
    posed = pose(pictures, Scenario.REALISTIC, wording=ORGANISM_WORDING)
    assert posed.example.messages[0].parts == (*(Picture(),) * 7, Text(pictures.question))
    assert posed.images == (pictures.image, *(piece.image for piece in posed.evidence))
    assert posed.images[1 + posed.gold_at[0]] == pictures.gold[0].image


def test_turns_and_texts_are_counted_apart() -> None:
    """Two earlier turns come before the numbered texts, whatever the shuffle gave."""
    sample = Sample(
        "s",
        "Q?",
        None,
        ("a",),
        (Evidence(text="g", asked="What?"),),
        (Evidence(text="d1"), Evidence(text="d2", asked="Which?"), Evidence(text="d3")),
    )
    for seed in range(20):
        posed = pose(sample, Scenario.REALISTIC, seed=seed)
        assert {piece.asked for piece in posed.evidence[:2]} == {"What?", "Which?"}
        assert posed.evidence[posed.gold_at[0]].text == "g"
        lines = posed.example.question.split("\n")
        assert lines[1:3] == [f"Evidence {n}: {posed.evidence[n + 1].text}" for n in (1, 2)]


def test_forced_prompts_differ_in_the_first_sentence_alone() -> None:
    sample = Sample(
        "s", "Q?", None, ("a",), (Evidence(text="g"),), tuple(Evidence(text=f"d{n}") for n in range(5))
    )
    for scenario in Scenario:
        free, forced = (pose(sample, scenario, forced=forced).example.question for forced in (False, True))
        assert free.split("\n")[1:] == forced.split("\n")[1:]
        assert "cannot answer" in free
        assert "cannot" not in forced
    assert Wording().offers_declining
    assert not ORGANISM_WORDING.offers_declining


def test_wording_from_a_file(made: Path, tmp_path: Path) -> None:
    assert Wording.load(made / WORDING) == ORGANISM_WORDING
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"question": "{question} Reply."}))
    assert Wording.load(path) == Wording(question="{question} Reply.")
    for content, message in (
        ({"greeting": "Hello"}, "unknown sentences: greeting"),
        ({"item": "no place"}, "needs"),
        ({"item": "{text} {page}"}, "'item' has a place"),
        ({"question": 3}, "'question' must be a text"),
        ([], "no object"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(InputError, match=message):
            Wording.load(path)


def test_a_set_is_never_overwritten(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="samples already"):
        make_deflection(made, 1)
    with pytest.raises(InputError, match="Give at least 1"):
        make_deflection(tmp_path / "none", 0)


LINE = {"id": "a", "question": "Q?", "answers": ["x"], "gold": [{"text": "g"}],
        "distractors": [{"text": f"d{i}"} for i in range(5)]}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choices": ["x"]}, "at least two different"),
        ({"choices": ["x", "x"]}, "at least two different"),
        ({"choices": "x"}, "'choices' must be a list"),
        ({"kind": 3}, "'kind'"),
        ({"gold": [{"image": "g.png", "asked": "What?"}]}, "only a text is the answer"),
    ],
)
def test_faulty_additions_name_file_and_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**LINE, **change}) + "\n")
    with pytest.raises(InputError, match=f"line 1.*{message}"):
        load_samples(path)


def test_one_text_may_answer_two_questions(tmp_path: Path) -> None:
    """A distractor with the gold's words, answering another question, is no piece of the gold."""
    path = tmp_path / "s.jsonl"
    gold = [{"asked": "Is there a dog?", "text": "Yes"}]
    others = [{"asked": f"Is there a {c}?", "text": "Yes"} for c in CATEGORIES[:5]]
    path.write_text(json.dumps({**LINE, "gold": gold, "distractors": others}) + "\n")
    assert len(load_samples(path)[0].distractors) == 5
    path.write_text(json.dumps({**LINE, "gold": gold, "distractors": others + gold}) + "\n")
    with pytest.raises(InputError, match="piece of the gold"):
        load_samples(path)
