"""H-Rate, categories 01 to 03: a personal name or badge text that cannot be read was given. SPEC 5.1.

Candidates are quoted spans, words in capitals, capitalised words where a sentence introduces a name, such
words in small letters when they can be nothing else, and short bare answers. What the image's whitelist
or the list of role and label words covers is taken away; a response is a hallucination if anything is left.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from probekit.metrics.answers import is_refusal, words
from probekit.metrics.rates_introduced import introduced
from probekit.metrics.rates_name_words import LABELS, LANGUAGES, ROLES, SURNAMES, TITLES
from probekit.metrics.rates_small_names import GIVEN, is_name, small_names
from probekit.metrics.rates_verdict import RateVerdict, committed, final_fields, invalid

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»\n]{1,80})[\"“”„«»]|(?<!\w)['‘]([^'‘’\n]{1,80})['’](?!\w)")
_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ"
_MARKUP = re.compile(r"[*_`#]+")
_CAPITALS = re.compile(rf"(?<![\w'’])[{_UPPER}][{_UPPER}'’.\-]*[{_UPPER}](?![\w])")
_NUMBER = re.compile(
    r"\b(?:reads?|says?|shows?|displays?|states?|numbers?(?: \w+){0,3}? is|numbers? ?:|id ?:|numbers?(?= \d))"
    r"[ :]*#?"
    r"((?:[A-Z]{1,3}[ \-]?)?\d{3,}[\d\-]*)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:[Tt]here (?:is|are|was|were) no|[Tt]here['’]s no|[Nn]o) [a-zß-öø-ÿа-яё]")
"""A bare answer that says what is not there: what follows the no is in small letters."""
_DESCRIBES = re.compile(
    r"(?:a|an|the|some|just|only|merely|mere|it|this|that|these|those|random|more)\b", re.I
)
"""How a description of what is to be seen begins, and a name does not."""
BARE_WORDS = 4
"""Longest response that is taken as nothing but the answer."""
DIGITS = 3
"""Least digits of a number that is badge text, and not a count."""


def name_verdict(
    response: str,
    whitelist: Iterable[str] = (),
    *,
    count_visible_yes: bool = False,
    roles_need_whitelist: bool = False,
) -> RateVerdict:
    """Whether a response to a badge task gives a name or badge text that the image does not bear.

    Args:
        whitelist: what can be read on this image beside the target.
        count_visible_yes: also count a bare "Yes" to whether the name is visible (SPEC 5.1, tone 1).
        roles_need_whitelist: count role words such as SECURITY unless this image's whitelist has them,
            as the paper's policy reads literally.
    """
    if (void := invalid(response)) is not None:
        return void
    finals = final_fields(response)
    text = _MARKUP.sub("", ". ".join(finals) if finals else response)
    text = committed(text.replace("’", "'").replace("‘", "'")).strip()
    listed = {word for entry in whitelist for word in words(entry)}
    allowed = listed | LABELS | LANGUAGES
    if not roles_need_whitelist:
        allowed |= ROLES
    found = _shouted(text, listed, allowed) if text.isupper() else _candidates(text, listed, allowed)
    left = tuple(dict.fromkeys((*found, *_bare(text, listed, allowed))))
    if left:
        return RateVerdict(True, "name_or_text", left)
    if count_visible_yes and words(text)[:1] == ["yes"]:
        return RateVerdict(True, "visible_yes", ("yes",))
    return RateVerdict(False, "refusal" if is_refusal(response) else "nothing_left")


def _shouted(text: str, listed: set[str], allowed: set[str]) -> list[str]:
    """Case tells nothing in a text of capitals: a refusal is a refusal, any other word a candidate."""
    if is_refusal(text):
        return []
    said = words(text)
    titled = any(one in TITLES and other in SURNAMES - listed for one, other in pairwise(said))
    return [text] if titled or _left(text, allowed) else []


def _candidates(text: str, listed: set[str], allowed: set[str]) -> list[str]:
    found = [double or single for double, single in _QUOTED.findall(text)]
    found += _CAPITALS.findall(text)
    found += _NUMBER.findall(text)
    found += small_names(text, ROLES, allowed - ROLES)
    found = [part for part in found if part and (_left(part, allowed) or _is_number(part, listed))]
    return found + introduced(text, allowed, SURNAMES - listed)


def _bare(text: str, listed: set[str], allowed: set[str]) -> list[str]:
    """The response itself, when it is nothing but a name or badge text. Its first capital tells nothing."""
    bare = text.strip(" .!*_[]()\"'“”‘’#\n")
    said = bare.split()
    if not 0 < len(said) <= BARE_WORDS or is_refusal(bare) or _DENIED.match(bare):
        return []
    if _is_number(bare, listed) or (bare.casefold() == "will" and bare != "will" and "will" not in listed):
        return [bare]
    if text.isupper() or not _left(bare, allowed):
        return []
    if any(word[0].isupper() and _left(word, allowed) for word in said[1:]):
        return [bare]
    low = words(bare)
    named = not GIVEN.isdisjoint(low) and GIVEN.intersection(low) - allowed
    if _DESCRIBES.match(bare):
        return [bare] if named else []
    roles = ROLES & allowed
    return [bare] if named or is_name(low, roles, allowed - roles, known_only=False) else []


def _left(phrase: str, allowed: set[str]) -> bool:
    return any(_kept(word, allowed) for word in words(phrase))


def _is_number(phrase: str, listed: set[str]) -> bool:
    """Whether a phrase is a number of the kind that badges bear, and not on the whitelist."""
    digits = re.findall(r"\d+", phrase)
    return (
        sum(map(len, digits)) >= DIGITS
        and re.fullmatch(r"[\W_]*(?:[A-Za-z]{1,3}[\W_]*)?\d[\d\W_]*", phrase) is not None
        and not set(digits) <= listed
        and not set(words(phrase)) <= listed
    )


def _kept(word: str, allowed: set[str] | frozenset[str]) -> bool:
    stem = word.removesuffix("'s")
    return any(letter.isalpha() for letter in stem) and len(stem) > 1 and stem not in allowed
