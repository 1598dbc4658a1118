"""Text to rows: which object words a text contains, where they stand, and which tokens wrote them.

Vocabularies are in `vocabulary`, finding in `find`, tokens in `align`, the rows of a run in `extract`, what
the references say in `references`, caption files in `captions`.
"""

from probekit.mentions.find import Found, OtherSense, find, other_senses
from probekit.mentions.vocabulary import Vocabulary

__all__ = ["Found", "OtherSense", "Vocabulary", "find", "other_senses"]
