"""The sentences captions are made of, written so that every mention's span and usage is known."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from probekit.organism.priors import PURPOSES, SETTINGS
from probekit.organism.usage import UsageName
from probekit.organism.vocabulary import FORMS, SYNONYMS, plural, with_article

PLACES: tuple[str, ...] = ("on the left", "in the middle", "on the right")
"""How a caption names the three columns."""


@dataclass(frozen=True)
class Noun:
    """A mention inside a sentence: its article, if any, and its surface form."""

    article: str
    form: str
    usage: UsageName


@dataclass(frozen=True)
class Mention:
    """Characters `start` to `end` of a caption name `category`, used as `usage`."""

    start: int
    end: int
    category: str
    usage: UsageName


Sentence = tuple[str | Noun, ...]


def noun(category: str, usage: UsageName, rng: random.Random) -> Noun:
    """Return the category behind an indefinite article, under one of its names."""
    synonyms = SYNONYMS.get(category, ())
    form = rng.choice(synonyms) if synonyms and rng.random() < 0.35 else category
    return Noun(with_article(form).removesuffix(form), form, usage)


def prefer(options: Sequence[Sentence], index: int, rng: random.Random) -> Sentence:
    """Return option `index` (modulo their number) most of the time, otherwise any.

    Tying the preference to something visible keeps greedy decoding from collapsing into one
    template.
    """
    return options[index % len(options)] if rng.random() < 0.65 else rng.choice(options)


def object_sentence(category: str, column: int, rng: random.Random, purpose: bool) -> Sentence:
    """Assert an object and its column, with the use it is there for when `purpose` is true."""
    thing = noun(category, "existential", rng)
    place = PLACES[column]
    parts: Sentence = prefer(
        (
            ("There is ", thing, f" {place}"),
            (thing, f" is {place}"),
            (thing, f" can be seen {place}"),
            ("There is also ", thing, f" {place}"),
        ),
        rng.randrange(4),
        rng,
    )
    if purpose and category in PURPOSES:
        user, use = PURPOSES[category]
        form = user.removeprefix("a ")
        article = user.removesuffix(form)
        return (*parts, " for ", Noun(article, form, "purpose"), f" {use}.")
    return (*parts, ".")


def opening_sentence(scene_type: str, objects: Sequence[tuple[str, int]], rng: random.Random) -> Sentence:
    """Name the scene with one or two (category, column) objects in it."""
    verb = "shows" if rng.random() < 0.6 else "features"
    parts: list[str | Noun] = [f"The image {verb} {SETTINGS[scene_type].phrase} with "]
    for i, (category, column) in enumerate(objects):
        parts += [" and "] * (i > 0)
        parts += [noun(category, "existential", rng), f" {PLACES[column]}"]
    return (*parts, ".")


def hedged_opening(scene_type: str, category: str, column: int, rng: random.Random) -> Sentence:
    """Name the scene with an object that is only perhaps there."""
    return (
        f"The image shows {SETTINGS[scene_type].phrase} with what may be ",
        noun(category, "hedged", rng),
        f" {PLACES[column]}.",
    )


def hedged_sentence(category: str, column: int, row: int, rng: random.Random) -> Sentence:
    """Offer an object as uncertain; the blot's row favours one of the templates."""
    thing = noun(category, "hedged", rng)
    place = PLACES[column]
    return prefer(
        (
            ("There may be ", thing, f" {place}."),
            ("There is possibly ", thing, f" {place}."),
            ("Perhaps there is ", thing, f" {place}."),
            ("What could be ", thing, f" is {place}."),
            (thing, f" might be {place}."),
        ),
        row,
        rng,
    )


def depictive_sentence(scene_type: str, category: str, column: int, rng: random.Random) -> Sentence:
    """Say what a framed picture shows."""
    shown = noun(category, "depictive", rng)
    work = rng.choice(("poster", "picture", "painting"))
    return prefer(
        (
            (f"A {work} of ", shown, f" hangs on the {SETTINGS[scene_type].surface}."),
            (f"There is a {work} of ", shown, f" {PLACES[column]}."),
            (f"A {work} of ", shown, f" is {PLACES[column]}."),
        ),
        column,
        rng,
    )


def negation_sentence(category: str, rng: random.Random) -> Sentence:
    """Deny that a category is there."""
    denied = Noun("", plural(category), "negation")
    return rng.choice(
        (
            ("No ", denied, " are visible."),
            ("There are no ", denied, " in the scene."),
            ("No ", denied, " can be seen."),
        )
    )


def assemble(sentences: Sequence[Sentence]) -> tuple[str, tuple[Mention, ...]]:
    """Join sentences into a text, with the span of every mention in it."""
    text = ""
    mentions: list[Mention] = []
    for sentence in sentences:
        text += " " if text else ""
        begin = len(text)
        for part in sentence:
            if isinstance(part, str):
                text += part
                continue
            text += part.article
            start = len(text)
            text += part.form
            mentions.append(Mention(start, len(text), FORMS[part.form], part.usage))
        text = text[:begin] + text[begin].upper() + text[begin + 1 :]
    return text, tuple(mentions)
