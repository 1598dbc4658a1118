"""A judge of severity is shown the prompt that was asked, not one of another set."""

import pytest

from probekit.benchmarks.ghost import GhostCategory, GhostImage
from probekit.benchmarks.ghost_asked import asked
from probekit.benchmarks.ghost_prompts import SHIPPED, load_prompts
from probekit.errors import InputError
from probekit.files import write_jsonl


def image(category=GhostCategory.SCENE_SCHEMA):
    return GhostImage("a.png", category, "person")


def test_the_line_says_what_was_asked(tmp_path):
    path = tmp_path / "responses.jsonl"
    write_jsonl(path, [{"text": "No.", "prompt": "Is there a person in the image?"}])
    assert asked(path, [(image(), 2)]) == (("Is there a person in the image?",), 0)


def test_lines_that_do_not_say_it_are_counted_and_take_the_given_prompts(tmp_path):
    path = tmp_path / "responses.jsonl"
    write_jsonl(path, [{"text": "No."}, {"text": "No.", "prompt": "Person?"}])
    tasks, silent = asked(path, [(image(), 1), (image(), 5)])
    assert tasks == (load_prompts().ask(1, "person", presence=True), "Person?")
    assert silent == 1


def test_prompts_that_were_not_asked_are_refused(tmp_path):
    path = tmp_path / "responses.jsonl"
    write_jsonl(path, [{"text": "No.", "prompt": "Is there a person in the image?"}])
    with pytest.raises(InputError, match=r"responses.jsonl, line 1: 'Is there a person"):
        asked(path, [(image(), 2)], SHIPPED)
    same = load_prompts().ask(2, "person", presence=True)
    write_jsonl(path, [{"text": "No.", "prompt": same}])
    assert asked(path, [(image(), 2)], SHIPPED) == ((same,), 0)


@pytest.mark.parametrize("prompt", ["", " ", 3, ["x"]])
def test_a_prompt_that_is_no_text_is_named(tmp_path, prompt):
    path = tmp_path / "responses.jsonl"
    write_jsonl(path, [{"text": "No.", "prompt": prompt}])
    with pytest.raises(InputError, match="line 1: 'prompt' must be a text"):
        asked(path, [(image(), 2)])
