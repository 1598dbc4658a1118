"""What a free-text answer says, by rule: refusals, yes and no, numbers in digits or words, matches.

Shared by the metrics that read answers. Each rule is a statement about English text; whatever no
rule decides is left to a judge.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping


def lexicon(text: str) -> frozenset[str]:
    """The words of a list that is written as running text."""
    return frozenset(text.split())


_KNOW = (
    r"(?:determine|determined|tell|read|identify|identified|answer|answered|make out|discern|discerned"
    r"|confirm|confirmed|verify|verified|transcribe|transcribed|recogni[sz]e|recogni[sz]ed|establish"
    r"|established|infer|inferred|conclude|provide|provided|deduce|ascertain|ascertained|know|known|say"
    r"|be sure|be certain|be read|be seen|be made out|answer that|interpret|interpreted|assist|help)"
)
_ADVERB = r"(?:\w+ly |quite |very |fully |even |be |really )*"
_REFUSALS = (
    # The speaker, or nobody, is able to know: "I cannot tell", "it cannot be determined".
    rf"\b(?:can(?:not| not|'t)|could(?: not|n't)|unable to|not able to|not possible to|impossible to"
    rf"|difficult to|hard to|no way to|refuse to|decline to) {_ADVERB}{_KNOW}\b",
    r"\b(?:i|we|one|you) (?:can(?:not| not|'t)|could(?: not|n't)|do(?: not|n't)) (?:\w+ly )?"
    r"(?:see|find|view)\b",
    # "not (clearly) visible" and its kin.
    r"(?:\bnot|n't) (?:\w+ly |quite |very |fully |be |been )*(?:visible|legible|readable|discernible"
    r"|distinguishable|recogni[sz]able|identifiable|determinable|available|shown|provided|specified"
    r"|mentioned|stated|given|known|sure|certain|clear|clear enough|sharp enough|enough|sufficient"
    r"|answerable)\b",
    r"\b(?:illegible|unreadable|indistinct|indeterminate|undetermined|indecipherable|unanswerable"
    r"|undeterminable|unidentifiable|unrecogni[sz]able|unintelligible)\b",
    r"\b(?:is|are|was|remains?|seems?|appears?|it's|am|i'm|be|too) (?:\w+ly )?"
    r"(?:unclear|unknown|uncertain|unsure|ambiguous)\b",
    r"\b(?:i|we) (?:do not|don't|did not|didn't|cannot|can't) (?:\w+ly )?know\b",
    r"\bno idea\b|\bn/a\b",
    r"\b(?:insufficient|not enough|inadequate|lack of|no|without) (?:\w+ )?(?:information|evidence|context"
    r"|details?|data)\b",
    r"\b(?:do|does|did)(?: not|n't) (?:\w+ly |seem to |appear to )?(?:contain|provide|mention|specify|show"
    r"|include|say|state|have enough|give|offer|display|depict|reveal|indicate)\b",
    # Nothing to be seen: "no visible text", "there are no objects visible", "nothing is visible".
    r"\bno (?:\w+ ){0,3}(?:visible|legible|readable|discernible|identifiable)\b",
    r"\bnothing (?:is |can be |to be )?(?:\w+ly )?(?:visible|seen|shown|there)\b",
    r"\bno (?:image|picture|photo|visual content|visual information)\b",
    # The replaced image named for what it is.
    r"\b(?:image|picture|photo|photograph)(?: is| was| appears(?: to be)?| seems(?: to be)?"
    r"|'s| looks)? (?:just |only |all |\w+ly )*(?:a |an )?(?:\w+ly |solid |pure |plain )*"
    r"(?:black|blank|empty|dark|noise|static|random noise|noisy|missing|corrupted)\b(?! (?:and white|cat|dog"
    r"|car|bear|horse|shirt|hair|and \w+ \w+))",
    r"\b(?:completely|entirely|totally|all|solid|pure|fully|plain) (?:black|blank|dark|empty)\b",
)
REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _REFUSALS))
"""Words by which an answer admits that it cannot be known or that there is nothing to be seen."""

_BARE_REFUSALS = lexicon(
    "unknown unclear uncertain unsure none nothing blank empty illegible unreadable unanswerable na "
    "undetermined indeterminate obscured hidden blurred blurry missing invisible redacted sorry"
)
_ARTICLES = frozenset(("a", "an", "the"))
_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen"""
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_NUMBERS = {word: value for value, word in enumerate(_UNITS.split())} | _TENS | {"none": 0, "dozen": 12}
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s*")
_ABSENCE = re.compile(
    r"\b(?:there (?:is|are|was|were)|i (?:do|can|could|did)|we (?:do|can)|it (?:is|does|has))"
    r"(?:n't| not| no)\b|\bthere(?:'s| is| are) (?:no|not|none)\b|\bno \w+ (?:is|are)\b"
    r"|\b(?:is|are) (?:not|n't|no|absent)\b|\b(?:isn't|aren't)\b"
)
_NEGATED = lexicon("not no never isn't aren't wasn't weren't neither nor without cannot")


def plain(text: str) -> str:
    """Compatibility-normalised text in one case, with straight apostrophes and single blanks."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`", "'").casefold()
    return " ".join(folded.split())


def words(text: str) -> list[str]:
    """Lower-case words and numbers of a text, without punctuation; apostrophes inside words stay."""
    return re.findall(r"\d+(?:[.:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*", plain(text))


def normalise(text: str) -> str:
    """Words without articles, numbers below one hundred in digits: the form answers are compared in."""
    return " ".join(_with_digits([word for word in words(text) if word not in _ARTICLES]))


def sentences(text: str) -> list[str]:
    """Sentences, lines and clauses after a semicolon, in order."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def is_refusal(text: str) -> bool:
    """Whether the text says that the answer cannot be known, or that there is nothing to be seen."""
    found = words(text)
    content = [word for word in found if word not in _ARTICLES]
    if content and len(content) <= 2 and all(word in _BARE_REFUSALS for word in content):
        return True
    return REFUSAL.search(plain(text)) is not None


def yes_or_no(text: str) -> bool | None:
    """The answer's own yes or no, read from its first word; ``None`` when it gives none.

    A leading yes that the same answer goes on to deny ("Yes, I checked, and there is no bus") is
    undecided, since the first word alone would turn its meaning round.
    """
    found = words(text)
    if not found:
        return None
    if found[0] in ("yes", "yeah", "yep", "yup", "true", "correct"):
        # "Yes, but it is not a dog" answers yes to whether something is there.
        return None if _ABSENCE.search(plain(text).split(" but ")[0]) else True
    if found[0] in ("no", "nope", "not", "false", "negative"):
        return False
    return None


def numbers(text: str) -> list[float]:
    """Numbers stated in digits or in words below one hundred, in order of the text."""
    return [float(token) for token in _with_digits(words(text)) if re.fullmatch(r"\d+(?:\.\d+)?", token)]


def says(text: str, phrase: str, synonyms: Mapping[str, Iterable[str]] | None = None) -> bool:
    """Whether the text states ``phrase`` or one of its synonyms as whole words, not right after a no.

    Args:
        synonyms: phrase -> other phrases that mean the same, compared in normalised form.
    """
    haystack = normalise(text).split()
    forms = [phrase, *(synonyms or {}).get(phrase, ())]
    return any(_stated(haystack, normalise(form).split()) for form in forms)


def same(text: str, phrase: str, synonyms: Mapping[str, Iterable[str]] | None = None) -> bool:
    """Whether the whole text is ``phrase`` or one of its synonyms in normalised form."""
    forms = [phrase, *(synonyms or {}).get(phrase, ())]
    return normalise(text) in {normalise(form) for form in forms}


def _stated(haystack: list[str], needle: list[str]) -> bool:
    if not needle:
        return False
    size = len(needle)
    for start in range(len(haystack) - size + 1):
        if haystack[start : start + size] == needle and not _NEGATED & set(
            haystack[max(0, start - 2) : start]
        ):
            return True
    return False


def _with_digits(tokens: list[str]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        if word in _TENS and at + 1 < len(tokens) and 0 < _NUMBERS.get(tokens[at + 1], 0) < 10:
            out.append(str(_TENS[word] + _NUMBERS[tokens[at + 1]]))
            at += 2
            continue
        out.append(str(_NUMBERS[word]) if word in _NUMBERS else word)
        at += 1
    return out
