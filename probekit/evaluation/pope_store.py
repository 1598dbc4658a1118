"""A POPE audit's evidence from the store of one traced pass: a row for each question's answer."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from probekit.benchmarks.pope import load_questions
from probekit.benchmarks.pope_answers import load_answers
from probekit.captures import GROUPS, STATISTICS, AttentionMass, Logits, TokenStatistics
from probekit.errors import InputError, StoreError
from probekit.evaluation.pope_inputs import PopeInputs, load_inputs
from probekit.readouts import (
    ANSWER_PREFIX,
    FastTokenizer,
    Tokenizer,
    dynamic_mass,
    sequence_log_probabilities,
)
from probekit.store import RowTable, Store

CAPTURES = (Logits("factored"), AttentionMass(window=1), TokenStatistics())
"""What the pass keeps of every answer's first token."""

FORM_CAPTURES = (TokenStatistics(),)
"""What it keeps of every written form of several tokens."""

CONTEXT, FORMS = "prompt_end", "forms"
"""Keys of a store's header: the text before the answer, and the id sequences of forms of several tokens,
in the order of their rows' indices."""


def load_split(
    folder: Path,
    *,
    tokenizer: Path | None = None,
    context: str | None = None,
    certainty: str | None = None,
    exclude: Path | None = None,
) -> PopeInputs:
    """The evidence in one split's folder.

    Args:
        folder: holds questions.jsonl and answers.jsonl; with them the stores ``store`` and ``forms`` of a
            traced pass, or logits.npy, forms.npy and attention.npy, as far as they exist.
        tokenizer: a ``tokenizer.json`` or its folder; the one beside the splits by default.
        context: the end of the prompt; by default what the pass noted, else ``ASSISTANT:``.
        certainty: name of a column of the answers.
        exclude: list of question ids with known wrong labels.

    Raises:
        InputError: a file is not valid, or the parts do not belong together.
    """
    questions, answers = folder / "questions.jsonl", folder / "answers.jsonl"
    beside = folder.parent / "tokenizer.json"
    tokenizer = tokenizer or (beside if beside.exists() else None)

    def there(name: str) -> Path | None:
        return folder / name if (folder / name).exists() else None

    if there("store") is None:
        return load_inputs(
            questions,
            answers,
            logits=there("logits.npy"),
            forms=there("forms.npy"),
            attention=there("attention.npy"),
            certainty=certainty,
            tokenizer=tokenizer,
            context=ANSWER_PREFIX if context is None else context,
            exclude=exclude,
        )
    asked = load_questions(questions, exclude)
    found = load_answers(answers, asked, () if certainty is None else (certainty,))
    store = Store.open(folder / "store")
    ids = [question.question_id for question in asked]
    rows = _rows(store, ids, -1)
    logits = store.logits(rows)
    mass = store.gather(CAPTURES[1], rows)
    own = None if tokenizer is None else replace(FastTokenizer.load(tokenizer), name=store.header.model)
    end = str(store.header.extra[CONTEXT]) if context is None else context
    return PopeInputs(
        questions=asked,
        answers=found,
        logits=logits,
        forms=None if own is None else form_columns(store, ids, logits, own, end),
        attention=mass[:, -1, :, :, GROUPS.index("image")],
        certainty=None if certainty is None else found.numbers[certainty],
        tokenizer=own,
        context=end,
    )


def form_columns(
    store: Store,
    ids: list[str],
    logits: Float[np.ndarray, "question vocabulary"],
    tokenizer: Tokenizer,
    context: str,
) -> Float[np.ndarray, "question sequence"] | None:
    """Log-probability (nats) of every sequence of the tokenizer's `dynamic_mass`, in its order.

    Forms of one token come from the first position's logits, the others from the rows in which the
    pass forced them through the model.

    Args:
        store: of the answers; that of the forms lies beside it.
        ids: questions, in the order of the logits' rows.

    Returns:
        ``None`` when yes or no cannot be written in the vocabulary.

    Raises:
        StoreError: the pass forced other forms than this tokenizer has.
    """
    try:
        wanted = dynamic_mass(tokenizer, context).sequences
    except InputError:
        return None
    columns = np.empty((len(ids), len(wanted)))
    single = [place for place, sequence in enumerate(wanted) if len(sequence) == 1]
    if single:
        columns[:, single] = sequence_log_probabilities(logits, tuple(wanted[place] for place in single))
    forced = [tuple(sequence) for sequence in store.header.extra[FORMS]]
    several = [place for place in range(len(wanted)) if place not in single]
    if not several:
        return columns
    if absent := [wanted[place] for place in several if wanted[place] not in forced]:
        raise StoreError(
            f"the form {list(absent[0])} was not forced in the pass",
            where=str(store.path),
            hint="Tokenizer or end of the prompt differ from the pass's; trace again.",
        )
    forms = Store.open(store.path.parent / "forms")
    for place in several:
        rows = _rows(forms, ids, forced.index(wanted[place]))
        columns[:, place] = forms.gather(FORM_CAPTURES[0], rows)[:, STATISTICS.index("span_logp")]
    return columns


def _rows(store: Store, ids: list[str], index: int) -> RowTable:
    """The rows of some questions, in their order."""
    table = store.rows()
    pairs = zip(table.example_id.tolist(), table.index.tolist(), strict=True)
    places = {example: place for place, (example, number) in enumerate(pairs) if number == index}
    absent = [question for question in ids if question not in places]
    if absent:
        raise StoreError(
            f"{len(absent)} of {len(ids)} questions were not traced, such as {absent[0]!r}",
            where=str(store.path),
            hint="Run the same command again: it goes on after the last whole shard.",
        )
    return table.take(np.array([places[question] for question in ids], dtype=np.int64))
