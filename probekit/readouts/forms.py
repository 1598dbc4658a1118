"""The written forms of yes and no, as the ids a given tokenizer gives them after the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from probekit.benchmarks.yesno import Answer
from probekit.errors import InputError
from probekit.readouts.tokenizer import Tokenizer

SINGLE_FORMS: dict[Answer, tuple[str, ...]] = {
    Answer.YES: ("yes", "Yes", " yes", " Yes"),
    Answer.NO: ("no", "No", " no", " No"),
}
"""The eight forms of POPE-audit, Table 5."""

ALL_FORMS: dict[Answer, tuple[str, ...]] = {
    Answer.YES: (*SINGLE_FORMS[Answer.YES], "YES", " YES"),
    Answer.NO: (*SINGLE_FORMS[Answer.NO], "NO", " NO"),
}
"""The forms whose probability `dynamic_mass` adds up."""

ANSWER_PREFIX = "ASSISTANT:"
"""The end of the prompt after which the forms are tokenized, unless the caller gives the model's own."""


@dataclass(frozen=True)
class Form:
    """One written form under one tokenizer.

    Attributes:
        answer: yes or no.
        text: the form as written, a leading space included.
        ids: its ids after the prompt's end; empty when they cannot be told from the prompt's own.
        problem: why it cannot be used at all; empty when it can.
    """

    answer: Answer
    text: str
    ids: tuple[int, ...]
    problem: str = ""

    @property
    def single(self) -> bool:
        """Whether the form is one token, so that first-position logits decide about it."""
        return not self.problem and len(self.ids) == 1


def derive_forms(
    tokenizer: Tokenizer,
    forms: dict[Answer, tuple[str, ...]] = SINGLE_FORMS,
    context: str = ANSWER_PREFIX,
) -> tuple[Form, ...]:
    """Every form's ids as the continuation of ``context``.

    A word's ids depend on what stands before it: a SentencePiece tokenizer puts a space before the
    first word of a text, so the ids of a word encoded alone are those it has after a space.

    Args:
        context: the end of the prompt, up to where the answer begins; empty encodes each form alone,
            as POPE-audit's Table 10 does.
    """
    found = []
    before = tuple(tokenizer.encode(context)) if context else ()
    for answer, texts in forms.items():
        for text in texts:
            whole = tuple(tokenizer.encode(context + text))
            if whole[: len(before)] != before or len(whole) == len(before):
                found.append(Form(answer, text, (), "merges with the end of the prompt"))
                continue
            ids = whole[len(before) :]
            # An unknown word is one id too: only the way back shows it.
            back = tokenizer.decode(ids).strip().casefold()
            problem = "" if back == text.strip().casefold() else f"decodes to {back!r}"
            found.append(Form(answer, text, ids, problem))
    return tuple(found)


def sequences(forms: Sequence[Form], answer: Answer, *, single: bool) -> tuple[tuple[int, ...], ...]:
    """Distinct id sequences of an answer's usable forms, in the order of the forms.

    A sequence that begins with another one is left out: its probability is part of the shorter one's.
    """
    usable = [f.ids for f in forms if f.answer == answer and not f.problem and (f.single or not single)]
    distinct = tuple(dict.fromkeys(usable))
    return tuple(
        ids for ids in distinct if not any(ids != other and ids[: len(other)] == other for other in distinct)
    )


def left_out(forms: Sequence[Form], *, single: bool) -> tuple[str, ...]:
    """One phrase for each form that is not used, with the reason."""
    reasons = []
    for form in forms:
        if form.problem:
            reasons.append(f"{form.text!r}: {form.problem}")
        elif single and not form.single:
            reasons.append(f"{form.text!r}: {len(form.ids)} tokens {list(form.ids)}")
    return tuple(reasons)


def require_both(
    yes: Sequence[Sequence[int]], no: Sequence[Sequence[int]], forms: Sequence[Form], tokenizer: Tokenizer
) -> None:
    """Refuse a tokenizer that leaves no form of yes or of no, or gives both the same ids.

    Raises:
        InputError: names the tokenizer and each form's reason.
    """
    for answer, ids in ((Answer.YES, yes), (Answer.NO, no)):
        if not ids:
            reasons = [f"{f.text!r} {f.problem or list(f.ids)}" for f in forms if f.answer == answer]
            raise InputError(
                f"no form of {answer.value!r} is a single token: {'; '.join(reasons)}",
                where=f"tokenizer {tokenizer.name}",
                hint="Use dynamic_mass or string_parse.",
            )
    both = {tuple(ids) for ids in yes} & {tuple(ids) for ids in no}
    if both:
        raise InputError(f"yes and no share the ids {sorted(both)}", where=f"tokenizer {tokenizer.name}")
