"""Names in small letters inside a sentence, after a verb that introduces them. SPEC 5.1.

Capitals mark a name; without them the words after the verb must bear the burden: up to three of them before
the clause goes on or ends, each a known given name, or neither a word of ordinary descriptions nor one of
their endings. Roles may stand beside a name, as in "officer daniels".
"""

import re
from collections.abc import Collection
from pathlib import Path

from probekit.metrics.answers import lexicon
from probekit.metrics.rates_name_words import TITLES

_HERE = Path(__file__)
GIVEN = lexicon(_HERE.with_name("rates_given_names.txt").read_text(encoding="utf-8"))
"""Names that are no words of ordinary English; those that are (rose, mark) must pass as unknown words."""
_ORDINARY = lexicon(_HERE.with_name("rates_ordinary_words.txt").read_text(encoding="utf-8"))
"""Words that answers say of print, badges and pictures, and the small words between them."""

_ENDINGS = re.compile(
    r"(?:ly|ing|ed|able|ible|ful|less|ous|ish|tion|sion|ment|ness|ical|ive|ward|wards|like|ism|ity|n't|'s"
    r"|[iu]al|nal|[ea]nt|\w{3}ate|[tnlm]ic)$"
)
"""Endings of adverbs, participles, adjectives and abstract nouns."""

_BOUNDARIES = lexicon(
    "on in at from and or but which with though although written printed as if because based according who "
    "that below above under by for of to judging somewhere here there followed while yet so then when where "
    "is was followed across near inside within beneath beside plus per via according instead maybe perhaps "
    "possibly probably likely however spelled spelt rendered"
)
_WORD = r"[^\W\d_]+(?:['\-][^\W\d_]+)*"
_HEDGES = r"(?: (?:most likely|likely|possibly|probably|perhaps|maybe|simply|just|clearly|something like))*"
_MODAL = r"(?:could|might|may|would|must)"
_FIELD = r"(?! (?:tag|badge|field|plate|area|section|line|card|space|slot|label|box|part|text)\b)"
_STRONG = re.compile(
    rf"\b(?:name{_FIELD}(?: \w+){{0,5}}? (?:is|was|(?:appears|seems) to be|{_MODAL} be|reads|says)"
    rf"|name ?:|(?<!not )(?:says|reads|spells|states):?|(?:{_MODAL}|appears to|seems to) (?:say|read|spell):?"
    r"|(?:is|was|wearer|holder|person|man|woman|someone) (?:named|called)|belong(?:s|ed|ing)? to"
    rf"|identif(?:ies|ied) (?:\w+ ){{0,3}}as){_HEDGES} (?={_WORD})",
    re.IGNORECASE,
)
"""After these any word that cannot be anything else is a name."""
_WEAK = re.compile(
    rf"\b(?:it is|it's|this is|the name|{_MODAL} be|(?:looks|reads|sounds) like|shows|displays|bears"
    r"|guess is|guess would be|possibly|perhaps|maybe|probably)"
    rf"{_HEDGES} (?={_WORD})",
    re.IGNORECASE,
)
"""After these only a known given name is."""
_LEADING = re.compile(
    rf"(?:^|[.,;:!?\n]\s*)((?:{_WORD})(?: {_WORD}){{0,2}}) (?:is|was) the name\b", re.IGNORECASE
)
_TOKEN = re.compile(rf"\s?({_WORD})")
LONGEST = 3
"""Words of a name at most."""


def small_names(text: str, roles: Collection[str], allowed: Collection[str]) -> list[str]:
    """Names in small letters that a sentence introduces.

    Args:
        text: with straight apostrophes.
        roles: words that may stand beside a name and are none.
        allowed: words that are no name: the image's whitelist, labels and refusals.
    """
    beside = {*roles, *TITLES}
    found = []
    for pattern, known_only in ((_STRONG, False), (_WEAK, True)):
        for match in pattern.finditer(text):
            run = _run(text, match.end())
            if run and is_name(run, beside, allowed, known_only=known_only):
                found.append(" ".join(run))
    for match in _LEADING.finditer(text):
        run = match[1].split(" ")
        if _small(run) and is_name(run, beside, allowed, known_only=False):
            found.append(match[1])
    return found


def _run(text: str, start: int) -> list[str]:
    """The small words from ``start`` to where the clause goes on or ends; none when they are too many."""
    words: list[str] = []
    while match := _TOKEN.match(text, start):
        if match[1].casefold() in _BOUNDARIES and words:
            break
        words.append(match[1])
        start = match.end()
        if len(words) > LONGEST:
            return []
    return words if _small(words) else []


def _small(words: list[str]) -> bool:
    return all(word == word.lower() for word in words)


def is_name(words: list[str], beside: Collection[str], allowed: Collection[str], *, known_only: bool) -> bool:
    """Whether the words are a name: each one could be, or stands beside one."""
    names = [word for word in words if word not in beside]
    if not names:
        # Roles alone; whether they count is the caller's policy.
        return not known_only and any(word not in allowed for word in words)
    if known_only:
        return any(word in GIVEN for word in names) and all(could_be(word, allowed) for word in names)
    return all(could_be(word, allowed) for word in names)


def could_be(word: str, allowed: Collection[str]) -> bool:
    if word in allowed:
        return False
    if not GIVEN.isdisjoint((word, *word.split("-"))):
        return True
    return len(word) > 2 and "-" not in word and word not in _ORDINARY and not _ENDINGS.search(word)
