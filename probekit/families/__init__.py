"""Architectures: where layers, norm, head and image tokens are, and how each model is prompted.

Contents: `Family` and `FAMILIES` (one frozen value per architecture), `load` (a `Vlm` from a name or a
folder), `Prompter` (chat templates, spans), `open_image`.
"""

from probekit.families.family import Family, Grid
from probekit.families.images import open_image
from probekit.families.loading import TextDecoder, Vlm, load, load_tokenizer
from probekit.families.prompting import EncodedPrompt, PromptBatch, Prompter, PromptTemplate
from probekit.families.table import FAMILIES, family_of

__all__ = [
    "FAMILIES",
    "EncodedPrompt",
    "Family",
    "Grid",
    "PromptBatch",
    "PromptTemplate",
    "Prompter",
    "TextDecoder",
    "Vlm",
    "family_of",
    "load",
    "load_tokenizer",
    "open_image",
]
