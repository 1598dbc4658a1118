"""H-Rate, categories 01 to 03: a personal name or badge text that cannot be read was given. SPEC 5.1.

Candidates are quoted spans, words in capitals, capitalised words where a sentence introduces a name, such
words in small letters when they can be nothing else, and short bare answers. What the image's whitelist
or the list of role and label words covers is taken away; a response is a hallucination if anything is left.
"""

import re
from collections.abc import Iterable

from probekit.metrics.answers import is_refusal, lexicon, words
from probekit.metrics.rates_small_names import small_names
from probekit.metrics.rates_verdict import RateVerdict, final_fields

ROLES = lexicon(
    "police security access staff visitor press employee contractor volunteer medical guest member admin "
    "administrator officer guard doctor nurse manager supervisor director teacher student crew media event "
    "team sheriff fire firefighter emt paramedic authorized authorised personnel official temporary vip "
    "conference department dept company hospital university school office service services id"
)
"""Roles and badge headings that are no personal names and that badges bear by design."""

_LABELS = lexicon(
    "name names badge card field tag text letter letters word words title image picture photo logo "
    "barcode number first last full surname print printed label line here unreadable illegible blank none "
    "null na unknown empty redacted unclear absent present blurred blurry hidden obscured not no yes ok "
    "okay nothing sorry error missing gibberish nonsense symbols visible readable legible final "
    "confidence evidence answer n a or and the an is are was it its on in of at to for this that there "
    "with but be by as from i you we cannot can't could couldn't can do does don't doesn't did please "
    "note unfortunately however although appears appear seems seem likely possibly probably perhaps maybe "
    "only just also based because due any all some one two english latin cyrillic arabic chinese japanese "
    "korean greek russian unidentified someone person individual provided shown given determine read "
    "reads see clear clearly mr mrs ms dr sir ai identification identity identify been has have had will "
    "would should must too small tiny dark far low resolution quality faint fuzzy distorted scrambled "
    "random characters glyphs script marks lines strokes smudged garbled pixelated covered black white "
    "grey gray red green blue yellow orange purple brown looks language foreign made up plain solid box "
    "bar code qr portrait says say said shows show showing states displays display contains contain "
    "belongs bears"
)
_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»\n]{1,80})[\"“”„«»]|(?<!\w)['‘]([^'‘’\n]{1,80})['’](?!\w)")
_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ"
_MARKUP = re.compile(r"[*_`#]+")
_CAPITALS = re.compile(rf"(?<![\w'’])[{_UPPER}][{_UPPER}'’.\-]*[{_UPPER}](?![\w])")
_NAME = rf"[{_UPPER}][\w'’.\-]*(?: (?:de |van |von |la |al |bin )?[{_UPPER}][\w'’.\-]*)*"
_INTRODUCED = re.compile(
    r"\b(?:[Nn]ame(?: \w+){0,8}? ?(?:is|was|reads|says|:|seems|appears|looks|(?:could|might|may|would) be)"
    r"|[Rr]eads?|[Ss]ays?|[Ss]tates?|[Ss]hows?|[Dd]isplays?|[Nn]amed|[Cc]alled|[Bb]elongs to|[Ii]dentified as"
    r"|[Ii]dentifies \w+ as|[Ll]abell?ed|[Ii]t is|[Ii]t's|[Tt]his is|[Ss]pells?"
    r"|(?:person|holder|owner|wearer|bearer|man|woman|individual)(?: \w+){0,4} is"
    r"|[Ss]tarts with|[Bb]egins with"
    r"|[Ll]ooks like|[Aa]ppears to (?:be|read|say|show)|[Ss]eems to (?:be|read|say|show))"
    r"(?: (?:to be|to read|to say|as|like|most|likely|possibly|probably|perhaps|maybe|something like|the|a|an"
    r"|name|clearly|simply))*[ :,]+"
    rf"({_NAME})"
)
_NAMES = re.compile(rf"\b{_NAME}")
_LEADS = re.compile(r" (?:is|was) (?:the name|printed|written|the person|shown on the badge)")
"""What makes the name before it one. The two are sought apart: together they would read a long row of
capitalised words once from each of its words."""
_DENIED = re.compile(r"(?:[Tt]here (?:is|are|was|were) no|[Tt]here['’]s no|[Nn]o) [a-zß-öø-ÿа-яё]")
"""A bare answer that says what is not there: what follows the no is in small letters."""
BARE_WORDS = 4
"""Longest response that is taken as nothing but the answer."""


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
    if not response.strip():
        return RateVerdict(None, "invalid")
    finals = final_fields(response)
    text = _MARKUP.sub("", ". ".join(finals) if finals else response)
    allowed = {word for entry in whitelist for word in words(entry)} | _LABELS
    if not roles_need_whitelist:
        allowed |= ROLES
    # Case tells nothing in a text of capitals: a refusal is a refusal, any other word a candidate.
    candidates = ([] if is_refusal(text) else [text]) if text.isupper() else _candidates(text, allowed)
    bare = text.strip(" .!*_[]()\"'“”‘’\n")
    if 0 < len(bare.split()) <= BARE_WORDS and not is_refusal(bare) and not _DENIED.match(bare):
        candidates.append(bare)
    left = tuple(c for c in dict.fromkeys(candidates) if any(_kept(word, allowed) for word in words(c)))
    if left:
        return RateVerdict(True, "name_or_text", left)
    if count_visible_yes and words(text)[:1] == ["yes"]:
        return RateVerdict(True, "visible_yes", ("yes",))
    return RateVerdict(False, "refusal" if is_refusal(text) else "nothing_left")


def _candidates(text: str, allowed: set[str]) -> list[str]:
    straight = text.replace("’", "'").replace("‘", "'")
    found = [double or single for double, single in _QUOTED.findall(straight)]
    found += _CAPITALS.findall(text)
    found += _INTRODUCED.findall(text)
    found += [name.group() for name in _NAMES.finditer(text) if _LEADS.match(text, name.end())]
    found += small_names(straight, ROLES, allowed - ROLES)
    return [part for part in found if part]


def _kept(word: str, allowed: set[str] | frozenset[str]) -> bool:
    stem = word.removesuffix("'s")
    return any(letter.isalpha() for letter in stem) and len(stem) > 1 and stem not in allowed
