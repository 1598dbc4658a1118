"""A switch between panels without a script: radio buttons and a style rule for each combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from probekit.report.markup import Html, tag


def switch(
    name: str,
    axes: Mapping[str, Sequence[str]],
    panels: Mapping[tuple[str, ...], Html],
    chosen: tuple[str, ...],
) -> tuple[Html, str]:
    """Show one of many panels.

    Args:
        name: letters and digits, unique in the page.
        axes: options by legend, such as ``{"Mix": [...], "Population": [...]}``.
        panels: a panel for every combination of options, in the order of ``axes``.
        chosen: the combination shown first.

    Returns:
        The markup, and the style rules it needs in the head of the page. Where a browser lacks
        ``:has``, every panel shows.
    """
    groups, rules = [], []
    for a, (legend, options) in enumerate(axes.items()):
        buttons = []
        for o, option in enumerate(options):
            radio = tag(
                "input",
                type="radio",
                name=f"{name}-{a}",
                id=f"{name}-{a}-{o}",
                checked=option == chosen[a],
                autocomplete="off",
            )
            label = tag("label", option.replace("_", " "), for_=f"{name}-{a}-{o}")
            buttons.append(tag("span", radio, label, class_="option"))
        groups.append(tag("fieldset", tag("legend", legend), *buttons))
    shown = []
    places = [[(o, option) for o, option in enumerate(options)] for options in axes.values()]
    for place in product(*places):
        identifier = f"{name}-p-{'-'.join(str(o) for o, _ in place)}"
        shown.append(tag("div", panels[tuple(option for _, option in place)], id=identifier, class_="panel"))
        checked = "".join(f":has(#{name}-{a}-{o}:checked)" for a, (o, _) in enumerate(place))
        rules.append(f"#{name}{checked} #{identifier}{{display:block}}")
    style = f"@supports selector(:has(*)){{#{name} .panel{{display:none}}{''.join(rules)}}}"
    return tag("div", tag("div", *groups, class_="switches"), *shown, id=name, class_="switch"), style
