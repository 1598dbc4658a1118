"""`Example` is a frozen value, equal by content."""

import dataclasses

import pytest

from probekit.benchmarks import Example, Message, Picture, Text


def test_a_question_with_a_picture_puts_the_picture_first() -> None:
    example = Example.ask("7", "000007", "000007.png", "Is there a bus?", reference="no")
    assert example.messages == (Message("user", (Picture(), Text("Is there a bus?"))),)
    assert example.question == "Is there a bus?"
    assert hash(example) == hash(dataclasses.replace(example))
    with pytest.raises(dataclasses.FrozenInstanceError):
        example.image = None  # type: ignore[misc]


def test_without_a_picture_there_is_only_text() -> None:
    blind = Example.ask("7", "000007", None, "Is there a bus?", condition="blind")
    assert blind.messages[0].parts == (Text("Is there a bus?"),)


def test_the_question_is_the_last_user_turn() -> None:
    turns = (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("first"),)),
        Message("assistant", (Text("answer"),)),
        Message("user", (Picture(), Text("second"), Text("part"))),
    )
    assert Example("1", "1", "1.png", turns).question == "second part"
    assert Example("1", "1", None, turns[:1]).question == ""
