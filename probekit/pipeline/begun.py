"""What is there of a store before a job goes on with it: nothing, all of it, or a beginning.

A shard is a function of the job and of its texts, and texts are put one after another. So a store whose
digest is that of the job on the first so many of its texts holds a beginning: its full shards stay, and
the texts that came later are traced after them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from probekit.captures import Capture
from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.jobs import ExtractJob, file_digest


@dataclass(frozen=True)
class Begun:
    """A store as it is found.

    Attributes:
        captures: what its shards hold; what is asked for where there is no store.
        digest: of what made it, ``None`` where there is no store.
        examples: texts with rows it is made of, in the order of its shards.
    """

    captures: tuple[Capture, ...]
    digest: str | None
    examples: tuple[str, ...]

    def serves(self, folder: Path, needed: Collection[str], shard_examples: int) -> bool:
        """Whether it is whole and holds all texts of ``needed`` that have rows."""
        from probekit.store import finished

        if self.digest is None or not set(needed) <= set(self.examples):
            return False
        shards = -(-len(self.examples) // shard_examples)
        return len(finished(folder, self.digest, self.captures)) == shards


def identity(job: ExtractJob) -> str:
    """Digest of what decides a store's numbers; which captures are kept beside each other does not."""
    return _digest(job, file_digest(job.generations), file_digest(job.rows))


def begun(folder: Path, asked: Iterable[Capture], job: ExtractJob, *, texts_too: bool = True) -> Begun:
    """What is there of the pass that ``job`` keeps in ``folder``; nothing is changed.

    Args:
        asked: captures of this pass. A store that holds more serves them too.
        texts_too: also see whether the store is of these texts and rows.

    Raises:
        InputError: the store lacks a capture, or was made of other texts, rows or settings.
    """
    from probekit.store.schema import HEADER_FILE, load_header

    asked = tuple(dict.fromkeys(asked))
    if not (folder / HEADER_FILE).is_file():
        return Begun(asked, None, ())
    header, held = load_header(folder)
    if lacking := [capture.key for capture in asked if capture not in held]:
        raise InputError(
            f"the store was made without {', '.join(lacking)}",
            where=str(folder),
            hint="Captures cannot be added to a store. Give another --out, or name only detectors that "
            "`probekit ls` shows as served.",
        )
    if not texts_too:
        return Begun(held, header.job_digest, ())
    if header.job_digest == identity(job):
        return Begun(held, header.job_digest, texts_with_rows(job.rows))
    examples = _beginning(job, header.job_digest)
    if examples is None:
        raise InputError(
            "the store was made by another job: of other texts or rows, or with another model, prompt, "
            "--shard-examples or --batch-tokens",
            where=str(folder),
            hint="Give another --out, or the job that made this store; remove its folder to trace again.",
        )
    return Begun(held, header.job_digest, examples)


def texts_with_rows(rows: Path) -> tuple[str, ...]:
    """Texts that have rows, in the order of their first."""
    return tuple(dict.fromkeys(str(row.get("example_id", "")) for _, row in read_jsonl(rows)))


def _digest(job: ExtractJob, generations: str, rows: str) -> str:
    return job.model_copy(update={"captures": ()}).digest(generations=generations, rows=rows)


def _beginning(job: ExtractJob, digest: str) -> tuple[str, ...] | None:
    """Texts with rows among the first so many that give ``digest``; ``None`` when no number of them does."""
    with job.rows.open("rb") as handle:
        lines = [(_example(line), line) for line in handle]
    blocks = [(name, [line for _, line in block]) for name, block in groupby(lines, lambda pair: pair[0])]
    texts, rows = hashlib.sha256(), hashlib.sha256()
    found: list[str] = []
    with job.generations.open("rb") as handle:
        for line in handle:
            texts.update(line)
            name = _example(line)
            if len(found) < len(blocks) and blocks[len(found)][0] == name:
                for row in blocks[len(found)][1]:
                    rows.update(row)
                found.append(name)
            if _digest(job, texts.hexdigest()[:16], rows.hexdigest()[:16]) == digest:
                return tuple(found)
    return None


def _example(line: bytes) -> str:
    try:
        return str(json.loads(line)["example_id"])
    except (ValueError, KeyError, TypeError):
        return ""
