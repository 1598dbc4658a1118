"""Recorded verdicts of the three validation stages, read from JSON Lines.

A line may say ``unread`` in place of a verdict: the judge's answer could not be read. Such a picture has no
verdict; `unread` counts them. Where a picture was asked about again, the later line alone counts.
"""

from pathlib import Path

from probekit.benchmarks.ghost import GhostCategory, Manifest
from probekit.benchmarks.ghost_validate import stage1, stage2
from probekit.errors import InputError
from probekit.files import Json, read_json, read_jsonl


def load_quality(path: Path, manifest: Manifest) -> dict[str, list[dict[str, int]]]:
    """Stage 1: lines of ``{"image_id", "rounds": [{dimension: score}]}``, with ``"unread": count`` perhaps.

    A picture of which no round could be read is left out.
    """
    found = {
        key: _rounds(value, f"{where} (image {key})")
        for key, value, where in _by_image(path, manifest, "rounds")
    }
    return {key: rounds for key, rounds in found.items() if rounds}


def load_compliance(path: Path, manifest: Manifest) -> dict[str, Json]:
    """Stage 2: lines of ``{"image_id", "q1", "q2"}``, text images with ``"allowed_words"`` as well.

    Raises:
        InputError: an answer is not true or false, or the words are no list of texts; file, line and image
            are named.
    """
    known = manifest.by_id()
    found = {}
    for key, value, where in _by_image(path, manifest, "q1", "q2"):
        try:
            stage2(Manifest(manifest.root, (known[key],)), {key: value})
        except InputError as error:
            raise InputError(error.what, where=f"{where} (image {key})", hint=error.hint) from None
        found[key] = value
    return found


def load_assignments(path: Path, manifest: Manifest) -> dict[str, str | None]:
    """Stage 3: lines of ``{"image_id", "cluster"}``; null where a picture was put into no cluster.

    Raises:
        InputError: a cluster is neither a name nor a whole number; file, line and image are named.
    """
    found = {}
    for key, value, where in _by_image(path, manifest, "cluster"):
        cluster = value["cluster"]
        if cluster is not None and type(cluster) not in (str, int):
            raise InputError(f"'cluster' is {cluster!r}, no name or number", where=f"{where} (image {key})")
        found[key] = None if cluster is None else str(cluster)
    return found


def unread(path: Path) -> int:
    """Answers in a file of recorded verdicts that could not be read; of stage 1, single rounds.

    Of several lines on a picture the last counts, and a reason beside a verdict does not.
    """
    counts: dict[str, int] = {}
    for number, value in read_jsonl(path, required=("image_id",)):
        one = value.get("unread", 0)
        if type(one) is int and one < 0:
            raise InputError(f"'unread' is {one}", where=f"{path}, line {number}")
        judged = any(value.get(name) is not None for name in ("q1", "cluster"))
        counts[str(value["image_id"])] = one if type(one) is int else int(not judged)
    return sum(counts.values())


def load_clusters(path: Path) -> dict[str, GhostCategory]:
    """Stage 3: a JSON object cluster -> category, fixed before the judge is asked.

    Raises:
        InputError: the file is not such an object.
    """
    value = read_json(path)
    if not isinstance(value, dict) or not all(name in tuple(GhostCategory) for name in value.values()):
        raise InputError(
            "an object cluster -> category is needed",
            where=str(path),
            hint=f"Categories: {', '.join(GhostCategory)}.",
        )
    return {str(cluster): GhostCategory(name) for cluster, name in value.items()}


def _by_image(path: Path, manifest: Manifest, *required: str) -> list[tuple[str, Json, str]]:
    """Verdicts by picture with their places; what could not be read gives way to what comes after it."""
    known = manifest.by_id()
    read: dict[str, bool] = {}
    found: dict[str, tuple[str, Json, str]] = {}
    for number, value in read_jsonl(path, required=("image_id",)):
        where = f"{path}, line {number}"
        key = str(value["image_id"])
        if key not in known:
            raise InputError(f"image {key!r} is not in the manifest", where=where)
        missing = [name for name in required if name not in value]
        if missing and "unread" not in value:
            raise InputError(f"missing {', '.join(map(repr, missing))}", where=where)
        now = not missing and value.get("rounds") != []
        if now and read.get(key, False):
            raise InputError(f"a second record of image {key!r}", where=where)
        read[key] = now
        found.pop(key, None)
        if not missing:
            found[key] = key, value, where
    return list(found.values())


def _rounds(value: Json, where: str) -> list[dict[str, int]]:
    rounds = value["rounds"]
    if not isinstance(rounds, list) or not all(isinstance(scores, dict) for scores in rounds):
        raise InputError("'rounds' must be a list of objects", where=where)
    try:
        if rounds:
            stage1(rounds)
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from None
    return rounds
