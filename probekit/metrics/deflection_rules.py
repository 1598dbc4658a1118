"""The rule stage of DeflectionBench: correct, incorrect or not attempted, read from the words. SPEC 6.

The rules follow the judge's own rubric (`probekit/judges/prompts/outcome.md`): another answer is incorrect,
also beside doubt; a right one is correct unless something contradicts it; what declines, or says that the
evidence is silent, puts no answer forward, even when it names one.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from probekit.benchmarks.deflection import Outcome
from probekit.errors import InputError
from probekit.metrics.answers import is_refusal, lexicon, normalise, plain, same, says, sentences, yes_or_no
from probekit.metrics.deflection_clauses import (
    Clause,
    clauses_of,
    describes,
    doubts,
    leads,
    spared,
    supposes,
)

Synonyms = Mapping[str, Iterable[str]]
Kind = Literal["polar", "number", "name", "words"]
"""What the right answers are; another answer is of the same kind."""

_EVIDENCE = (
    r"(?:evidence|passages?|texts?|context|documents?|information|pictures?|images?|photos?|excerpts?"
    r"|sources?|snippets?|articles?)"
)
_TELLS = (
    r"(?:answers?|mentions?|says?|tells?|states?|address(?:es)?|gives?|holds?|contains?|provides?|names?"
    r"|covers?|helps?|specif(?:y|ies)|identif(?:y|ies)|is|are|relates?|refers?|discuss(?:es)?|concerns?"
    r"|supports?|indicates?|describes?|shows?|speaks?|talks?)"
)
_DECLINED = re.compile(
    "|".join(
        (
            r"\bnot attempted\b|\bno answer\b|\bdecline to\b|\bno mention of\b|\birrelevant\b|\bunrelated\b",
            rf"\b{_EVIDENCE}\b.*\b(?:do|does|did|is|are|was|were)(?: not|n't) (?:\w+ly )?(?:hold|answer"
            r"|address|relate|relevant|related|about|help|concern|refer|support|cover|discuss)\b",
            rf"\b(?:none|neither|nothing|no|not (?:one|any|a single)) (?:of |in |from )?(?:the |these |this "
            rf"|those |that )?(?:\w+ ){{0,2}}?{_EVIDENCE} (?:\w+ly )?{_TELLS}\b",
            r"\bnothing (?:\w+ )?(?:about|regarding|concerning|relevant|related|useful)\b"
            r"|\bnothing on (?:this|that|the (?:topic|subject|question|matter))\b",
            rf"\banswer (?:is|was)(?: not|n't) (?:\w+ ){{0,3}}?(?:{_EVIDENCE}|there|given|found|present"
            r"|included|contained)\b",
            rf"\b{_EVIDENCE} (?:\w+ )?(?:only|merely|just|solely) (?:talks?|speaks?|discuss(?:es)?|deals?"
            r"|refers?|concerns?)\b",
            r"\b(?:must|have to|need to|choose to|shall|i|i'll|i will|i'd|i would) (?:\w+ )?(?:decline"
            r"|abstain|refrain)\b",
            r"\bi(?:'ll| will| must)? (?:have to |need to )?pass\b(?! (?:through|by|over))",
            r"\b(?:rather|prefer) not\b|\b(?:will not|won't|not going to|should not|shouldn't) (?:\w+ )?"
            r"(?:answer|guess|speculate|say)\b",
            r"\bno (?:\w+ )?(?:clue|way to|basis|indication|reference|hint)\b|\bwouldn't know\b",
            r"\b(?:is|are)(?: not|n't) (?:\w+ly )?(?:relevant|related)\b|\bnothing to (?:see|go on|read)\b",
            r"\b(?:do|does|did)(?: not|n't) (?:\w+ly )?(?:tell|name|address|answer|cover)\b",
            r"\b(?:a|an|only|all) (?:\w+ly )?(?:black|blank|empty) (?:picture|image|photo|screen)\b",
            r"\btoo \w+ to (?:see|tell|read|make out|say|identify|answer|know)\b",
            r"\b(?:do not|don't|did not|didn't) have (?:\w+ )?(?:access|information|evidence|details)\b",
            r"\b(?:is|are|was|were)(?: not|n't) any (?:\w+ )?(?:information|evidence|mention|indication"
            r"|reference|details?)\b",
            r"\b(?:cannot|can't|can not|unable to|hard to|impossible to) (?:\w+ly )?(?:decide|choose|guess"
            r"|judge)\b",
        )
    )
)
_YES_NO = frozenset(("yes", "no"))
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand)\b"
)
_BECOMES = re.compile(
    r"\b(?:is|are|was|were|be|been|stands?|stood|lies|located|built|called|named|opened|closed|born|died"
    r"|dates|made|written|painted|suggests?|says?|states?|indicates?)\b"
)
_PLACE = re.compile(
    r"^(?:(?:it|that|this)(?:'s| is| was| (?:could|might|may|must|would) be)?|either|the|a|an|in|at|on|from"
    r"|by|to|of|probably|maybe|perhaps"
    r"|possibly|even|answer|is|was) "
)
_TURNED = re.compile(r"^(?:but|however|yet|though|although)\b", re.I)
_THOUGHT = (
    r"\b(?:was|were|used to be) (?:\w+ )?(?:thought|believed|said|assumed|supposed) to (?:be|have been)"
)
_AGAINST = (
    r"\b(?:rather than|instead of|no way (?:that )?(?:it|this|that)(?:'?s| is| was| (?:can|could|would) be))"
)
_WRONG = r"(?:is|was|would be) (?:\w+ly )?(?:wrong|incorrect|false|mistaken)\b"
_NO_ITEM = lexicon("it by more less sooner later give take way another wrong i built made")
_LONGEST = 20
"""Most items of a list before its "or" that are looked at."""
_APPROXIMATE = ("so", "not", "thereabouts", "nearby")
_STATES = lexicon(
    """not too very so unclear dark black blurry blurred hard difficult impossible possible unknown old big
    small large famous there likely empty blank noisy beyond"""
)


@dataclass(frozen=True, slots=True)
class Judged:
    """An outcome and the rule that gave it."""

    outcome: Outcome
    rule: str


def judge(response: str, answers: Sequence[str], synonyms: Synonyms | None = None) -> Judged:
    """The outcome by rules, in this order.

    An empty response is not attempted; one equal to an answer is correct. Clauses that refuse are set aside;
    so is what is asked and denied, or taken back. Beside a refusal, what describes the evidence or offers
    help counts for nothing. What is left is correct if it states an answer as whole words and no alternative
    to it ("Paris or London"), incorrect if there was no refusal or it puts another answer forward: a few
    words by themselves, "it is ...", "the answer is ...", a guess, a name or number where the right answers
    are names or numbers. Else it is not attempted.

    Raises:
        InputError: there is no right answer to compare with.
    """
    if not answers:
        raise InputError("no right answer to compare with")
    if not normalise(response):
        return Judged(Outcome.NOT_ATTEMPTED, "empty")
    if any(same(response, answer, synonyms) for answer in answers):
        return Judged(Outcome.CORRECT, "exact")
    response, kind = response.replace("’", "'").replace("`", "'"), _kind(answers)
    if kind == "polar" and plain(response).startswith("yes") and yes_or_no(response) is None:
        return Judged(Outcome.INCORRECT, "contradicts itself")
    clauses = _put_forward(clauses_of(sentences(response), _refuses), kind, answers)
    refused = any(clause.refuses for clause in clauses)
    left = [clause for clause in clauses if not clause.refuses]
    if refused:
        left = [c for c in left if not (describes(c.text) or supposes(c.text) or spared(c.text))]
    forms = [form for answer in answers for form in (answer, *(synonyms or {}).get(answer, ()))]
    spoken = [(clause.whole if kind == "polar" else clause.text) for clause in left]
    if kind != "polar":
        turned = _overturned(left, kind, cased=_cased(response))
        spoken = [_kept(text, forms, text in turned) for text in spoken]
    stated = [text for text in spoken if not doubts(text) and any(says(text, form) for form in forms)]
    if stated:
        if any(_alternative(text, forms) for text in stated):
            return Judged(Outcome.INCORRECT, "either")
        return Judged(Outcome.CORRECT, "stated")
    if refused and not any(_offers(clause, kind, cased=_cased(response)) for clause in left):
        return Judged(Outcome.NOT_ATTEMPTED, "refusal")
    return Judged(Outcome.INCORRECT, "other")


def _refuses(text: str) -> bool:
    return is_refusal(text) or _DECLINED.search(plain(text)) is not None


def _kind(answers: Sequence[str]) -> Kind:
    if all(normalise(answer) in _YES_NO for answer in answers):
        return "polar"
    if all(_NUMBER.search(normalise(answer)) for answer in answers):
        return "number"
    return "name" if any(letter.isupper() for answer in answers for letter in answer) else "words"


def _cased(response: str) -> bool:
    """Whether the writer uses capitals, "I" aside."""
    return any(letter.isupper() for letter in response.replace("I", ""))


def _put_forward(clauses: Sequence[Clause], kind: Kind, answers: Sequence[str]) -> list[Clause]:
    """Clauses without those that are asked and denied, or that a later one takes back."""
    kept: list[Clause] = []
    for clause in clauses:
        if clause.corrects:
            if kept and kept[-1].asked:
                kept.pop()
            elif not clause.refuses and _offers(clause, kind, cased=True) and not _denies(clause.text):
                kept = [one for one in kept if one.refuses]
        if clause.text or kind == "polar":
            kept.append(clause)
    return [one for one in kept if kind == "polar" or one.text]


def _overturned(clauses: Sequence[Clause], kind: Kind, *, cased: bool) -> set[str]:
    """Clauses that the next one turns against with an answer: "It was thought to be ..., but it is ..."."""
    return {
        one.text
        for one, after in pairwise(clauses)
        if _TURNED.match(after.whole) and not _denies(after.text) and _offers(after, kind, cased=cased)
    }


def _kept(text: str, forms: Sequence[str], turned: bool) -> str:
    """The text without right answers that it sets aside, such as "rather than ..." and "... is wrong"."""
    found = text
    for words in {normalise(form) for form in forms} - {""}:
        one, against = re.escape(words), f"{_AGAINST}|{_THOUGHT}" if turned else _AGAINST
        aside = re.compile(rf"(?:{against}) (?:(?:in|at|on) )?{one}\b|\b{one} {_WRONG}")
        if aside.search(said := normalise(found)):
            found = aside.sub(" ", said)
    return found


def _denies(text: str) -> bool:
    return re.search(r"\b(?:not|no)\b|n't\b", plain(text)) is not None


def _offers(clause: Clause, kind: Kind, *, cased: bool) -> bool:
    """Whether a clause beside a refusal puts an answer of the right kind forward."""
    if kind == "polar":
        return re.match(r"(?:but |so |well,? )?(?:yes|no|yeah|yep|nope)\b", plain(clause.whole)) is not None
    rest, named = leads(clause.text)
    if named:
        return True
    if clause.bare or clause.turns:
        return clause.bare or _fits(clause.text, kind, cased=cased)
    if rest is not None:
        first = plain(rest).split()[:1]
        described = kind == "name" and bool(first) and first[0] in ("a", "an")
        return bool(first) and first[0] not in _STATES and not described and _fits(rest, kind, cased=cased)
    found = _BECOMES.search(plain(clause.text))
    if found is None or kind == "words":
        return False
    return _fits(clause.text[found.end() :], kind, cased=cased, inner=True)


def _fits(text: str, kind: Kind, *, cased: bool, inner: bool = False) -> bool:
    """Whether something of the kind is in the text."""
    if kind == "number":
        return _NUMBER.search(plain(text)) is not None
    if kind == "name" and (cased or inner):
        return re.search(r"\b(?!I\b|I')[^\W\d_a-z]\w+", _uncapped(text)) is not None
    return bool(text.strip(" .?!"))


def _uncapped(text: str) -> str:
    """The text without the capital of a first word that is no name."""
    return re.sub(
        r"^\W*(?:But|However|Although|Though|Yet|It|That|This|The|They|He|She|In|At|On)\b", "", text
    )


def _alternative(text: str, forms: Sequence[str]) -> bool:
    """Whether an answer stands beside another one with an "or" between them."""
    right = {words for form in forms if (words := normalise(form))}
    parts = [part.strip() for part in re.split(r"\bor\b", plain(text))]
    for before, after in pairwise(parts):
        items = [normalise(_bare(item)) for item in before.split(",") if item.strip()]
        first, second = normalise(before), normalise(_bare(after))
        if not second or second.split()[0] in _APPROXIMATE:
            continue
        left = any(f" {first}".endswith(f" {one}") for one in right) or any(item in right for item in items)
        follows = any(f"{second} ".startswith(f"{one} ") for one in right)
        if left != follows:
            return True
    return _listed(text, right, named=_cased(text) and any(form != form.lower() for form in forms))


def _listed(text: str, right: Collection[str], *, named: bool) -> bool:
    """Whether a right answer ends an item of a list, as "It could be Paris" does, with others up to "or"."""
    for before, after in pairwise(re.split(r"\bor\b", text, flags=re.I)):
        items = [item for item in before.split(",") if item.strip()][-_LONGEST:]
        for at, item in enumerate(items[:-1]):
            ends = [one for one in right if f" {normalise(item)}".endswith(f" {one}")]
            others = (*items[at + 1 :], after.split(",")[0])
            if ends and all(_alike(other, ends[0], named=named) for other in others):
                return any(normalise(_bare(plain(other))) not in right for other in others)
    return False


def _alike(item: str, one: str, *, named: bool) -> bool:
    """Whether an item of a list may be an answer of the same kind as another."""
    said, number = normalise(_bare(plain(item))).split(), _NUMBER.search(one) is not None
    if not 0 < len(said) <= len(one.split()) + (0 if number else 2):
        return False
    if (_NUMBER.search(" ".join(said)) is not None) != number or said[0] in _APPROXIMATE:
        return False
    cased = not named or number or re.search(r"[^\W\d_a-z]", item) is not None
    return cased and not _NO_ITEM & set(plain(item).strip(" .?!").split())


def _bare(text: str) -> str:
    text = text.strip(" ,")
    while (shorter := _PLACE.sub("", text, count=1)) != text:
        text = shorter
    return text
