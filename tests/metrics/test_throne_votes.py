"""Questions from a checkout, votes of recorded and of real judges, resuming, the command."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError
from probekit.judges.base import Opinion, Question
from probekit.judges.endpoint import EndpointJudge
from probekit.mentions.coco import COCO_CATEGORIES
from probekit.metrics.throne_models import ask_with_transformers, is_sequence_to_sequence
from probekit.metrics.throne_questions import load_questions
from probekit.metrics.throne_votes import Pair, Tally, collect_votes, is_yes, read_votes

CONSTANTS = """
import os
FIRST = "Consider the words above."
ONE, OTHER = "no", "matter"
Q_A = "Could there be {0} {1}?"
Q_B = "Could there be {0}?"
COUNT = os.getpid()
Q_LIST = [[Q_A, Q_B], ["Say if {0} {1} exists.", "Say if {0} exist."], [Q_A, Q_B], [Q_A, Q_B]]
I_LIST = [FIRST, "Another."]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "THRONE" / "throne"
    folder.mkdir(parents=True)
    (folder / "throne_constants.py").write_text(CONSTANTS)
    return tmp_path / "THRONE"


def test_prompt_is_caption_instruction_question(checkout: Path) -> None:
    questions = load_questions(checkout)
    assert len(questions) == 3
    prompt = questions.ask("x" * 2000, "orange", 1)
    assert prompt == "Text: " + "x" * 1024 + "\n\nConsider the words above.\n\nSay if an orange exists."


@pytest.mark.parametrize(
    ("category", "asked"),
    [
        ("dog", "Could there be a dog?"),
        ("umbrella", "Could there be an umbrella?"),
        ("tie", "Could there be a necktie?"),
        ("skis", "Could there be skis?"),
        ("scissors", "Could there be scissors?"),
    ],
)
def test_articles_and_names(checkout: Path, category: str, asked: str) -> None:
    assert load_questions(checkout).ask("c", category, 0).endswith("\n\n" + asked)


def test_a_checkout_is_read_and_never_run(checkout: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    constants = checkout / "throne" / "throne_constants.py"
    constants.write_text(f"open({str(mark)!r}, 'w')\n" + CONSTANTS)
    load_questions(constants)
    assert not mark.exists()


def test_questions_of_a_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    value = {"instruction": "Look.", "questions": [{"singular": "{0} {1}?", "plural": "{0}?"}]}
    path.write_text(json.dumps(value))
    assert load_questions(path, count=1).ask("c", "apple", 0) == "Text: c\n\nLook.\n\nan apple?"
    with pytest.raises(InputError, match="1 questions, 3 wanted"):
        load_questions(path)


@pytest.mark.parametrize("text", ["Q_LIST = 3", "x = (", "Q_LIST = [[1, 2]]\nI_LIST = ['a']"])
def test_a_checkout_of_another_shape_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "throne_constants.py"
    path.write_text(text)
    with pytest.raises(InputError, match=r"throne_constants\.py"):
        load_questions(path)
    with pytest.raises(InputError, match="cannot read"):
        load_questions(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("answer", "exact", "begins"),
    [
        ("Yes", True, True),
        (" yes\n", True, True),
        ("yes.", False, True),
        ("Yes, it is", False, True),
        ("no", False, False),
        ("", False, False),
        ("I say yes", False, False),
    ],
)
def test_which_answers_are_votes(answer: str, exact: bool, begins: bool) -> None:
    assert (is_yes(answer, "exact"), is_yes(answer, "begins")) == (exact, begins)


def says_yes_to_dogs(prompts: Sequence[str]) -> list[str]:
    return ["Yes" if "a dog" in prompt.rpartition("\n\n")[2] else "no" for prompt in prompts]


def test_votes_are_kept_counted_and_not_asked_twice(tmp_path: Path, checkout: Path) -> None:
    questions, out = load_questions(checkout), tmp_path / "votes.jsonl"
    pairs = [Pair("c1", "dog"), Pair("c1", "cat"), Pair("c2", "dog")]
    captions = {"c1": "A dog.", "c2": "A cat."}
    seen: list[str] = []

    def ask(prompts: Sequence[str]) -> list[str]:
        seen.extend(prompts)
        if len(seen) > 6:
            raise RuntimeError("power cut")
        return says_yes_to_dogs(prompts)

    with pytest.raises(RuntimeError):
        collect_votes("one", ask, captions, pairs, questions, out, batch=4)
    assert len(out.read_text().splitlines()) == 4
    assert collect_votes("one", says_yes_to_dogs, captions, pairs, questions, out) == 5
    assert collect_votes("one", says_yes_to_dogs, captions, pairs, questions, out) == 0
    collect_votes("two", says_yes_to_dogs, captions, pairs[:1], questions, out)
    with pytest.raises(InputError, match="caption c1: 3 votes on 'cat', others have 6"):
        read_votes([out])
    collect_votes("two", says_yes_to_dogs, captions, pairs, questions, out)
    assert read_votes([out]) == {
        Pair("c1", "dog"): Tally(6, 6),
        Pair("c1", "cat"): Tally(0, 6),
        Pair("c2", "dog"): Tally(6, 6),
    }


def test_a_changed_caption_is_asked_again_and_the_clash_is_named(tmp_path: Path, checkout: Path) -> None:
    questions, out = load_questions(checkout), tmp_path / "votes.jsonl"
    pairs = [Pair("c", "dog")]
    collect_votes("one", says_yes_to_dogs, {"c": "A dog."}, pairs, questions, out)
    assert collect_votes("one", says_yes_to_dogs, {"c": "A cow."}, pairs, questions, out) == 3
    with pytest.raises(InputError, match="line 4: vote given twice"):
        read_votes([out])


def test_answer_files_of_the_release(tmp_path: Path) -> None:
    classes = ("dog", "cat")
    for name, answers in (("base", ["yes", "no", "Yes ", "no"]), ("xl", ["no", "yes", "maybe yes", "no"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"139": answers}))
    tallies = read_votes([tmp_path / "base.json", tmp_path / "xl.json"], classes=classes)
    assert tallies == {Pair("139", "dog"): Tally(2, 4), Pair("139", "cat"): Tally(1, 4)}
    (tmp_path / "bad.json").write_text(json.dumps({"139": ["yes", "no", "yes"]}))
    with pytest.raises(InputError, match="image 139"):
        read_votes([tmp_path / "bad.json"], classes=classes)


@pytest.fixture(scope="module")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("t5")
    words = ["<pad>", "</s>", "<unk>", "Text", ":", "yes", "no", "dog", "a", "there", "be", "?", "."]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(words),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        tie_word_embeddings=False,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_a_sequence_to_sequence_judge_answers_alike_alone_and_in_a_batch(tiny_t5: Path) -> None:
    assert is_sequence_to_sequence(str(tiny_t5))
    ask = ask_with_transformers(str(tiny_t5), device="cpu", dtype="float32", batch=3)
    prompts = ["Text: a dog .", "Text: there be a dog ? yes no yes no", "dog", "no ."]
    together = ask(prompts)
    assert together == [ask([prompt])[0] for prompt in prompts]
    assert max(len(answer.split()) for answer in together) == 15
    assert len(set(together)) == 2


def test_a_judge_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="/nowhere/at-all"):
        is_sequence_to_sequence("/nowhere/at-all")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = [
        {"image_id": 1, "caption": "A dog sits on a bench for people."},
        {"image_id": 2, "caption": "A cat."},
        {"image_id": 9, "caption": "A cow."},
    ]
    (tmp_path / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "objects.json").write_text(json.dumps({"1": ["dog", "bench"], "2": ["dog"]}))
    return tmp_path


def run(data: Path, *words: str) -> dict[str, object]:
    given = [str(data / "captions.jsonl"), "--objects", str(data / "objects.json"), "--json"]
    done = CliRunner().invoke(app, ["throne", *given, *words])
    assert done.exit_code == 0, (done.output, done.exception)
    value = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(value, dict)
    return value


def test_command_with_a_model_over_mentions(data: Path, checkout: Path, tiny_t5: Path) -> None:
    votes = data / "votes.jsonl"
    words = ["--votes", str(votes), "--judge", str(tiny_t5), "--questions", str(checkout)]
    value = run(data, *words, "--about", "mentioned", "--device", "cpu")
    lines = [json.loads(line) for line in votes.read_text().splitlines()]
    assert {(line["caption_id"], line["category"]) for line in lines} == {
        ("1", "dog"),
        ("1", "bench"),
        ("1", "person"),
        ("2", "cat"),
    }
    assert value["unknown_images"] == 1
    assert value == run(data, "--votes", str(votes), "--about", "mentioned")


def test_command_with_recorded_votes_over_all_classes(data: Path) -> None:
    said = {"1": {"dog", "bench", "person"}, "2": {"cat"}}
    for name in ("base", "large", "xl"):
        answers = {
            image: ["yes" if category in words else "no" for category in COCO_CATEGORIES] * 3
            for image, words in said.items()
        }
        (data / f"{name}.json").write_text(json.dumps(answers))
    votes = [word for name in ("base", "large", "xl") for word in ("--votes", str(data / f"{name}.json"))]
    value = run(data, *votes)
    scores = value["scores"]
    assert isinstance(scores, list)
    assert [one["threshold"] for one in scores] == [9, 8, 5]
    assert scores[0]["per_image"]["precision"]["value"] == pytest.approx((2 / 3 + 0) / 2)
    # dog 1/1 and 1/2, bench 1 and 1, person and cat 0 and undefined
    assert scores[0]["class_wise"]["precision"]["value"] == pytest.approx((1 + 1 + 0 + 0) / 4)
    assert scores[0]["class_wise"]["recall"]["value"] == pytest.approx((0.5 + 1) / 2)


def test_an_endpoint_answers_in_any_order_and_its_silence_is_said(
    data: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(self: EndpointJudge, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        for place in reversed(range(len(questions))):
            dog = "dog" in questions[place].content.rpartition("\n\n")[2]
            yield place, Opinion("yes") if dog else Opinion("", "refused by the endpoint: filter")

    monkeypatch.setattr(EndpointJudge, "answer", answer)
    votes = data / "votes.jsonl"
    given = [str(data / "captions.jsonl"), "--objects", str(data / "objects.json"), "--about", "mentioned"]
    judge = ["--votes", str(votes), "--judge", "endpoint:m", "--questions", str(checkout)]
    done = CliRunner().invoke(app, ["throne", *given, *judge])
    assert done.exit_code == 0, done.exception
    assert done.stderr.count("counts as no: refused by the endpoint") == 9
    assert read_votes([votes])[Pair("1", "dog")] == Tally(3, 3)
    assert read_votes([votes])[Pair("2", "cat")] == Tally(0, 3)


def test_a_judge_without_questions_is_refused(data: Path) -> None:
    given = [str(data / "captions.jsonl"), "--objects", str(data / "objects.json")]
    done = CliRunner().invoke(app, ["throne", *given, "--votes", str(data / "v.jsonl"), "--judge", "m"])
    assert isinstance(done.exception, InputError)
    assert "--questions" in str(done.exception)
