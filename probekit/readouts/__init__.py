"""How a yes or a no is read from a model: four readouts, two text rules, and their coverage.

| readout | reads | ids from |
|---|---|---|
| `LEGACY_2TOK`, `LEGACY_8TOK` | first-position logits | LLaMA's vocabulary, hard-coded |
| `dynamic_single` | first-position logits | the model's tokenizer, forms of one token |
| `dynamic_mass` | probability of every form, continuations included | the model's tokenizer |
| `string_parse` | the written answer: yes, no or unknown | - |
| `pope_official` | the written answer: no or else yes | - |
"""

from probekit.benchmarks.yesno import NO, UNKNOWN, YES, Answer
from probekit.readouts.answers import official_answer, parse_answer
from probekit.readouts.forms import ALL_FORMS, ANSWER_PREFIX, SINGLE_FORMS, Form, derive_forms
from probekit.readouts.logits import LEGACY_2TOK, LEGACY_8TOK, LogitReadout, dynamic_single
from probekit.readouts.mass import MassReadout, dynamic_mass, sequence_log_probabilities
from probekit.readouts.readings import MINIMUM_COVERAGE, Readings
from probekit.readouts.text import TEXT_READOUTS, pope_official, string_parse
from probekit.readouts.tokenizer import FastTokenizer, Tokenizer

__all__ = [
    "ALL_FORMS",
    "ANSWER_PREFIX",
    "LEGACY_2TOK",
    "LEGACY_8TOK",
    "MINIMUM_COVERAGE",
    "NO",
    "SINGLE_FORMS",
    "TEXT_READOUTS",
    "UNKNOWN",
    "YES",
    "Answer",
    "FastTokenizer",
    "Form",
    "LogitReadout",
    "MassReadout",
    "Readings",
    "Tokenizer",
    "derive_forms",
    "dynamic_mass",
    "dynamic_single",
    "official_answer",
    "parse_answer",
    "pope_official",
    "sequence_log_probabilities",
    "string_parse",
]
