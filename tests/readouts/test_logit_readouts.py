"""Readouts of first-position logits: which ids, ties, coverage, refusals. TRAPS 3."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from probekit.errors import InputError
from probekit.readouts import (
    LEGACY_2TOK,
    LEGACY_8TOK,
    LogitReadout,
    derive_forms,
    dynamic_mass,
    dynamic_single,
    sequence_log_probabilities,
)


@dataclass(frozen=True)
class Words:
    """A tokenizer of whole pieces, longest first; what it does not know becomes id 0."""

    pieces: dict[str, int]
    name: str = "toy"
    size: int = 20
    decoded: dict[int, str] = field(default_factory=dict)

    def encode(self, text: str) -> Sequence[int]:
        ids, rest = [], text
        while rest:
            piece = max((p for p in self.pieces if rest.startswith(p)), key=len, default=rest)
            ids.append(self.pieces.get(piece, 0))
            rest = rest[len(piece) :]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        back = {number: piece for piece, number in self.pieces.items()}
        return "".join(back.get(i, "?") for i in ids)


TRAP = Words({"ASSISTANT:": 1, "Yes": 3, " Yes": 4, "No": 5, " No": 6})


def peaked(*tokens: int, size: int = 20, also: dict[int, float] | None = None) -> np.ndarray:
    logits = np.zeros((len(tokens), size))
    for row, token in enumerate(tokens):
        logits[row, token] = 9.0
        for other, value in (also or {}).items():
            logits[row, other] = value
    return logits


def test_the_model_says_no_with_a_space_and_yes_without_one_does_not_win() -> None:
    # Yes=3, ▁Yes=4, No=5, ▁No=6: nearly all probability on 6, and id 3 above id 5.
    logits = peaked(6, also={3: 2.0, 5: 1.0})
    readings = dynamic_single(TRAP).read(logits)
    assert readings.decisions.tolist() == [0]
    assert readings.coverage == 1.0
    two_ids = LogitReadout("hard_coded", (3,), (5,))
    assert two_ids.read(logits, allow_uncovered=True).decisions.tolist() == [1]
    with pytest.raises(InputError, match=r"coverage 0\.0000"):
        two_ids.read(logits)


def test_a_form_of_two_tokens_is_left_out_with_the_reason() -> None:
    split = Words({"ASSISTANT:": 1, " ": 2, "Yes": 3, "No": 5, " No": 6})
    readout = dynamic_single(split)
    assert (readout.yes, readout.no) == ((3,), (5, 6))
    assert "' Yes': 2 tokens [2, 3]" in readout.left_out


def test_no_form_left_is_an_error_that_names_the_tokenizer() -> None:
    letters = Words({"ASSISTANT:": 1, "Y": 2, "es": 3, "No": 5}, name="letters-only")
    with pytest.raises(InputError, match="tokenizer letters-only") as refusal:
        dynamic_single(letters)
    assert "'Yes' [2, 3]" in str(refusal.value)


def test_an_unknown_word_is_not_a_form_though_it_is_one_token() -> None:
    unknowing = Words({"ASSISTANT:": 1, "Yes": 3, "No": 5})
    by_text = {form.text: form for form in derive_forms(unknowing)}
    assert by_text["Yes"].single
    assert by_text["yes"].ids == (0,)
    assert not by_text["yes"].single
    assert dynamic_single(unknowing).yes == (3,)


def test_a_form_that_merges_with_the_prompt_is_left_out() -> None:
    merging = Words({"ASSISTANT:": 1, "ASSISTANT: Yes": 7, "Yes": 3, "No": 5})
    forms = {form.text: form for form in derive_forms(merging)}
    assert "merges" in forms[" Yes"].problem


def test_forms_alone_differ_from_forms_in_context() -> None:
    # POPE-audit Table 10: Mistral's tokenizer puts the space before a lone word.
    @dataclass(frozen=True)
    class Prefixing(Words):
        def encode(self, text: str) -> Sequence[int]:
            return Words.encode(self, " " + text)

    tokenizer = Prefixing(
        {" ASSISTANT:": 1, " ": 8, " yes": 9, " Yes": 10, " no": 11, " No": 12, "Yes": 3, "No": 5}
    )
    alone = dynamic_single(tokenizer, context="")
    assert (alone.yes, alone.no) == ((9, 10), (11, 12))
    assert "' Yes': 2 tokens [8, 10]" in alone.left_out
    after = dynamic_single(tokenizer)
    assert (after.yes, after.no) == ((3, 9, 10), (5, 11, 12))


def test_ties_are_no() -> None:
    logits = peaked(4, also={6: 9.0})
    assert dynamic_single(TRAP).read(logits).decisions.tolist() == [0]


def test_the_largest_of_each_set_is_compared() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(500, 20))
    readings = dynamic_single(TRAP).read(logits, allow_uncovered=True)
    by_hand = [max(row[3], row[4]) - max(row[5], row[6]) for row in logits]
    np.testing.assert_allclose(readings.gap, by_hand)
    assert readings.decisions.tolist() == [int(value > 0) for value in by_hand]
    assert readings.covered.tolist() == [int(row.argmax()) in (3, 4, 5, 6) for row in logits]


def test_coverage_just_under_the_limit_is_refused() -> None:
    readout = dynamic_single(TRAP)
    assert readout.read(peaked(*[4] * 99, 9)).coverage == 0.99
    with pytest.raises(InputError, match="98 of 100"):
        readout.read(peaked(*[4] * 98, 9, 9))


@pytest.mark.parametrize("legacy", [LEGACY_2TOK, LEGACY_8TOK])
def test_legacy_ids_on_a_small_vocabulary_are_refused_and_read_as_no_when_allowed(
    legacy: LogitReadout,
) -> None:
    logits = peaked(4, 6, 4)
    with pytest.raises(InputError, match="lie outside a vocabulary of 20") as refusal:
        legacy.read(logits)
    assert f"--allow-uncovered {legacy.name}" in str(refusal.value)
    allowed = legacy.read(logits, allow_uncovered=True)
    assert allowed.decisions.tolist() == [0, 0, 0]
    assert allowed.coverage == 0.0
    assert "lie outside" in allowed.note


def test_legacy_ids_are_the_published_ones() -> None:
    # POPE-audit Table 5, and 694 for ' no', which the paper's table is cut before (SPEC 3.3).
    assert (LEGACY_2TOK.yes, LEGACY_2TOK.no) == ((3582,), (1217,))
    assert set(LEGACY_8TOK.yes) == {3582, 8241, 4874, 3869}
    assert set(LEGACY_8TOK.no) == {1217, 3782, 694, 1939}


def test_the_papers_confound_in_small() -> None:
    # The model says " No" (1939) with id 3582 a little above id 1217: two tokens say yes, eight say no.
    logits = np.zeros((4, 32000), dtype=np.float32)
    logits[:, 1939] = 20.0
    logits[:, 3582] = 1.0
    assert LEGACY_8TOK.read(logits).decisions.tolist() == [0] * 4
    assert LEGACY_2TOK.read(logits, allow_uncovered=True).decisions.tolist() == [1] * 4
    with pytest.raises(InputError):
        LEGACY_2TOK.read(logits)


def test_missing_logits_are_unknown_not_no() -> None:
    logits = peaked(4, 4)
    logits[1] = np.nan
    readings = dynamic_single(TRAP).read(logits, allow_uncovered=True)
    assert readings.decisions.tolist() == [1, -1]
    assert readings.covered.tolist() == [True, False]
    assert np.isnan(readings.gap[1])


def test_overlapping_or_empty_sets_are_refused() -> None:
    with pytest.raises(InputError):
        LogitReadout("overlap", (1, 2), (2, 3))
    with pytest.raises(InputError):
        LogitReadout("empty", (), (1,))


def test_mass_adds_forms_and_follows_continuations() -> None:
    split = Words({"ASSISTANT:": 1, " ": 2, "Yes": 3, "No": 5})
    readout = dynamic_mass(split)
    assert readout.yes == ((3,), (2, 3))
    assert readout.no == ((5,), (2, 5))
    first = np.log(np.full((1, 20), 1e-9))
    first[0, [2, 3, 5]] = np.log([0.6, 0.05, 0.35])
    after_space = np.log(np.full((1, 20), 1e-9))
    after_space[0, [3, 5]] = np.log([0.9, 0.1])
    columns = sequence_log_probabilities(first, readout.sequences, lambda prefix: after_space)
    readings = readout.read(columns)
    # yes: .05 + .6 * .9 = .59; no: .35 + .6 * .1 = .41
    np.testing.assert_allclose(readings.gap, [0.59 - 0.41], atol=1e-6)
    assert readings.decisions.tolist() == [1]
    # The first position alone knows .05 against .35, and covers less than half.
    bound = readout.read_lower_bound(first, allow_uncovered=True)
    assert bound.readout == "dynamic_mass_lower_bound"
    np.testing.assert_allclose(bound.gap, [0.05 - 0.35], atol=1e-6)
    assert bound.coverage == 0.0
    with pytest.raises(InputError, match="coverage"):
        readout.read_lower_bound(first)


def test_mass_of_two_forms_beats_one_larger_form() -> None:
    # max compares .4 with .35; the sum compares .4 with .55.
    logits = np.log(np.full((1, 20), 1e-9))
    logits[0, [4, 5, 6]] = np.log([0.4, 0.35, 0.2])
    assert dynamic_single(TRAP).read(logits).decisions.tolist() == [1]
    readout = dynamic_mass(TRAP)
    columns = sequence_log_probabilities(logits, readout.sequences)
    assert readout.read(columns).decisions.tolist() == [0]


def test_continuations_are_asked_for_once_each_and_needed() -> None:
    split = Words({"ASSISTANT:": 1, " ": 2, "Yes": 3, "No": 5})
    readout = dynamic_mass(split)
    logits = np.zeros((2, 20))
    asked = []

    def continuation(prefix: tuple[int, ...]) -> np.ndarray:
        asked.append(prefix)
        return np.zeros((2, 20))

    sequence_log_probabilities(logits, readout.sequences, continuation)
    assert asked == [(2,)]
    with pytest.raises(InputError, match="dynamic_mass_lower_bound"):
        sequence_log_probabilities(logits, readout.sequences)


def test_a_longer_form_that_begins_with_a_shorter_one_is_not_counted_twice() -> None:
    # "YES" is "Yes" with a mark behind it: its probability is part of the shorter form's.
    @dataclass(frozen=True)
    class Marking(Words):
        def encode(self, text: str) -> Sequence[int]:
            return Words.encode(self, text.replace("YES", "Yes^").replace("NO", "No^"))

        def decode(self, ids: Sequence[int]) -> str:
            return Words.decode(self, ids).replace("^", "")

    marking = Marking({"ASSISTANT:": 1, "Yes": 3, "^": 7, "No": 5})
    assert dynamic_mass(marking).yes == ((3,),)
