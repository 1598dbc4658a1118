"""Passages that hold the gold evidence or state an answer, and so are no distractors. SPEC 6.

Texts are compared word by word after folding case, accents, articles, punctuation and number words. A passage
is a piece of the gold when it holds it, lies in it, or shares enough runs of words with it; then so is every
passage of the same document. One that states an answer anywhere, also after a "not until", is banned as well.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probekit.benchmarks.deflection import Sample
from probekit.metrics.answers import normalise

RUN = 4
"""Words of a run that two texts may share."""
SHARE = 0.2
"""Share of its runs, of the gold's or of the passage's, from which on a passage is a piece of the gold."""

Words = tuple[str, ...]

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OWNER = re.compile(r"['’]s\b", re.IGNORECASE)
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿฀-๿]")
"""Scripts that part no words by blanks."""


@dataclass(frozen=True)
class Passage:
    """One text of a pool: its name, the document it was cut from, its words."""

    name: str
    document: str
    text: str


Owner = tuple[int, int]
"""Number of a sample, and of the text among its gold and distractors."""


@dataclass
class _Known:
    """What must not be given away, by words, with the numbers of the samples that own it.

    Attributes:
        runs: every run of a gold text or a distractor.
        golds: how many runs each gold text has; distractors are not in it.
        short: what is shorter than a run and lies in one of these texts.
        stated: answers, gold texts and distractors by their first word.
        unspaced: answers in scripts without blanks.
        sources: documents that gold pieces name.
    """

    runs: dict[Words, set[Owner]] = field(default_factory=lambda: defaultdict(set))
    golds: dict[Owner, int] = field(default_factory=dict)
    short: dict[Words, set[int]] = field(default_factory=lambda: defaultdict(set))
    stated: dict[str, dict[Words, set[int]]] = field(default_factory=lambda: defaultdict(dict))
    unspaced: list[tuple[str, int]] = field(default_factory=list)
    sources: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def folded(text: str) -> Words:
    """Words of a text without case, accents, articles, punctuation and possessive endings."""
    marks = unicodedata.normalize("NFKD", _OWNER.sub("", _THOUSANDS.sub("", text)))
    bare = "".join(letter for letter in marks if not unicodedata.combining(letter))
    return tuple(normalise(unicodedata.normalize("NFKC", bare)).split())


def leaks(samples: Sequence[Sample], passages: Sequence[Passage]) -> tuple[frozenset[str], ...]:
    """For each sample the passages that it must not be given; one reading of the pool for all samples.

    Banned are passages that hold a gold text, lie in it, or share at least `SHARE` of the runs of `RUN` words
    (of the gold's, or of their own); all passages of a document that holds that share of a gold text, or that
    a gold piece names as its ``source``; passages that state an answer as whole words, in whatever sentence;
    and passages that hold a distractor of the sample, or lie in one.
    """
    known = _known(samples)
    found: list[set[str]] = [set() for _ in samples]
    documents: dict[str, list[str]] = defaultdict(list)
    seen: dict[str, dict[Owner, set[Words]]] = defaultdict(lambda: defaultdict(set))
    for passage in passages:
        documents[passage.document].append(passage.name)
        words = folded(passage.text)
        own = set(_runs(words))
        shared: dict[Owner, int] = defaultdict(int)
        for run in own:
            for owner in known.runs.get(run, ()):
                shared[owner] += 1
                if owner in known.golds:
                    seen[passage.document][owner].add(run)
        near = {owner[0] for owner, count in shared.items() if count >= _enough(owner, len(own), known)}
        for sample in near | known.short.get(words, set()) | _stating(words, passage.text, known):
            found[sample].add(passage.name)
    for document, names in documents.items():
        whole = {gold[0] for gold, runs in seen[document].items() if len(runs) >= SHARE * known.golds[gold]}
        for sample in whole | known.sources.get(document, set()):
            found[sample].update(names)
    return tuple(frozenset(names) for names in found)


def _enough(owner: Owner, own: int, known: _Known) -> float:
    """Shared runs that ban a passage of ``own`` runs; one that lies in a distractor shares them all."""
    return SHARE * min(own, known.golds[owner]) if owner in known.golds else float(own)


def _known(samples: Sequence[Sample]) -> _Known:
    known = _Known()
    for number, sample in enumerate(samples):
        for source in {piece.source for piece in sample.gold if piece.source}:
            for document in (source, source.rpartition("#")[0] or source):
                known.sources[document].add(number)
        for place, piece in enumerate((*sample.gold, *sample.distractors)):
            if piece.text is None or not (words := folded(piece.text)):
                continue
            runs = set(_runs(words))
            for run in runs:
                known.runs[run].add((number, place))
            if place < len(sample.gold):
                known.golds[number, place] = len(runs)
            for part in _shorter(words):
                known.short[part].add(number)
            known.stated[words[0]].setdefault(words, set()).add(number)
        for answer in sample.answers:
            if words := folded(answer):
                known.stated[words[0]].setdefault(words, set()).add(number)
            if _UNSPACED.search(answer):
                known.unspaced.append((answer, number))
    return known


def _stating(words: Words, text: str, known: _Known) -> set[int]:
    """Samples of which the passage states an answer, or holds a gold text or a distractor whole."""
    found: set[int] = set()
    for place, word in enumerate(words):
        for needle, owners in known.stated.get(word, {}).items():
            if words[place : place + len(needle)] == needle:
                found |= owners
    return found | {number for answer, number in known.unspaced if answer in text}


def _runs(words: Words) -> Iterator[Words]:
    """Runs of `RUN` words; the whole of a shorter text."""
    if words:
        yield from (words[at : at + RUN] for at in range(max(1, len(words) - RUN + 1)))


def _shorter(words: Words) -> Iterator[Words]:
    """What is shorter than a run and lies in a text."""
    for size in range(1, RUN):
        yield from (words[at : at + size] for at in range(len(words) - size + 1))
