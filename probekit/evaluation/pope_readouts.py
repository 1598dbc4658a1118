"""Every readout that the inputs of an audit allow, with its coverage and, where that suffices, its scores."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from probekit.errors import InputError
from probekit.evaluation.pope_inputs import PopeInputs
from probekit.metrics.estimates import DRAWS
from probekit.metrics.pope import PopeScores, score
from probekit.readouts import (
    LEGACY_2TOK,
    LEGACY_8TOK,
    TEXT_READOUTS,
    Readings,
    dynamic_mass,
    dynamic_single,
    sequence_log_probabilities,
)


@dataclass(frozen=True)
class ReadoutResult:
    """One readout on one file of questions.

    Attributes:
        name: the readout.
        readings: its decisions; ``None`` when it could not be read at all.
        refused: why its scores are withheld; empty when they are not.
        left_out: forms its tokenizer does not allow, with the reason.
        scores: the metrics; ``None`` when refused.
    """

    name: str
    readings: Readings | None
    refused: str = ""
    left_out: tuple[str, ...] = ()
    scores: PopeScores | None = None

    @property
    def coverage(self) -> float:
        """Share of answers the readout saw; NaN when it could not be read."""
        return float("nan") if self.readings is None else self.readings.coverage


def try_readouts(
    inputs: PopeInputs, allow_uncovered: Collection[str] = (), *, draws: int = DRAWS, seed: int = 0
) -> dict[str, ReadoutResult]:
    """Read the answers in every way; a readout that did not see them is refused, with its coverage.

    Args:
        allow_uncovered: readouts whose scores are wanted all the same.
        draws: bootstrap draws behind each interval.
        seed: of the bootstrap.

    Raises:
        InputError: a name in ``allow_uncovered`` is no readout here.
    """
    found = {result.name: result for result in _all(inputs)}
    unknown = sorted(set(allow_uncovered) - found.keys())
    if unknown:
        raise InputError(f"no readout {', '.join(unknown)} here", hint=f"There are: {', '.join(found)}.")
    labels, images = inputs.labels, inputs.images
    for name, result in found.items():
        if result.readings is None:
            continue
        # string_parse guesses nothing: what it does not see is counted as unknown.
        if name not in allow_uncovered and name != "string_parse":
            try:
                result.readings.require_coverage()
            except InputError as error:
                found[name] = replace(result, refused=error.what)
                continue
        scores = score(labels, result.readings.decisions, images, draws=draws, seed=seed)
        found[name] = replace(result, scores=scores)
    return found


def _all(inputs: PopeInputs) -> list[ReadoutResult]:
    """Every readout's decisions without regard to coverage; why not, where it cannot be read."""
    found = [
        ReadoutResult(name, read(inputs.answers.texts, inputs.objects, allow_uncovered=True))
        for name, read in TEXT_READOUTS.items()
    ]
    logits, tokenizer = inputs.logits, inputs.tokenizer
    if logits is None:
        return found
    found += [
        ReadoutResult(legacy.name, legacy.read(logits, allow_uncovered=True))
        for legacy in (LEGACY_2TOK, LEGACY_8TOK)
    ]
    if tokenizer is None:
        return found

    def single() -> ReadoutResult:
        readout = dynamic_single(tokenizer, inputs.context)
        readings = readout.read(logits, allow_uncovered=True)
        return ReadoutResult("dynamic_single", readings, left_out=readout.left_out)

    def mass() -> ReadoutResult:
        readout = dynamic_mass(tokenizer, inputs.context)
        columns = inputs.forms
        if columns is None:
            columns = sequence_log_probabilities(logits, readout.sequences)
        readings = readout.read(columns, allow_uncovered=True)
        return ReadoutResult("dynamic_mass", readings, left_out=readout.left_out)

    def bound() -> ReadoutResult:
        readout = dynamic_mass(tokenizer, inputs.context)
        readings = readout.read_lower_bound(logits, allow_uncovered=True)
        return ReadoutResult("dynamic_mass_lower_bound", readings, left_out=readout.left_out)

    ways: dict[str, Callable[[], ReadoutResult]] = {
        "dynamic_single": single,
        "dynamic_mass": mass,
        "dynamic_mass_lower_bound": bound,
    }
    for name, way in ways.items():
        try:
            found.append(way())
        except InputError as error:
            found.append(ReadoutResult(name, None, error.what))
    return found
