"""What the organism's captions hold: how many mentions of each class, and when it hedges."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probekit.organism.generation import Answer
from probekit.organism.scenes import Scene
from probekit.organism.usage import UsageName, usage_of
from probekit.organism.vocabulary import find_forms


@dataclass(frozen=True)
class Row:
    """One mention in a generated caption: caption `image`, first token `token`."""

    image: int
    token: int
    category: str
    usage: UsageName
    present: bool

    @property
    def asserted(self) -> bool:
        """Whether the caption claims that the object is there."""
        return self.usage == "existential"


def find_rows(scenes: Sequence[Scene], captions: Sequence[Answer]) -> list[Row]:
    """Return every mention of the captions, in reading order."""
    rows = []
    for image, (scene, caption) in enumerate(zip(scenes, captions, strict=True)):
        for start, end, category in find_forms(caption.text):
            usage = usage_of(caption.text, start, end)
            token = caption.token_at(start, end)
            rows.append(Row(image, token, category, usage, category in scene.present))
    return rows


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def caption_figures(
    scenes: Sequence[Scene], captions: Sequence[Answer], rows: Sequence[Row]
) -> dict[str, Any]:
    """Return counts, rates, and how often a hedge follows a smudge or comes without one."""
    usages = Counter(row.usage for row in rows)
    wrong = sum(row.asserted and not row.present for row in rows)
    hedging = {row.image for row in rows if row.usage == "hedged"}
    with_smudge = [i for i, scene in enumerate(scenes) if scene.smudge is not None]
    without = [i for i, scene in enumerate(scenes) if scene.smudge is None]
    sentences = [caption.text.strip().split(". ") for caption in captions]
    repeated = sum(len(set(s)) < len(s) for s in sentences)
    asserted_twice = 0
    for image in range(len(scenes)):
        named = Counter(row.category for row in rows if row.image == image and row.asserted)
        asserted_twice += any(number > 1 for number in named.values())
    return {
        "captions": len(captions),
        "mean_tokens": sum(len(caption.ids) for caption in captions) / len(captions),
        "concrete": usages["existential"] - wrong,
        "hallucinated": wrong,
        "non_assertive": len(rows) - usages["existential"],
        "by_usage": {u: usages[u] for u in ("hedged", "depictive", "purpose", "negation")},
        "hallucination_rate": _share(wrong, usages["existential"]),
        "absent_by_usage": {
            u: _share(sum(r.usage == u and not r.present for r in rows), usages[u])
            for u in ("hedged", "depictive", "purpose", "negation")
        },
        "hedges_with_smudge": _share(len(hedging & set(with_smudge)), len(with_smudge)),
        "hedges_without_smudge": _share(len(hedging & set(without)), len(without)),
        "captions_with_repeated_sentence": _share(repeated, len(captions)),
        "captions_asserting_a_category_twice": _share(asserted_twice, len(captions)),
    }
