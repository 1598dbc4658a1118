"""One readout under five kinds of tokenizer: the ids, the forms left out, and what is covered."""

import numpy as np
import pytest

from probekit.errors import InputError
from probekit.readouts import (
    LEGACY_2TOK,
    LEGACY_8TOK,
    FastTokenizer,
    derive_forms,
    dynamic_mass,
    dynamic_single,
    sequence_log_probabilities,
)
from probekit.readouts.toys import TOYS, toy_continuation, toy_logits

ANSWERS = (" Yes", " No", " No", " Yes")
SAID = [1, 0, 0, 1]

# Forms that are one token after "ASSISTANT:", and the share of ANSWERS that first-position ids cover.
EXPECTED = {
    "byte_level_bpe": ({"yes", "Yes", " yes", " Yes", "no", "No", " no", " No"}, 1.0),
    "unigram_with_prefix_space": ({"yes", "Yes", " yes", " Yes", " no", " No"}, 1.0),
    "unigram_without_prefix_space": ({"yes", "Yes", "no", "No", " no", " No"}, 0.5),
    "word_piece": ({"yes", "Yes", " yes", " Yes", "no", "No", " no", " No"}, 1.0),
    "space_apart": ({"yes", "Yes", "no", "No"}, 0.0),
}


@pytest.fixture(params=list(TOYS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def tokenizer(kind: str) -> FastTokenizer:
    return TOYS[kind]()


def test_ids_are_the_tokenizers_own(kind: str, tokenizer: FastTokenizer) -> None:
    forms = derive_forms(tokenizer)
    assert {form.text for form in forms if form.single} == EXPECTED[kind][0]
    for form in forms:
        if form.single:
            # The oracle: the whole prompt and form, tokenized by the library, ends with that id.
            assert tokenizer.inner.encode("ASSISTANT:" + form.text).ids[-1] == form.ids[0]


def test_coverage_shows_when_the_first_position_cannot_tell(kind: str, tokenizer: FastTokenizer) -> None:
    logits = toy_logits(tokenizer, ANSWERS)
    readout = dynamic_single(tokenizer)
    covered = EXPECTED[kind][1]
    assert readout.read(logits, allow_uncovered=True).coverage == covered
    if covered == 1.0:
        assert readout.read(logits).decisions.tolist() == SAID
    else:
        with pytest.raises(InputError, match="coverage"):
            readout.read(logits)


def test_the_mass_of_all_forms_is_right_under_every_kind(tokenizer: FastTokenizer) -> None:
    readout = dynamic_mass(tokenizer)
    logits = toy_logits(tokenizer, ANSWERS)
    columns = sequence_log_probabilities(logits, readout.sequences, toy_continuation(tokenizer, ANSWERS))
    readings = readout.read(columns)
    assert readings.coverage == 1.0
    assert readings.decisions.tolist() == SAID


@pytest.mark.parametrize("legacy", [LEGACY_2TOK, LEGACY_8TOK])
def test_ids_of_another_vocabulary_are_refused(tokenizer: FastTokenizer, legacy) -> None:
    with pytest.raises(InputError, match="outside"):
        legacy.read(toy_logits(tokenizer, ANSWERS))


def test_a_lone_word_and_a_word_in_context_can_have_other_ids() -> None:
    # The mark before the first word: "Yes" alone is what " Yes" is after a prompt.
    prefixing = TOYS["unigram_with_prefix_space"]()
    alone = {form.text: form.ids for form in derive_forms(prefixing, context="")}
    after = {form.text: form.ids for form in derive_forms(prefixing)}
    assert alone["Yes"] == after[" Yes"] != after["Yes"]


def test_toy_logits_put_nine_tenths_on_the_answer(tokenizer: FastTokenizer) -> None:
    probability = np.exp(toy_logits(tokenizer, ANSWERS))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(probability.max(axis=1), 0.9)


def test_a_tokenizer_file_is_read_and_a_wrong_one_named(tmp_path, tokenizer: FastTokenizer) -> None:
    tokenizer.inner.save(str(tmp_path / "tokenizer.json"))
    loaded = FastTokenizer.load(tmp_path)
    assert loaded.encode("ASSISTANT: Yes") == tokenizer.encode("ASSISTANT: Yes")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(InputError, match=r"broken\.json"):
        FastTokenizer.load(tmp_path / "broken.json")
    with pytest.raises(InputError, match="missing"):
        FastTokenizer.load(tmp_path / "missing")
