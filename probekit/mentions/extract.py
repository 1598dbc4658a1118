"""From generations to the rows of a run: each mention with its characters and tokens, drops with a reason."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import Json, read_jsonl, write_jsonl
from probekit.mentions.align import Decode, Offsets, align, offsets, remembering
from probekit.mentions.find import find, other_senses
from probekit.mentions.vocabulary import Vocabulary

CUT = "cut by the length limit"
NOT_ALIGNED = "text and token ids do not agree"
OTHER = "another sense or a compound"


@dataclass(frozen=True)
class MentionCounts:
    """What `mention_rows` wrote.

    Attributes:
        texts: generations read.
        rows: mentions kept.
        dropped: mentions dropped, by reason.
        per_category: mentions kept, by category.
    """

    texts: int
    rows: int
    dropped: Mapping[str, int]
    per_category: Mapping[str, int]


def mention_rows(
    generations: Path,
    vocabulary: Vocabulary,
    decode: Decode | None,
    out_rows: Path,
    out_dropped: Path | None,
    *,
    end_ids: Collection[int] = (),
) -> MentionCounts:
    """Write ``rows.jsonl`` and ``dropped.jsonl`` for ``generations.jsonl``.

    The same input gives the same bytes; both files are written whole or not at all.

    Args:
        generations: one generation a line, with ``example_id``, ``image_id``, ``text``, ``token_ids``.
        vocabulary: which objects to find.
        decode: token ids to text without special tokens; ``None`` leaves the token fields null.
        out_rows: mentions kept.
        out_dropped: mentions dropped, with ``reason``; words in another sense have no ``index``. Only
            counted when ``None``.
        end_ids: ids that end a generation, not counted in ``tokens``; when none are given, tokens after the
            last character of a finished generation are not counted.

    Raises:
        InputError: a line is not a generation, or has text but no token ids; file, line and example named.
    """
    if decode is not None:
        decode = remembering(decode)
    rows: list[Json] = []
    dropped: list[Json] = []
    texts = 0
    seen: set[str] = set()
    for number, value in read_jsonl(generations, required=("example_id", "image_id", "text")):
        where = f"{generations}, line {number}, example {value['example_id']!r}"
        if value["example_id"] in seen:
            raise InputError("example appears twice", where=where)
        seen.add(value["example_id"])
        texts += 1
        for row in _rows_of(value, vocabulary, decode, end_ids, where):
            (dropped if "reason" in row else rows).append(row)
    if out_dropped is not None:
        write_jsonl(out_dropped, dropped)
    write_jsonl(out_rows, rows)
    return MentionCounts(
        texts=texts,
        rows=len(rows),
        dropped=dict(sorted(Counter(row["reason"].partition(":")[0] for row in dropped).items())),
        per_category=dict(sorted(Counter(row["category"] for row in rows).items())),
    )


def _rows_of(
    value: Json, vocabulary: Vocabulary, decode: Decode | None, end_ids: Collection[int], where: str
) -> Iterator[Json]:
    text = value["text"]
    if not isinstance(text, str):
        raise InputError(f"`text` is a string, found {type(text).__name__}", where=where)
    found = find(text, vocabulary)
    occurrences = Counter(mention.category for mention in found)
    finished = value.get("finished") is not False
    shift, token_offsets, total = 0, None, None
    if decode is not None:
        ids = _token_ids(value, text, where)
        token_offsets = offsets(ids, decode)
        shift = token_offsets.text.find(text)
        total = _length(ids, token_offsets, end_ids, finished)

    def row(start: int, end: int, surface: str, category: str, index: int | None) -> Json:
        return {
            "example_id": value["example_id"],
            "index": index,
            "image_id": value["image_id"],
            "category": category,
            "surface": surface,
            "start": start,
            "end": end,
            "token": None,
            "token_end": None,
            "tokens": total,
            "occurrences": occurrences[category],
        }

    for index, mention in enumerate(found):
        entry = row(mention.start, mention.end, mention.surface, mention.category, index)
        if token_offsets is not None:
            at = align(mention.start + shift, mention.end + shift, token_offsets) if shift >= 0 else None
            if at is None:
                yield entry | {"reason": NOT_ALIGNED}
                continue
            entry |= {"token": at[0], "token_end": at[1]}
        if not finished and mention.end == len(text):
            yield entry | {"reason": CUT}
            continue
        yield entry
    for other in other_senses(text, vocabulary):
        entry = row(other.start, other.end, other.surface, other.category, None)
        yield entry | {"reason": f"{OTHER}: {other.expression}"}


def _token_ids(value: Mapping[str, Any], text: str, where: str) -> list[int]:
    ids = value.get("token_ids")
    if not isinstance(ids, list) or not all(type(one) is int and one >= 0 for one in ids):
        raise InputError(
            "no `token_ids`, a list of whole numbers",
            where=where,
            hint="Rows are aligned on the generated ids; generate again with `probekit generate`.",
        )
    if text and not ids:
        raise InputError(
            "a text without tokens",
            where=where,
            hint="Rows are aligned on the generated ids; generate again with `probekit generate`.",
        )
    return ids


def _length(ids: list[int], token_offsets: Offsets, end_ids: Collection[int], finished: bool) -> int:
    """Tokens of the text, T: all of them when it was cut, else without the end marker."""
    if not finished:
        return len(ids)
    if not end_ids:
        return token_offsets.written
    length = len(ids)
    while length > 0 and ids[length - 1] in end_ids:
        length -= 1
    return length
