"""One HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from probekit.files import write_atomically
from probekit.report.facts import facts
from probekit.report.figures import Figure, inline
from probekit.report.formats import to_html
from probekit.report.markup import Html, prose, tag
from probekit.report.tables import Table


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        title: its heading; also names its anchor.
        html: what stands first; made with `probekit.report.markup`, so that data in it is escaped.
        tables: follow it, each in a box that scrolls on its own.
        figures: follow them, two abreast where there is room.
        style: rules that the markup needs.
        script: a script that the markup needs; the page's policy allows it by its digest.
    """

    title: str
    html: Html = Html("")  # noqa: RUF009 - an immutable string
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    style: str = ""
    script: str = ""

    @property
    def anchor(self) -> str:
        """Identifier of the section in the page."""
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in self.title.lower())


def template(name: str) -> str:
    """A file of ``report/templates``."""
    return (files("probekit.report") / "templates" / name).read_text(encoding="utf-8")


def page(title: str, sections: Sequence[Section], provenance: Mapping[str, Any], lead: str = "") -> str:
    """The page as text.

    Args:
        title: heading and document title.
        sections: parts, in order; titles are unique.
        provenance: where every number comes from; shown at the end.
        lead: one sentence under the heading.

    Raises:
        ValueError: two sections have the same anchor, or two figures the same name.
    """
    last = Section("Where this comes from", facts(provenance))
    parts = [*sections, last] if provenance else list(sections)
    _unique([section.anchor for section in parts], "sections")
    _unique([figure.frame.name for section in parts for figure in section.figures], "figures")
    scripts = [section.script for section in parts if section.script]
    styles = template("page.css") + "".join(section.style for section in parts)
    _inert(styles, "style")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Html(f"<style>{styles}</style>"),
    )
    links = [tag("li", tag("a", section.title, href=f"#{section.anchor}")) for section in parts]
    body = tag(
        "body",
        tag("header", tag("h1", title), tag("p", lead, class_="lead") if lead else ""),
        tag("nav", tag("ul", *links), aria_label="Sections"),
        tag("main", *(_section(section) for section in parts)),
        *(_script(script) for script in scripts),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def write_page(
    path: Path, title: str, sections: Sequence[Section], provenance: Mapping[str, Any], lead: str = ""
) -> Path:
    """Write `page` to ``path``, atomically, and return ``path``."""
    write_atomically(path, page(title, sections, provenance, lead))
    return path


def _section(section: Section) -> Html:
    drawn = [_figure(figure) for figure in section.figures]
    return tag(
        "section",
        tag("h2", section.title, id=f"{section.anchor}-title"),
        section.html,
        *(to_html(table) for table in section.tables),
        tag("div", *drawn, class_="figures") if drawn else "",
        id=section.anchor,
        aria_labelledby=f"{section.anchor}-title",
    )


def _figure(figure: Figure) -> Html:
    frame = figure.frame
    picture = tag("div", inline(figure), role="img", aria_label=frame.alt or frame.title)
    return tag(
        "figure", tag("figcaption", tag("strong", frame.title)), picture, tag("p", prose(frame.caption))
    )


def _policy(scripts: Sequence[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    rules = (
        "default-src 'none'",
        "img-src data:",
        "style-src 'unsafe-inline'",  # style attributes inside figures rule out digests
        f"script-src {allowed}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _script(script: str) -> Html:
    _inert(script, "script")
    return Html(f"<script>{script}</script>")


def _inert(content: str, element: str) -> None:
    if f"</{element}" in content.lower():
        raise ValueError(f"a {element} must not contain its own closing tag")


def _unique(names: Sequence[str], what: str) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(f"{what} with the same name: {', '.join(twice)}")
