"""Votes: asking judges about classes of captions, keeping every answer, counting the yes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from probekit.errors import InputError
from probekit.files import JsonlAppender, digest, read_json, read_jsonl
from probekit.metrics.throne_questions import Questions
from probekit.progress import progress

Ask = Callable[[Sequence[str]], list[str]]
"""Prompts to answers, in order."""

Reading = Literal["exact", "begins"]
"""``exact``: the whole answer is yes (THRONE). ``begins``: it begins with yes (NAME-Bench's chat judge)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One thing to vote on.

    Attributes:
        caption_id: the caption.
        category: the class asked about.
    """

    caption_id: str
    category: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Votes on one pair.

    Attributes:
        yes: answers that say yes.
        votes: all answers.
    """

    yes: int
    votes: int


def is_yes(answer: str, reading: Reading) -> bool:
    """Whether an answer is a vote for presence; case and blanks around it do not matter."""
    plain = answer.lower().strip()
    return plain == "yes" if reading == "exact" else plain.startswith("yes")


def collect_votes(
    judge: str,
    ask: Ask,
    captions: Mapping[str, str],
    pairs: Sequence[Pair],
    questions: Questions,
    out: Path,
    *,
    batch: int = 64,
) -> int:
    """Ask one judge every question about every pair, and append the answers to ``out`` as they come.

    A rerun asks only what is missing: an answer counts as given when judge and prompt are the same.

    Args:
        judge: name the votes are filed under.
        ask: the judge.
        captions: caption id to text.
        pairs: what to ask about, each once.
        questions: how to ask.
        out: JSON Lines of votes.
        batch: prompts handed to the judge together.

    Returns:
        How many questions were asked now.
    """
    asked = 0
    with JsonlAppender(out) as file:
        given = {(str(line.get("judge")), str(line.get("prompt"))) for line in file.done}
        todo = []
        for pair in pairs:
            for number in range(len(questions)):
                prompt = questions.ask(captions[pair.caption_id], pair.category, number)
                if (judge, _name(pair, number, prompt)) not in given:
                    todo.append((pair, number, prompt))
        total = len(pairs) * len(questions)
        with progress(f"Votes of {judge}", total, "questions", total - len(todo)) as advance:
            for first in range(0, len(todo), batch):
                part = todo[first : first + batch]
                answers = ask([prompt for _, _, prompt in part])
                if len(answers) != len(part):
                    raise InputError(
                        f"{len(answers)} answers to {len(part)} questions", where=f"judge {judge}"
                    )
                file.append(
                    {
                        "caption_id": pair.caption_id,
                        "category": pair.category,
                        "judge": judge,
                        "question": number,
                        "prompt": _name(pair, number, prompt),
                        "answer": answer,
                    }
                    for (pair, number, prompt), answer in zip(part, answers, strict=True)
                )
                asked += len(part)
                advance(len(part))
    return asked


def _name(pair: Pair, number: int, prompt: str) -> str:
    return digest([pair.caption_id, pair.category, number, prompt])


def read_votes(
    paths: Iterable[Path], reading: Reading = "exact", classes: Sequence[str] = ()
) -> dict[Pair, Tally]:
    """Count votes of one or more files.

    A file is JSON Lines as `collect_votes` writes them, or one of THRONE's own answer files: a JSON object of
    image id to answers, questions in the outer order and ``classes`` in the inner one.

    Raises:
        InputError: a line is not a vote, a vote is given twice, or the pairs have unequal numbers of votes.
    """
    seen: dict[tuple[str, str, str, int], str] = {}
    yes: dict[Pair, int] = {}
    votes: dict[Pair, int] = {}
    for path in paths:
        for caption_id, category, judge, question, answer, where in _lines(path, classes):
            key = (caption_id, category, judge, question)
            if key in seen:
                raise InputError(f"vote given twice, first in {seen[key]}", where=where)
            seen[key] = where
            pair = Pair(caption_id, category)
            yes[pair] = yes.get(pair, 0) + is_yes(answer, reading)
            votes[pair] = votes.get(pair, 0) + 1
    most = max(votes.values(), default=0)
    for pair, number in votes.items():
        if number != most:
            raise InputError(
                f"{number} votes on {pair.category!r}, others have {most}",
                where=f"caption {pair.caption_id}",
                hint="Run the judges that are missing; a rerun asks only what is not in the file.",
            )
    return {pair: Tally(yes[pair], votes[pair]) for pair in votes}


def _lines(path: Path, classes: Sequence[str]) -> Iterator[tuple[str, str, str, int, str, str]]:
    if path.suffix == ".json":
        yield from _answer_file(path, classes)
        return
    for number, value in read_jsonl(path, ("caption_id", "category", "judge", "question", "answer")):
        where = f"{path}, line {number}"
        if not isinstance(value["answer"], str) or type(value["question"]) is not int:
            raise InputError("`answer` is text, `question` a whole number", where=where)
        yield (
            *(str(value["caption_id"]), str(value["category"]), str(value["judge"])),
            value["question"],
            value["answer"],
            where,
        )


def _answer_file(path: Path, classes: Sequence[str]) -> Iterator[tuple[str, str, str, int, str, str]]:
    value = read_json(path)
    if not isinstance(value, dict) or not classes:
        raise InputError("not an answer file: image id to list of answers is needed", where=str(path))
    for image, answers in value.items():
        where = f"{path}, image {image}"
        if not isinstance(answers, list) or not answers or len(answers) % len(classes):
            found = len(answers) if isinstance(answers, list) else json.dumps(answers)[:40]
            raise InputError(
                f"answers to every one of {len(classes)} classes are needed: {found}", where=where
            )
        for place, answer in enumerate(answers):
            question, position = divmod(place, len(classes))
            yield str(image), classes[position], path.stem, question, str(answer), where
