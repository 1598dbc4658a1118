"""The organism's vocabulary finds what its grammar says it wrote, no more and no less."""

import random

from probekit.mentions import Vocabulary, find
from probekit.organism import make_caption, make_scene


def test_found_mentions_are_the_grammars_mentions() -> None:
    words = Vocabulary.named("organism")
    total = 0
    for seed in range(300):
        caption = make_caption(make_scene(seed), random.Random(seed))
        written = [(m.start, m.end, m.category) for m in caption.mentions]
        found = [(hit.start, hit.end, hit.category) for hit in find(caption.text, words)]
        assert found == written, caption.text
        total += len(found)
    assert total > 1000
