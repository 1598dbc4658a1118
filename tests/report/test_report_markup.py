"""Text is text wherever it lands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.report.markup import Html, data_block, join, prose, tag, text

EVIL = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</p>&amp;'", "a\x00b\u202ec"]


@pytest.mark.parametrize("evil", EVIL)
def test_data_reaches_the_reader_as_it_is_and_makes_no_element(evil: str, parse: Any) -> None:
    page = parse(tag("p", evil, title=evil))
    assert [name for name, _ in page.elements] == ["p"]
    seen = evil.replace("\x00", "\ufffd").replace("\u202e", "\ufffd")
    assert page.texts == [(("p",), seen)]
    assert page.elements[0][1] == {"title": seen}


@given(st.text())
def test_no_text_opens_an_element(value: str) -> None:
    assert not {"<", ">", '"', "'"} & set(text(value))


def test_markup_passes_once_and_only_as_content() -> None:
    inner = tag("b", "x < y")
    assert inner == "<b>x &lt; y</b>"
    assert join(inner, "<") == "<b>x &lt; y</b>&lt;"
    assert tag("i", title=inner) == '<i title="&lt;b&gt;x &amp;lt; y&lt;/b&gt;"></i>'


def test_attributes() -> None:
    made = tag("input", for_="a", data_x=1, hidden=True, checked=False, title=None)
    assert made == '<input for="a" data-x="1" hidden>'


def test_backticks_are_code() -> None:
    assert prose("run `a <b>` now") == "run <code>a &lt;b&gt;</code> now"


@pytest.mark.parametrize("evil", EVIL)
def test_a_data_block_cannot_be_closed_from_inside(evil: str, parse: Any) -> None:
    block = data_block("d", {"key": [evil]})
    assert isinstance(block, Html)
    page = parse(block)
    assert [name for name, _ in page.elements] == ["script"]
    assert json.loads("".join(part for _, part in page.texts)) == {"key": [evil]}
