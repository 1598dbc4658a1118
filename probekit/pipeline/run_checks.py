"""What is looked at before a run changes anything: whose folder it is, and whether all inputs are right."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import read_json, read_jsonl
from probekit.jobs import ExtractJob, ModelSpec, RunJob
from probekit.mentions import Vocabulary
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.stages import Stages, inputs_of

logger = logging.getLogger(__name__)

TEXTS = ("model", "question", "max_new_tokens", "images", "texts")
"""What makes the texts: a folder belongs to these."""

TRACED = ("vocabulary", "shard_examples", "batch_tokens")
"""What makes rows and store, beside the texts."""

PATHS = ("images", "texts", "vocabulary")
"""Fields that name a file or folder, which may be spelt in several ways."""

SHOWN = 3
"""Examples that a message gives."""


def refuse_another(folder: RunFolder, job: RunJob, traced: Sequence[str] = TRACED) -> None:
    """Refuse a folder whose texts or store another job made.

    Args:
        traced: fields that must be the same where there is a store.

    Raises:
        InputError: it is another's; what differs is named.
    """
    if not folder.job.exists():
        return
    before, now = read_json(folder.job), job.model_dump(mode="json")
    if not isinstance(before, dict):
        raise InputError("not the job of a run", where=str(folder.job), hint="Give another --out.")
    names = (*TEXTS, *(traced if _has_store(folder) else ()))
    if not _has_store(folder) and before.get("texts") and now["texts"]:
        # captions of which nothing was traced are simply taken anew
        names = tuple(name for name in names if name != "texts")
    changed = [name for name in names if not _same(name, before.get(name), now[name])]
    if changed:
        named = ", ".join(f"{name} ({_shown(before.get(name))}, now {_shown(now[name])})" for name in changed)
        raise InputError(
            f"the folder belongs to a run with another {named}",
            where=str(folder.root),
            hint="Give another --out, or the same as before.",
        )


def _same(name: str, before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = set(before) | set(now)
        return all(before.get(key) == now.get(key) for key in keys - ModelSpec.irrelevant)
    if name in PATHS and isinstance(before, str) and isinstance(now, str) and before != now:
        return os.path.exists(before) and Path(before).resolve() == Path(now).resolve()
    return bool(before == now)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        given = {name: item for name, item in value.items() if item not in (None, False, "auto")}
        return ", ".join(f"{item}" if name == "name" else f"{name} {item}" for name, item in given.items())
    return "none" if value is None else str(value)


def _has_store(folder: RunFolder) -> bool:
    from probekit.store.schema import HEADER_FILE

    return (folder.store / HEADER_FILE).is_file()


def refuse_another_store(
    folder: RunFolder, job: ExtractJob, vocabulary: Vocabulary, wanted: Sequence[str], stages: Stages
) -> None:
    """Refuse what the folder's store can neither serve nor be extended to.

    Args:
        job: of the extraction.
        vocabulary: by which mentions are found.
        wanted: texts the run is about.

    Raises:
        InputError: another vocabulary, other captures, texts or rows, or another version of a library
            while there is something left to trace.
    """
    if not _has_store(folder):
        return
    if not folder.generations.is_file():
        return
    if stages.differs("vocabulary", vocabulary.digest):
        raise InputError(
            f"the vocabulary {vocabulary.name!r} has changed since the run's mentions were traced",
            where=str(folder.root),
            hint="Give another --out, or the vocabulary as it was.",
        )
    from probekit.pipeline.extract import passes
    from probekit.pipeline.tracing import PACKAGES
    from probekit.store.schema import load_header

    rows_stand = stages.done("mentions", inputs_of(folder.generations, vocabulary.digest), folder.rows)
    passes(job, texts_too=rows_stand)
    done = {str(line.get("example_id")) for _, line in read_jsonl(folder.generations)}
    if not set(wanted) <= done:
        before = load_header(folder.store)[0].versions
        now = {name: version(name) for name in PACKAGES}
        if changed := [name for name in now if before.get(name) != now[name]]:
            raise InputError(
                f"there is more to trace, and the store was made with another {', '.join(changed)}",
                where=str(folder.store),
                hint="Give another --out, or install what `probekit ls --json` says of the store.",
            )


def check(job: RunJob, vocabulary: Vocabulary) -> tuple[str, ...]:
    """What can be wrong is looked at before the long work: references, detectors, files.

    Returns:
        Names of the pictures the run is about.
    """
    from probekit.mentions.references import presence
    from probekit.pipeline.describe import pictures
    from probekit.pipeline.extract import captures_of
    from probekit.pipeline.texts import read_captions

    captures_of(job.detectors)
    if job.usage not in ("rules", "grammar") and not Path(job.usage).is_file():
        raise InputError(
            f"usage is judged by 'rules' or a file of labels, and there is no file {job.usage}",
            hint="`probekit label` writes such a file.",
        )
    known = presence(job.references, vocabulary)
    if job.texts is None:
        names = tuple(picture.image_id for picture in pictures(job.images, job.limit))
    else:
        names = tuple(caption.name for caption in read_captions(job.texts, job.images, job.limit))
    lost = [name for name in names if known.get(name) is None]
    if len(lost) == len(names):
        of = "pictures" if job.texts is None else "captioned pictures"
        raise InputError(
            f"the references name none of the {len(names)} {of} of {job.images}",
            where=str(job.references),
            hint=f"The pictures are {_some(names)}; the references name {_some(list(known.objects))}. "
            "Names must agree, but for suffix, COCO's prefix and zeros.",
        )
    if lost:
        logger.warning(
            "%s: nothing is said of %d of the %d pictures: %s; what is claimed of these is left out",
            job.references, len(lost), len(names), _some(lost),
        )  # fmt: skip
    return names


def _some(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "nothing"
