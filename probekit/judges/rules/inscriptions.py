"""Words seen in the scene: what stands on a sign is depicted, whatever it says or denies."""

from __future__ import annotations

import re

from probekit.judges.rules.context import Context
from probekit.judges.rules.lexicon import words

READING = words(
    "says say saying reads reading read word words labeled labelled text letters lettering phrase spelling"
)
SPELLING = words("word words letters text phrase")
WRITTEN_ON = words(
    "sign signs banner banners poster posters shirt board text words word letters label plaque billboard"
)
MARKS = frozenset({'"', "“", "'", "‘", ",", ":"})
"""After a verb of reading these open the inscription itself, which `QUOTED` looks after."""

QUOTED = re.compile(r"\"[^\"\n]{1,90}\"|“[^”\n]{1,90}”|(?<!\w)['‘](?! )[^'’\n]{1,60}['’](?!\w)")
SHORT = 6
"""Words of a quotation that is an inscription without a word such as ``sign`` or ``reads`` beside it."""


def inscribed(c: Context) -> str | None:
    """The quotation that holds the mention, or the words from ``says`` to it; ``None`` when neither is."""
    start, end = c.sentence.starts[c.first], c.sentence.ends[c.last]
    line_start = c.text.rfind("\n", 0, start) + 1
    line_end = c.text.find("\n", end)
    for match in QUOTED.finditer(c.text, line_start, line_end if line_end >= 0 else len(c.text)):
        if match.start() < start and end < match.end():
            return match.group() if _is_seen(c.text, line_start, match) else None
    for k in range(c.start - 1, max(-1, c.start - 7), -1):
        if c.word(k) in SPELLING and k == c.start - 1:
            return c.quote(k, c.last)
        if c.word(k) in READING and c.word(k + 1) not in MARKS:
            written = any(c.word(m) in WRITTEN_ON for m in range(max(0, k - 5), k))
            return c.quote(k, c.last) if written else None
    return None


def _is_seen(text: str, line_start: int, quote: re.Match[str]) -> bool:
    """Whether a quotation is words in the scene, rather than a caption that stands in quotation marks."""
    before = text[line_start : quote.start()].rsplit(". ", 1)[-1].lower()
    after = text[quote.end() : quote.end() + 30].lower().split()
    near = {word.strip(",.:") for word in before.split()[-6:]} | {word.strip(",.:") for word in after[:2]}
    if near & (READING | WRITTEN_ON):
        return True
    return bool(before.strip()) and len(quote.group().split()) <= SHORT and "caption" not in before
