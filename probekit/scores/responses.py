"""Is the answer right, is it invented, is it a shortcut: the rule stage, then a judge where there is one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from probekit.metrics.answers import is_refusal, normalise, numbers, same, says, yes_or_no
from probekit.metrics.estimates import DRAWS, Estimate, mean

Synonyms = Mapping[str, Iterable[str]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one answer.

    Attributes:
        value: the decision; ``None`` when no rule decides and a judge is needed.
        rule: name of the rule that decided.
    """

    value: bool | None
    rule: str


def correct(response: str, references: Sequence[str], synonyms: Synonyms | None = None) -> Verdict:
    """Whether the answer states one of the right answers. Tri-Layer 4.3; SPEC 4.4.

    Rules in order: an empty answer or a refusal is wrong; a yes/no reference is compared with the
    answer's own yes or no; a number with the one number the answer states (several: undecided);
    any other reference is looked for as whole words, or as one of its synonyms.
    """
    if not references:
        return Verdict(None, "no_reference")
    if not response.strip():
        return Verdict(False, "empty")
    if any(same(response, reference, synonyms) for reference in references):
        return Verdict(True, "same")
    if is_refusal(response):
        return Verdict(False, "uncertainty")
    wanted = {yes_or_no(reference) for reference in references if normalise(reference) in ("yes", "no")}
    if wanted and len(wanted) == len({normalise(reference) for reference in references}):
        given = yes_or_no(response)
        return Verdict(None if given is None else given in wanted, "yes_no")
    counts = {tuple(numbers(reference)) for reference in references if _is_number(reference)}
    if counts:
        stated = numbers(response)
        if len(set(stated)) > 1:
            return Verdict(None, "several_numbers")
        if not stated and len(counts) == len(references):
            return Verdict(False, "no_number")
        if stated:
            return Verdict((stated[0],) in counts, "number")
    if any(says(response, reference, synonyms) for reference in references):
        return Verdict(True, "stated")
    return Verdict(False, "not_stated")


def blind_hallucination(response: str, *, bare_no_counts: bool = True) -> Verdict:
    """Whether an answer to a replaced image makes something up (``shortcut=True`` in the paper).

    A refusal or an admission of uncertainty is not a shortcut; any other content is.

    Args:
        bare_no_counts: whether a plain "No", which speaks as if the picture had been seen, is one.
            The paper does not say; "no dog is visible" is an admission either way.
    """
    if not response.strip():
        return Verdict(None, "empty")
    if is_refusal(response):
        return Verdict(False, "uncertainty")
    if yes_or_no(response) is False and len(normalise(response).split()) == 1:
        return Verdict(bare_no_counts, "bare_no")
    return Verdict(True, "content")


def conflict_shortcut(
    response: str,
    question_objects: Iterable[str],
    conflict_objects: Iterable[str],
    full_response: str | None = None,
    synonyms: Synonyms | None = None,
) -> Verdict:
    """Whether an answer to an unrelated image speaks of what the question implies. Tri-Layer 4.3.

    Naming an object of the image shown is grounding, also when it is named to deny the question's
    premise. The question's objects are not in that image by construction, so denying them is true of
    it: "There is no cup" is as grounded as "No".

    Args:
        full_response: the answer to the original image; the same answer to an unrelated one is a shortcut.
    """
    if not response.strip():
        return Verdict(None, "empty")
    if is_refusal(response):
        return Verdict(False, "uncertainty")
    asked = list(question_objects)
    text = normalise(response)
    shown = [o for o in conflict_objects if o not in asked]
    if any(
        f" {normalise(form)} " in f" {text} " for o in shown for form in (o, *(synonyms or {}).get(o, ()))
    ):
        return Verdict(False, "names_conflict_object")
    given = yes_or_no(response)
    if given is not None:
        return Verdict(given, "yes_no")
    if any(says(response, o, synonyms) for o in asked):
        return Verdict(True, "names_question_object")
    if any(f" {normalise(o)} " in f" {text} " for o in asked):
        return Verdict(False, "denies_question_object")
    if full_response is not None and text and text == normalise(full_response):
        return Verdict(True, "same_answer")
    return Verdict(None, "undecided")


def resolve(rules: Sequence[Verdict], judged: Sequence[bool | None] | None = None) -> list[bool | None]:
    """Final decisions: the judge's where there is one, else the rules'; ``None`` where neither decides."""
    if judged is None:
        return [rule.value for rule in rules]
    return [rule.value if judge is None else judge for rule, judge in zip(rules, judged, strict=True)]


def rate(
    decisions: Sequence[bool | None], images: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """Share of true decisions (accuracy, SC rate), interval by image; undecided ones are only counted."""
    values = np.array([np.nan if d is None else float(d) for d in decisions], dtype=np.float64)
    return mean(values, images, share=True, draws=draws, seed=seed)


def _is_number(reference: str) -> bool:
    return len(numbers(reference)) == 1 and len(normalise(reference).split()) == 1
