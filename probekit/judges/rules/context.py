"""The mention inside its sentence: its noun phrase, what governs it, the clause it stands in."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.tokens import Sentence, sentences

CLOSED = (
    lex.PREPOSITIONS
    | lex.CONJUNCTIONS
    | lex.SUBORDINATORS
    | lex.PRONOUNS
    | lex.AUXILIARIES
    | lex.SEEM
    | lex.DETERMINERS
) | lex.ADVERBS
NOT_BEFORE_PARTICIPLE = lex.DETERMINERS | lex.PREPOSITIONS | lex.ADJECTIVES
"""After these a past participle modifies the noun that follows: ``the parked car``."""


class Determination(Enum):
    """How the noun phrase is introduced."""

    DEFINITE = "definite"
    INDEFINITE = "indefinite"
    BARE = "bare"
    NEGATIVE = "negative"


@dataclass(frozen=True)
class Context:
    """One mention in its sentence.

    Attributes:
        text: the whole text.
        sentence: the sentence that holds the mention.
        first, last: word positions of the mention in the sentence, both inclusive.
        category: the class the mention is taken for.
        before: the sentences before this one.
    """

    text: str
    sentence: Sentence
    first: int
    last: int
    category: str
    before: tuple[Sentence, ...]

    @classmethod
    def of(cls, text: str, start: int, end: int, category: str) -> Context | None:
        """The context of ``text[start:end]``; ``None`` when the span holds no word."""
        for number, sentence in enumerate(found := sentences(text)):
            if sentence.ends[-1] <= start:
                continue
            first = bisect_right(sentence.ends, start)
            last = first
            while last + 1 < len(sentence.words) and sentence.starts[last + 1] < end:
                last += 1
            if sentence.starts[first] >= end:
                return None
            return cls(text, sentence, first, last, category.lower(), found[:number])
        return None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence, in lower case."""
        return self.sentence.words

    def word(self, position: int) -> str:
        """The word at ``position``, or an empty string outside the sentence."""
        return self.words[position] if 0 <= position < len(self.words) else ""

    def quote(self, first: int, last: int) -> str:
        """The text from word ``first`` to word ``last``."""
        first, last = max(first, 0), min(last, len(self.words) - 1)
        return self.text[self.sentence.starts[first] : self.sentence.ends[last]]

    def verblike(self, position: int) -> bool:
        """Whether the word at ``position`` governs what follows rather than modifying it."""
        word = self.word(position)
        before = self.word(position - 1)
        if before == "-":
            return False
        if word in lex.AUXILIARIES or word in lex.VERBS:
            if word.endswith("ing"):
                return before not in lex.DETERMINERS and before not in lex.ADJECTIVES
            if word.endswith(("ed", "en", "t")):
                return before not in NOT_BEFORE_PARTICIPLE and not before.endswith("ly")
            return True
        if word in lex.VERB_STEMS:
            return before in {"to"} | lex.MODALS | {"can", "will", "would", "should"}
        if word.endswith("ing") and len(word) > 5 and word not in lex.NOUNS_IN_ING:
            return before not in lex.DETERMINERS and before not in lex.ADJECTIVES
        return False

    def nounlike(self, position: int) -> bool:
        """Whether the word at ``position`` may stand inside a noun phrase."""
        word = self.word(position)
        return bool(word) and word[0].isalnum() and word not in CLOSED and not self.verblike(position)

    def phrase_start(self, head: int) -> int:
        """First word of the noun phrase that ends at ``head``: modifiers, then determiners."""
        left = head
        while left > 0:
            word, beyond = self.word(left - 1), self.word(left - 2)
            if word == "that" and left > 1 and beyond not in lex.PREPOSITIONS:
                break
            if word in lex.DETERMINERS:
                left -= 1
                if word == "'s" and self.nounlike(left - 1):
                    return self.phrase_start(left - 1)
                if word in {"a", "an", "the", "no"} and beyond not in lex.DETERMINERS:
                    return left
            elif self.word(left) in lex.DETERMINERS:
                break
            elif word == "-" and left > 1:
                left -= 2
            elif self.nounlike(left - 1):
                left -= 1
            elif (
                (word in {",", "and", "&"})
                and beyond in lex.ADJECTIVES
                and self.word(left) in (lex.ADJECTIVES)
            ):
                left -= 2
            elif (
                word.endswith("ly") and word not in lex.HEDGE_ADVERBS and left < head and len(word) > 4
            ) or (word in {"very", "too", "most", "more"} and left < head):
                left -= 1
            else:
                break
        return left

    @cached_property
    def start(self) -> int:
        """First word of the mention's noun phrase."""
        return self.phrase_start(self.first)

    @cached_property
    def head(self) -> int:
        """Last word of the noun phrase: the mention's own last word, or the compound's head after it."""
        right = self.last
        while self.word(right + 1) == "-" or (
            self.nounlike(right + 1) and self.word(right + 1) in lex.COMPOUND_TAILS
        ):
            right += 1
        return right

    def determination(self, start: int, head: int) -> Determination:
        """How the noun phrase from ``start`` to ``head`` is introduced."""
        phrase = self.words[start:head]
        if any(word in lex.NEGATIVE_DETERMINERS for word in phrase):
            return Determination.NEGATIVE
        if any(word in lex.DEFINITE or word == "'s" for word in phrase):
            return Determination.DEFINITE
        if any(word in lex.INDEFINITE or word.isdigit() for word in phrase):
            return Determination.INDEFINITE
        return Determination.BARE

    @cached_property
    def own(self) -> Determination:
        """How the mention is introduced; a bare noun shares the determiner of the one it is joined to."""
        own = self.determination(self.start, self.first)
        if own is Determination.BARE and len(self.chain) > 1 and self.word(self.start - 1) in {"and", "or"}:
            shared = self.determination(*self.chain[1])
            return shared if shared is Determination.DEFINITE else own
        return own

    @property
    def definite(self) -> bool:
        """Whether the mention is presupposed rather than introduced."""
        return self.own is Determination.DEFINITE

    @cached_property
    def subject(self) -> bool:
        """Whether a finite verb follows the noun phrase directly, so that it starts its own clause."""
        after = self.word(self.head + 1)
        if after in lex.ADVERBS:
            after = self.word(self.head + 2)
        return after in lex.FINITE

    @cached_property
    def chain(self) -> tuple[tuple[int, int], ...]:
        """(start, head) of the noun phrases coordinated to the left of the mention, its own first."""
        found = [(self.start, self.first)]
        while True:
            start = found[-1][0]
            mark = start - 1
            while self.word(mark) in lex.ADVERBS and self.word(mark) not in {"not", "n't"}:
                mark -= 1
            joined = self.word(mark)
            if self._exemplifies(mark):
                mark -= 1 if joined == "like" else 2
                while self.word(mark) in {",", "("}:
                    mark -= 1
                if not self.nounlike(mark):
                    return tuple(found)
                found.append((self.phrase_start(mark), mark))
                continue
            if joined not in {"and", "or", "nor", ",", "&", "/"}:
                return tuple(found)
            if joined == "," and len(found) == 1 and not self._listed(mark):
                return tuple(found)
            head = mark - 1
            while self.word(head) in {",", "and", "or", "nor", "&"}:
                head -= 1
            if self.subject and len(found) == 1 and self.word(mark - 1) == ",":
                return tuple(found)
            if not self.nounlike(head):
                return tuple(found)
            start = self.phrase_start(head)
            alone = joined != "," and self.word(mark - 1) == "," and self.word(start - 1) != ","
            if alone and len(found) == 1:
                return tuple(found)
            found.append((start, head))

    def _exemplifies(self, mark: int) -> bool:
        """``such as``, or ``like`` after a plural: an instance stands and falls with its collection."""
        if self.word(mark) == "as":
            return self.word(mark - 1) == "such"
        collection = self.word(mark - 1)
        return self.word(mark) == "like" and (
            (collection.endswith("s") and self.nounlike(mark - 1)) or collection in lex.COLLECTIONS
        )

    def _listed(self, comma: int) -> bool:
        """Whether the comma before the mention belongs to a list: a conjunction follows the mention."""
        right = self.head + 1
        while right < len(self.words) and right < self.head + 8:
            if self.words[right] in {"and", "or"}:
                return True
            if self.words[right] in CLOSED or self.verblike(right):
                return False
            right += 1
        return False

    @cached_property
    def governor(self) -> int:
        """Position of the word that governs the mention or the list it stands in; -1 when none."""
        mark = self.chain[-1][0] - 1
        while self.word(mark) in lex.ADVERBS and self.word(mark) not in {"not", "n't"}:
            mark -= 1
        return mark
