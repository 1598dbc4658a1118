"""What a store says about itself: the header, and the shape each capture must have."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from probekit.captures import (
    PAIRED,
    SIMILARITY_TERMS,
    STATISTICS,
    AttentionGrid,
    AttentionMass,
    Capture,
    Divergence,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    Logits,
    TokenStatistics,
    parse_capture,
)
from probekit.errors import InputError
from probekit.files import Json, read_json, write_json

FORMAT = 1
HEADER_FILE = "job.json"
MANIFEST_FILE = "manifest.jsonl"
SHARD_FOLDER = "shards"
ONCE_FOLDER = "once"
ATTENTION_DTYPE = "attention_dtype"
"""Key of `Header.extra` that sets the stored type of attention: ``float16`` (default) or ``float32``."""


CHECK = "check"
"""Key of `Header.extra` that holds the digest of the report of the model's check, if it was checked."""


@dataclass(frozen=True)
class Header:
    """Where the numbers of a store come from. Saved before the work begins.

    Attributes:
        job_digest: digest of the job that asked for the extraction.
        model: name or path of the model.
        revision: commit or content digest of the weights.
        family: architecture family that served the model.
        kernel: attention implementation.
        dtype: the model's number type in the pass.
        template_hash: digest of the chat template.
        versions: library versions, by name.
        replay_agreement: share of generated tokens that the pass gives back greedily (SPEC 0.8.6);
            a measurement, so a resumed run may differ in it.
        depth: decoder layers, L.
        heads: query heads of a layer, H.
        width: hidden size, D.
        vocabulary: size of the output vocabulary, V.
        shard_examples: examples in one shard.
        extra: anything else a reader may want, as JSON values.
    """

    job_digest: str
    model: str
    revision: str
    family: str
    kernel: str
    dtype: str
    template_hash: str
    versions: Mapping[str, str]
    replay_agreement: float
    depth: int
    heads: int
    width: int
    vocabulary: int
    shard_examples: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> Json:
        """JSON object that `from_json` reads back."""
        return {**asdict(self), "versions": dict(self.versions), "extra": dict(self.extra)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], *, where: str) -> "Header":
        """Read a header.

        Raises:
            InputError: a field is missing; ``where`` and the fields are named.
        """
        missing = [f.name for f in fields(cls) if f.name not in value]
        if missing:
            raise InputError(f"the header lacks {', '.join(missing)}", where=where)
        given = {f.name: value[f.name] for f in fields(cls)}
        if given["replay_agreement"] is None:
            given["replay_agreement"] = float("nan")
        given["replay_agreement"] = float(given["replay_agreement"])
        return cls(**given)


def save_header(path: Path, header: Header, captures: tuple[Capture, ...]) -> None:
    """Write the header and the captures of the store at ``path``."""
    write_json(
        path / HEADER_FILE,
        {"format": FORMAT, "header": header.to_json(), "captures": [c.key for c in captures]},
    )


def load_header(path: Path) -> tuple[Header, tuple[Capture, ...]]:
    """Read what `save_header` wrote.

    Raises:
        InputError: there is no store at ``path``, or its header cannot be read.
    """
    file = path / HEADER_FILE
    if not file.is_file():
        raise InputError(
            "there is no store here",
            where=str(path),
            hint=_nearby(path) or "A store is a folder made by `probekit extract`.",
        )
    value = read_json(file)
    if not isinstance(value, dict) or not {"format", "header", "captures"} <= set(value):
        raise InputError("not the header of a store", where=str(file), hint=_nearby(path) or None)
    if value["format"] != FORMAT:
        raise InputError(
            f"store format {value['format']}, this version reads {FORMAT}",
            where=str(file),
            hint="Extract again, or use the version of probekit that wrote it.",
        )
    captures = tuple(parse_capture(str(key)) for key in value["captures"])
    return Header.from_json(value["header"], where=str(file)), captures


def _nearby(path: Path) -> str:
    """Where a run keeps its stores, when ``path`` is a run; empty when nothing below looks like one."""
    below = [*path.glob("store"), *path.glob("*/store")] if path.is_dir() else []
    found = sorted(str(folder) for folder in below if (folder / HEADER_FILE).is_file())
    return f"This run keeps its stores elsewhere: {', '.join(found)}." if found else ""


def differences(
    old: Header, old_captures: tuple[Capture, ...], new: Header, new_captures: tuple[Capture, ...]
) -> Iterator[str]:
    """Say in words each field in which two headers differ; what was measured or checked is left out."""
    before, after = old.to_json(), new.to_json()
    for values in (before, after):
        values["extra"].pop(CHECK, None)
    for name in before:
        if name != "replay_agreement" and before[name] != after[name]:
            yield f"{name}: the store has {before[name]!r}, this run has {after[name]!r}"
    held, wanted = {c.key for c in old_captures}, {c.key for c in new_captures}
    for key in sorted(held ^ wanted):
        yield f"captures: {key} is only in {'the store' if key in held else 'this run'}"


def row_shape(capture: Capture, header: Header) -> tuple[int, ...]:
    """Shape of one row of ``capture``, after the leading axis ``row``."""
    match capture:
        case HiddenState() | Logits(form="factored"):
            return (header.width,)
        case Logits():
            return (header.vocabulary,)
        case AttentionMass():
            return (capture.window, header.depth, header.heads, len(capture.groups))
        case GroupCount():
            return (capture.window, len(AttentionMass(capture.read_at, capture.window).groups))
        case AttentionGrid():
            return (header.depth, header.heads, capture.rows * capture.columns)
        case TokenStatistics():
            return (len(STATISTICS),)
        case InternalConfidence():
            return (header.depth + 1,)
        case ImageSimilarity():
            return (len(SIMILARITY_TERMS),)
        case Divergence():
            return (len(PAIRED),)
        case _:
            raise InputError(f"the store has no shape for capture {capture.key}")
