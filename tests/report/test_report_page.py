"""A page needs nothing but itself, runs only its own scripts, and switches panels without one."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from probekit.report.figures import Frame, Series, line_figure
from probekit.report.markup import tag
from probekit.report.page import Section, page, write_page
from probekit.report.switch import switch
from probekit.report.tables import Column, Table

EVIL = "<script>alert(1)</script>"
TABLE = Table(EVIL, (Column("a", EVIL, EVIL),), ((EVIL,),), f"`{EVIL}`")
FIGURE = line_figure(
    Frame("f", EVIL, EVIL, EVIL, EVIL, EVIL),
    [Series(EVIL, [EVIL, "b"], [0.1, 0.2]), Series("b", ["b"], [0.3])],
)


def test_everything_given_is_text(parse: Any) -> None:
    section = Section(EVIL, tag("p", EVIL), (TABLE,), (FIGURE,))
    seen = parse(page(EVIL, [section], {EVIL: {EVIL: [EVIL, {EVIL: EVIL}]}}, EVIL))
    assert seen.named("script") == []
    assert seen.words().count(EVIL) >= 15
    assert not [key for _, attributes in seen.elements for key in attributes if key.startswith("on")]


def test_the_policy_allows_its_scripts_and_nothing_else(parse: Any) -> None:
    scripts = ["let a = 1;", "let b = '<&>';"]
    seen = parse(page("t", [Section(f"s{i}", script=s) for i, s in enumerate(scripts)], {}))
    policy = next(m["content"] for m in seen.named("meta") if m.get("http-equiv"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    run = [text for path, text in seen.texts if path[-1:] == ("script",)]
    assert run == scripts
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in run]
    assert rules["script-src"] == " ".join(f"'sha256-{d}'" for d in digests)
    empty = page("t", [Section("s")], {})
    assert "script-src &#x27;none&#x27;" in empty


@pytest.mark.parametrize("field", ["script", "style"])
def test_a_script_that_closes_its_element_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match="closing tag"):
        page("t", [Section("s", **{field: f"x </{field.upper()}> y"})], {})  # type: ignore[arg-type]


def test_names_are_unique() -> None:
    with pytest.raises(ValueError, match="sections"):
        page("t", [Section("same"), Section("Same")], {})
    with pytest.raises(ValueError, match="figures"):
        page("t", [Section("a", figures=(FIGURE,)), Section("b", figures=(FIGURE,))], {})


def test_headings_landmarks_and_links(parse: Any) -> None:
    seen = parse(page("Title", [Section("One part"), Section("Two")], {"model": "m"}))
    assert [len(seen.named(name)) for name in ("h1", "h2", "main", "nav", "title")] == [1, 3, 1, 1, 1]
    assert seen.named("html")[0]["lang"] == "en"
    targets = {a["id"] for _, a in seen.elements if "id" in a}
    assert {link["href"][1:] for link in seen.named("a")} <= targets


def test_a_figure_has_words_for_those_who_cannot_see_it(parse: Any) -> None:
    frame = Frame("f", "Title", alt="Falls from 0.2 to 0.1.", caption="See `probekit evaluate`.")
    figure = line_figure(frame, [Series("a", [1.0, 2.0], [0.2, 0.1])])
    seen = parse(page("t", [Section("s", figures=(figure,))], {}))
    image = next(a for _, a in seen.elements if a.get("role") == "img")
    assert image["aria-label"] == "Falls from 0.2 to 0.1."
    assert "See probekit evaluate ." in seen.words("figure")


def test_the_switch_shows_one_panel_for_each_combination(parse: Any) -> None:
    axes = {"Mix": ("none", "10"), "Mentions": ("all", "matched")}
    panels = {(m, p): tag("p", f"{m} {p}") for m in axes["Mix"] for p in axes["Mentions"]}
    markup, style = switch("x", axes, panels, ("10", "all"))
    seen = parse(markup)
    radios = seen.named("input")
    assert [r["id"] for r in radios if "checked" in r] == ["x-0-1", "x-1-0"]
    assert {label["for"] for label in seen.named("label")} == {r["id"] for r in radios}
    rules = re.findall(r"#x:has\(#(\S+?):checked\):has\(#(\S+?):checked\) #(\S+?)\{display:block\}", style)
    shown = {(a, b): panel for a, b, panel in rules}
    assert len(shown) == len(set(shown.values())) == 4
    contents = dict(re.findall(r'<div id="(x-p-[\d-]+)" class="panel"><p>([^<]*)</p>', markup))
    assert contents[shown["x-0-1", "x-1-0"]] == "10 all"
    assert contents[shown["x-0-0", "x-1-1"]] == "none matched"


def test_written_whole(tmp_path: Path) -> None:
    path = write_page(tmp_path / "a" / "page.html", "t", [Section("s")], {})
    assert path.read_text(encoding="utf-8") == page("t", [Section("s")], {})
