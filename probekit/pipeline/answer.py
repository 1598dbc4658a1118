"""Questions to answers: greedy, resumable, one line a question, for any benchmark's file of questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.errors import InputError
from probekit.files import Json, JsonlAppender, digest, inside, read_json, read_jsonl, sha256, write_json
from probekit.jobs import ModelSpec
from probekit.pipeline.describe import readable
from probekit.pipeline.same_pictures import same_pictures
from probekit.pipeline.tracing import LateModel
from probekit.progress import progress

if TYPE_CHECKING:
    from probekit.families import Prompter


def read_questions(path: Path) -> list[Json]:
    """Lines of ``{"example_id", "image_id", "image", "prompt"}``, other fields kept.

    Raises:
        InputError: a line has another shape or an example comes twice; file and line named.
    """
    seen: set[str] = set()
    found = []
    for number, line in read_jsonl(path, ("example_id", "image_id", "image", "prompt")):
        where = f"{path}, line {number}"
        if not all(isinstance(line[name], str) and line[name] for name in ("example_id", "image", "prompt")):
            raise InputError("'example_id', 'image' and 'prompt' must be texts", where=where)
        if line["example_id"] in seen:
            raise InputError(f"example {line['example_id']!r} comes twice", where=where)
        seen.add(line["example_id"])
        found.append(line)
    if not found:
        raise InputError("no questions", where=str(path))
    return found


def answer(
    spec: ModelSpec, questions: Path, root: Path, out: Path, *, max_new_tokens: int = 64, batch: int = 16
) -> Path:
    """Answer every question that is not yet answered; returns the file of answers.

    Args:
        root: folder from which the questions' image paths start.
        out: JSON Lines; a rerun goes on after the last whole line.

    Raises:
        InputError: an image cannot be read (what is done stays), or the file belongs to another run.
    """
    asked = read_questions(questions)
    identity = digest([spec.digest(), sha256(questions), max_new_tokens])
    return answer_all(LateModel(spec), asked, identity, root, out, max_new_tokens=max_new_tokens, batch=batch)


def answer_all(
    model: LateModel,
    asked: Sequence[Json],
    identity: str,
    root: Path,
    out: Path,
    *,
    max_new_tokens: int,
    batch: int,
) -> Path:
    """Like `answer`, for questions at hand and a model that other work may share.

    Args:
        asked: as `read_questions` gives them.
        identity: digest of what the answers depend on.
    """
    header = same_run(out, identity)
    with JsonlAppender(out, alone=True) as lines:
        done = {str(line.get("example_id")) for line in lines.done}
        same_pictures(lines.done, root, out)
        left = [line for line in asked if line["example_id"] not in done]
        if left:
            # a model that is not there must not leave its name, nor a question that cannot be asked an answer
            check_texts(model.get()[1], left)
            name = model.spec.name
            write_json(header, {"digest": identity, "model": name, "max_new_tokens": max_new_tokens})
            _ask(model, left, root, lines, max_new_tokens, batch, len(asked) - len(left))
    return out


def check_texts(prompter: Prompter, asked: Sequence[Json]) -> None:
    """Look at the words of every question before any is asked.

    Raises:
        InputError: a text holds the mark of a picture; the sample is named.
    """
    for line in asked:
        with named(line["example_id"]):
            prompter.text(line["prompt"], 1)


@contextmanager
def named(sample: str) -> Iterator[None]:
    """What is wrong with a text is said with its sample."""
    try:
        yield
    except InputError as error:
        raise InputError(error.what, where=f"sample {sample}", hint=error.hint) from None


def same_run(out: Path, identity: str) -> Path:
    """The file beside a file of answers that says whose they are; refused when they are another run's."""
    header = out.with_suffix(".json")
    before = read_json(header) if header.exists() else {"digest": identity}
    if not isinstance(before, dict) or before.get("digest") != identity:
        raise InputError(
            "the answers are those of another run", where=str(out), hint="Give another --out, or remove it."
        )
    return header


def by_picture(lines: Sequence[Json], size: int) -> Iterator[list[Json]]:
    """Batches of about ``size`` lines in their order; neighbours about one picture stay together.

    A batch ends when it is full and the next line is about another picture, or at twice the size.
    """
    batch: list[Json] = []
    for line in lines:
        full = len(batch) >= size and line["image"] != batch[-1]["image"]
        if full or len(batch) >= 2 * size:
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


def _ask(
    model: LateModel,
    left: Sequence[Json],
    root: Path,
    lines: JsonlAppender,
    max_new_tokens: int,
    batch: int,
    done: int,
) -> None:
    from probekit.families import open_image
    from probekit.forward.generate import Generator, Question

    vlm, prompter = model.get()
    generator = Generator(vlm, prompter, max_new_tokens)
    with progress("Answering", done + len(left), "questions", done) as advance:
        for group in by_picture(left, batch):
            group, shown, unreadable = readable(
                group,
                [
                    partial(open_image, inside(root, line["image"]), sample=line["example_id"])
                    for line in group
                ],
            )
            answers = (
                generator.run(
                    [
                        Question(
                            line["example_id"],
                            line["image_id"],
                            image,
                            line["prompt"],
                            str(inside(root, line["image"])),
                        )
                        for line, image in zip(group, shown, strict=True)
                    ]
                )
                if group
                else ()
            )
            lines.append(
                {
                    **line,
                    "token_ids": list(found.token_ids),
                    "text": found.text.strip(),
                    "prompt_tokens": found.prompt_tokens,
                    "finished": found.finished,
                    "image_sha256": sha256(inside(root, line["image"])),
                }
                for line, found in zip(group, answers, strict=True)
            )
            if unreadable is not None:
                raise unreadable
            advance(len(group))
