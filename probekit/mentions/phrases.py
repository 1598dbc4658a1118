"""How a vocabulary writes its expressions: alternatives, plurals, and the part that is the mention."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from probekit.errors import InputError

WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits: what phrases and texts are compared by."""

_PIECE = re.compile(r"\([^()]*\)|[^()]+")
_ALLOWED = re.compile(r"[\w\s'’.&\-]*(?:\[[\w\s'’.&\-]+\])?[\w\s'’.&\-]*")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must follow one another.

    Attributes:
        words: lower-cased words.
        first: place of the mention's first word in `words`.
        last: place of its last word, inclusive.
    """

    words: tuple[str, ...]
    first: int
    last: int

    @property
    def surface(self) -> str:
        """The whole expression, words joined by blanks."""
        return " ".join(self.words)


def plural(form: str) -> str:
    """Regular English plural of the last word of ``form``; a closing bracket stays last."""
    stem, bracket = (form[:-1], "]") if form.endswith("]") else (form, "")
    lower = stem.lower()
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return stem + "es" + bracket
    if lower.endswith("y") and lower[-2:-1] not in tuple("aeiou"):
        return stem[:-1] + "ies" + bracket
    return stem + "s" + bracket


def forms_of(entry: str) -> tuple[str, ...]:
    """Singular and plural that an entry of a category stands for.

    ``bench`` takes the regular plural, ``knife/knives`` states it, ``skis/`` has none. In an expression that
    goes on after the bracket, such as ``[train] car``, the last word takes the plural.
    """
    single, slash, many = entry.partition("/")
    if not slash:
        return tuple(form for one in alternatives(entry) for form in (one, plural(one)))
    return tuple(alternatives(single)) + (tuple(alternatives(many)) if many else ())


def alternatives(text: str) -> Iterator[str]:
    """Every reading of ``dog (park|food)``; a trailing ``+`` adds the regular plural.

    A text whose brackets do not pair is handed on as it is, for `parse` to refuse.
    """
    if "".join(_PIECE.findall(text)) != text:
        yield text
        return
    pieces = _PIECE.findall(text.removesuffix("+"))
    parts = [piece[1:-1].split("|") if piece.startswith("(") else [piece] for piece in pieces]
    for combination in product(*parts):
        one = " ".join("".join(combination).split())
        yield one
        if text.endswith("+"):
            yield plural(one)


def parse(form: str, *, where: str) -> Phrase:
    """Split a form without alternatives into words, and find the bracketed part.

    Raises:
        InputError: there is no word, a bracket is empty, or a character has no meaning here.
    """
    words = tuple(word.group().lower() for word in WORD.finditer(form))
    if not words or _ALLOWED.fullmatch(form) is None:
        raise InputError(
            f"not a form: {form!r}",
            where=where,
            hint="Letters, blanks, hyphens and apostrophes; at most one part in [brackets].",
        )
    if "[" not in form:
        return Phrase(words, 0, len(words) - 1)
    before = len(WORD.findall(form[: form.index("[")]))
    inner = len(WORD.findall(form[form.index("[") : form.index("]")]))
    return Phrase(words, before, before + inner - 1)
