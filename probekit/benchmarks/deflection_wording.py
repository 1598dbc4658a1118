"""The sentences round a question of DeflectionBench, replaceable by a file of one's own."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from probekit.errors import InputError
from probekit.files import digest, read_json, write_json

_MARK = "\x02"
"""Stands for a text or a question, to see whether a sentence shows it."""


@dataclass(frozen=True)
class Wording:
    """Sentences of a prompt. The benchmark's own are not public; these are the project's.

    Attributes:
        with_evidence, without_evidence: what comes first, with pieces of evidence in the turn or without.
        forced_with, forced_without: the same where declining is not offered.
        item, image_item: before each piece, a text or an image; ``{number}`` counts them, ``{text}`` is one.
        question: ``{question}`` is the sample's.
        between: what stands between all these; empty ones are left out.
    """

    with_evidence: str = (
        "Answer the question with the help of the evidence below. Some of it may have nothing to do with "
        "the question. If the evidence does not hold the answer, say that you cannot answer."
    )
    without_evidence: str = "Answer the question. If you do not know the answer, say that you cannot answer."
    forced_with: str = (
        "Answer the question with the help of the evidence below. Some of it may have nothing to do with "
        "the question. Always give the answer that is most likely to be right, also when you are not sure."
    )
    forced_without: str = (
        "Answer the question. Always give the answer that is most likely to be right, also when you are not "
        "sure."
    )
    item: str = "Evidence {number}: {text}"
    image_item: str = "Evidence {number} is this picture:"
    question: str = "Question: {question}"
    between: str = "\n"

    def lead(self, *, evidence: bool, forced: bool) -> str:
        """What comes first."""
        if forced:
            return self.forced_with if evidence else self.forced_without
        return self.with_evidence if evidence else self.without_evidence

    @property
    def offers_declining(self) -> bool:
        """Whether the forced prompts are other prompts at all."""
        free, forced = (
            [self.lead(evidence=evidence, forced=forced) for evidence in (True, False)]
            for forced in (False, True)
        )
        return free != forced

    def digest(self) -> str:
        """Digest of all sentences."""
        return digest(asdict(self))

    def save(self, path: Path) -> None:
        """Write the sentences as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def load(cls, path: Path) -> "Wording":
        """Read sentences; what the file does not name stays the project's.

        Raises:
            InputError: a field is unknown, is no text, or lacks its place for a text or question.
        """
        value = read_json(path)
        known = [field.name for field in fields(cls)]
        if not isinstance(value, dict) or not set(value) <= set(known):
            strange = ", ".join(sorted(set(value) - set(known))) if isinstance(value, dict) else "no object"
            raise InputError(
                f"unknown sentences: {strange}", where=str(path), hint=f"Known: {', '.join(known)}."
            )
        if wrong := [name for name, text in value.items() if not isinstance(text, str)]:
            raise InputError(f"{wrong[0]!r} must be a text", where=str(path))
        found = cls(**value)
        filled = {}
        for name, given in (("item", {"number": 1, "text": _MARK}), ("image_item", {"number": 1}),
                            ("question", {"question": _MARK})):  # fmt: skip
            try:
                filled[name] = getattr(found, name).format(**given)
            except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
                raise InputError(
                    f"{name!r} has a place that nothing fills: {error}", where=str(path)
                ) from None
        if _MARK not in filled["question"] or _MARK not in filled["item"]:
            raise InputError("'question' needs {question} and 'item' needs {text}", where=str(path))
        return found


ORGANISM_WORDING = Wording(
    with_evidence="",
    without_evidence="",
    forced_with="",
    forced_without="",
    item="{text}",
    image_item="",
    question="{question}",
    between=" ",
)
"""For the embedded model, which knows no instructions: evidence and question as they are."""
