"""Which words stand for which object categories, and where the same word is something else."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from probekit.errors import InputError
from probekit.files import digest, read_json
from probekit.mentions.phrases import Phrase, alternatives, forms_of, parse
from probekit.yaml_files import read_yaml

NAMED: tuple[str, ...] = ("name-bench", "chair", "chair-sentences", "organism")
"""Vocabularies that come with probekit."""

Rules = Literal["longest", "chair", "chair-sentences"]


@dataclass(frozen=True)
class Vocabulary:
    """Surface forms of object categories.

    Attributes:
        name: what results are filed under.
        categories: category names, in the file's order.
        forms: lower-cased expression to its category; brackets mark the part that is the mention.
        blockers: expressions in which a form has another sense or belongs to a compound.
        exclusions: categories left out by design, each with the reason.
        rules: how a text is searched. ``longest``: the longest expression at each word, blockers included.
            ``chair``: the published metric's own pipeline on the whole caption (SPEC 3.1);
            ``chair-sentences``: the same after splitting into sentences.
        pairs: under the CHAIR rules, two neighbouring singular words and what they are read as.
    """

    name: str
    categories: tuple[str, ...]
    forms: Mapping[str, str]
    blockers: tuple[str, ...] = ()
    exclusions: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = "longest"
    pairs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def named(cls, name: str) -> "Vocabulary":
        """A vocabulary that comes with probekit.

        Raises:
            InputError: there is none of that name; the closest one is named.
        """
        if name not in NAMED:
            close = get_close_matches(name, NAMED, n=1)
            known = f"Known: {', '.join(NAMED)}; or the path of a YAML or JSON file."
            raise InputError(
                f"no vocabulary named {name!r}", hint=f"Did you mean {close[0]}? {known}" if close else known
            )
        if name == "organism":
            return cls._organism()
        return cls._shipped(name)

    @classmethod
    def coco(cls) -> "Vocabulary":
        """The vocabulary for captions of real photographs: ``name-bench``."""
        return cls.named("name-bench")

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary file of the form of ``vocabularies/name-bench.yaml``.

        Raises:
            InputError: the file is missing, is not YAML or JSON, or an entry is not valid.
        """
        value = read_json(path) if path.suffix == ".json" else read_yaml(path)
        return cls._parse(value, where=str(path), default_name=path.stem)

    @classmethod
    def of(cls, name_or_path: str) -> "Vocabulary":
        """What an option on the command line means: `named` for a known name, `load` for a path."""
        path = Path(name_or_path)
        if name_or_path not in NAMED and (path.is_file() or path.suffix in (".yaml", ".yml", ".json")):
            return cls.load(path)
        return cls.named(name_or_path)

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides what is found."""
        return digest(
            {
                "categories": self.categories,
                "forms": dict(self.forms),
                "blockers": self.blockers,
                "rules": self.rules,
                "pairs": dict(self.pairs),
            }
        )

    def phrases(self) -> Iterator[tuple[Phrase, str | None]]:
        """Each expression with its category, ``None`` for a blocker."""
        for form, category in self.forms.items():
            yield parse(form, where=self.name), category
        for blocker in self.blockers:
            yield parse(blocker, where=self.name), None

    @cached_property
    def by_first_word(self) -> Mapping[str, tuple[tuple[Phrase, str | None], ...]]:
        """Expressions by their first word, the longest first; a form before a blocker of the same words."""
        table: dict[str, list[tuple[Phrase, str | None]]] = {}
        for phrase, category in self.phrases():
            table.setdefault(phrase.words[0], []).append((phrase, category))
        return MappingProxyType(
            {
                word: tuple(sorted(entries, key=lambda entry: (-len(entry[0].words), entry[1] is None)))
                for word, entries in table.items()
            }
        )

    @cached_property
    def words(self) -> Mapping[str, str]:
        """Expressions without brackets, lower-cased, to their category: other names of an object."""
        return MappingProxyType({form.lower(): cat for form, cat in self.forms.items() if "[" not in form})

    @classmethod
    @lru_cache(maxsize=8)
    def _shipped(cls, name: str) -> "Vocabulary":
        file = "chair" if name.startswith("chair") else name
        value = read_yaml(Path(__file__).parent / "vocabularies" / f"{file}.yaml")
        if file != "chair":
            return cls._parse(value, where=file, default_name=file)
        lines: list[list[str]] = value["lines"]
        pairs = dict(value["pairs"])
        for qualifier, heads in value["qualifiers"].items():
            pairs |= {f"{qualifier} {head}": head for head in heads}
        return cls(
            name=name,
            categories=tuple(line[0] for line in lines),
            forms=MappingProxyType({entry: line[0] for line in lines for entry in line}),
            rules="chair" if name == "chair" else "chair-sentences",
            pairs=MappingProxyType(pairs),
        )

    @classmethod
    def _organism(cls) -> "Vocabulary":
        from probekit.organism import CATEGORIES, FORMS

        return cls(name="organism", categories=tuple(CATEGORIES), forms=MappingProxyType(dict(FORMS)))

    @classmethod
    def _parse(cls, value: Any, *, where: str, default_name: str) -> "Vocabulary":
        if not isinstance(value, Mapping) or not isinstance(value.get("categories"), Mapping):
            raise InputError(
                "a vocabulary needs `categories`, a mapping of category to its words",
                where=where,
                hint="See name-bench.yaml in probekit/mentions/vocabularies.",
            )
        unknown = sorted(set(map(str, value)) - {"name", "categories", "blockers", "excluded"})
        if unknown:
            raise InputError(
                f"unknown keys: {', '.join(unknown)}",
                where=where,
                hint="Known: name, categories, blockers, excluded.",
            )
        forms: dict[str, str] = {}
        for category, entries in value["categories"].items():
            at = f"{where}, category {category!r}"
            entries = [] if entries is None else entries
            if not isinstance(category, str) or not isinstance(entries, list):
                raise InputError("a category is a name and a list of words", where=at)
            for entry in _with_own_name(category, entries, at):
                for form in forms_of(entry):
                    parse(form, where=at)
                    if forms.setdefault(form.lower(), category) != category:
                        raise InputError(f"{form!r} already belongs to {forms[form.lower()]!r}", where=at)
        raw_blockers = value.get("blockers") or []
        excluded = value.get("excluded") or {}
        if not isinstance(raw_blockers, list) or not isinstance(excluded, Mapping | list):
            raise InputError("`blockers` is a list, `excluded` a mapping of category to reason", where=where)
        blockers = tuple(one.lower() for entry in raw_blockers for one in alternatives(str(entry)))
        for blocker in blockers:
            parse(blocker, where=f"{where}, blockers")
        reasons = excluded if isinstance(excluded, Mapping) else dict.fromkeys(excluded, "left out")
        return cls(
            name=str(value.get("name", default_name)),
            categories=tuple(value["categories"]),
            forms=MappingProxyType(forms),
            blockers=blockers,
            exclusions=MappingProxyType({str(k): str(v) for k, v in reasons.items()}),
        )


def _with_own_name(category: str, entries: list[Any], where: str) -> list[str]:
    """Entries with the category's own name first, unless one of them states its plural."""
    for entry in entries:
        if not isinstance(entry, str):
            raise InputError(f"a word must be text, found {json.dumps(entry, default=str)}", where=where)
    stated = any(entry.partition("/")[0] == category and "/" in entry for entry in entries)
    return list(entries) if stated else [category, *entries]
