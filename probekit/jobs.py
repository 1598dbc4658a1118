"""Jobs: frozen, validated values that say what is to be done, loaded from YAML or made from flags.

All faults of a file are reported at once, unknown keys are refused, and a job's digest covers what
changes the numbers: not where results go, nor on which device they are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from probekit.captures import parse_capture
from probekit.errors import InputError
from probekit.files import digest, sha256
from probekit.yaml_files import LineOf, read_yaml_lines

DEFAULT_QUESTION = "Provide a detailed description of this image."
"""NAME-Bench 3.2."""

MIXES = ("none", "natural", "10", "30", "100", "max")


class _Job(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    irrelevant: ClassVar[frozenset[str]] = frozenset()
    """Fields that do not change the numbers."""

    def digest(self, **contents: str) -> str:
        """Digest of everything that changes the numbers.

        Args:
            contents: digests of the files the job reads, by field; they stand for the paths.
        """
        return digest({**_relevant(self), **contents})


class ModelSpec(_Job):
    """Which model, and how it is loaded and prompted.

    Attributes:
        name: a folder, or a name on the Hugging Face hub.
        revision: commit, tag or branch on the hub.
        dtype: of the weights; ``auto`` takes the checkpoint's own.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, or ``map`` to spread over all GPUs.
        quantization: ``4bit`` or ``8bit`` weights through bitsandbytes.
        trust_remote_code: run code that the checkpoint brings along.
        offline: never ask the hub.
        prompt: prompt template with ``{q}``; the model's chat template when absent.
    """

    name: str
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str = "auto"
    quantization: Literal["4bit", "8bit"] | None = None
    trust_remote_code: bool = False
    offline: bool = False
    prompt: str | None = None

    irrelevant: ClassVar[frozenset[str]] = frozenset({"device", "offline", "trust_remote_code"})


class GenerateJob(_Job):
    """Describe every picture of a folder, greedily.

    Attributes:
        model: what describes them.
        images: folder of pictures.
        out: generations, JSON Lines.
        question: the user's turn.
        max_new_tokens: longest answer.
        batch: pictures at once.
        limit: only the first so many pictures, by name.
    """

    model: ModelSpec
    images: Path
    out: Path
    question: str = DEFAULT_QUESTION
    max_new_tokens: int = Field(128, ge=1)
    batch: int = Field(8, ge=1)
    limit: int | None = Field(None, ge=1)

    irrelevant: ClassVar[frozenset[str]] = frozenset({"out", "images", "limit"})


class ExtractJob(_Job):
    """Trace texts once and keep captures of their rows.

    Attributes:
        model: what the texts go through.
        generations: the texts, JSON Lines.
        rows: the rows to read in them, JSON Lines.
        images: folder of the pictures.
        out: the store.
        captures: keys of captures to keep; by default those that all detectors need.
        shard_examples: texts in one shard.
        batch_tokens: tokens of one padded batch, which bounds memory.
        attention_dtype: how attention masses are stored.
        own_texts: whether the texts are this model's own; then replaying them is checked.
    """

    model: ModelSpec
    generations: Path
    rows: Path
    images: Path
    out: Path
    captures: tuple[str, ...]
    shard_examples: int = Field(64, ge=1)
    batch_tokens: int = Field(8192, ge=1)
    attention_dtype: Literal["float16", "float32"] = "float16"
    own_texts: bool = True

    irrelevant: ClassVar[frozenset[str]] = frozenset({"out", "images", "generations", "rows"})

    @field_validator("captures")
    @classmethod
    def _known(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        for key in keys:
            try:
                parse_capture(key)
            except InputError as error:
                raise ValueError(str(error)) from None
        return keys


class RunJob(_Job):
    """The whole way: describe, find mentions, label, extract, train, evaluate, report.

    Attributes:
        model: what is examined.
        images: folder of pictures.
        references: what is in them: COCO instances JSON, or JSON Lines of image and objects.
        out: the run's folder.
        vocabulary: a vocabulary's name or file.
        texts: captions by others instead of the model's own, JSON Lines of ``image`` and ``caption``;
            they are forced through the model.
        usage: who judges usage: ``rules``, or a labels file of one's own.
        question, max_new_tokens, batch, limit: as in `GenerateJob`.
        detectors: names; all that can be served when absent.
        mixes: mixing budgets of non-assertive examples.
        seeds: number of splits.
        natural_share: share of non-assertive mentions in natural captions; measured when absent.
        shard_examples, batch_tokens: as in `ExtractJob`.
    """

    model: ModelSpec
    images: Path
    references: Path
    out: Path
    texts: Path | None = None
    vocabulary: str = "name-bench"
    usage: str = "rules"
    question: str = DEFAULT_QUESTION
    max_new_tokens: int = Field(128, ge=1)
    batch: int = Field(8, ge=1)
    limit: int | None = Field(None, ge=1)
    detectors: tuple[str, ...] | None = None
    mixes: tuple[Literal["none", "natural", "10", "30", "100", "max"], ...] = MIXES  # type: ignore[assignment]
    seeds: int = Field(3, ge=1)
    natural_share: float | None = Field(None, ge=0.0, lt=1.0)
    shard_examples: int = Field(64, ge=1)
    batch_tokens: int = Field(8192, ge=1)

    irrelevant: ClassVar[frozenset[str]] = frozenset({"out"})


class PopeJob(_Job):
    """The audit of yes/no questions: answer, trace, read in every way, report.

    Attributes:
        model: what is asked.
        out: folder of the audit.
        questions: files of questions, one a split; the embedded model makes its own when there are none.
        images: folder of the pictures; ``OUT/images`` for the embedded model's own.
        suffix: put behind each question, such as a wish for a one-word answer.
        max_new_tokens: longest answer.
        batch: questions answered at once.
        batch_tokens: tokens of one traced batch, which bounds memory.
        shard_questions: about how many questions a shard holds; those on one picture stay together.
        pictures: pictures of the embedded model's own questions.
        allow_uncovered: readouts scored although they cover less than 0.99 of the answers.
        draws: bootstrap draws behind each interval.
        seed: of the bootstrap, the calibration pictures and the embedded model's questions.
    """

    model: ModelSpec
    out: Path
    questions: tuple[Path, ...] = ()
    images: Path | None = None
    suffix: str = ""
    max_new_tokens: int = Field(8, ge=1)
    batch: int = Field(16, ge=1)
    batch_tokens: int = Field(8192, ge=1)
    shard_questions: int = Field(384, ge=1)
    pictures: int = Field(100, ge=1)
    allow_uncovered: tuple[str, ...] = ()
    draws: int = Field(1000, ge=0)
    seed: int = Field(0, ge=0)

    irrelevant: ClassVar[frozenset[str]] = frozenset(
        {
            "out",
            "images",
            "questions",
            "batch",
            "batch_tokens",
            "pictures",
            "allow_uncovered",
            "draws",
            "seed",
        }
    )


class TriLayerJob(_Job):
    """The Tri-Layer study: answer under four conditions, trace once, diagnose, report.

    Attributes:
        model: what is examined.
        out: folder of the study.
        questions: JSON Lines of image, question and answer; the embedded model makes its own when absent.
        images: folder of the questions' pictures; ``OUT/pictures`` for the embedded model's own.
        references: objects of the pictures, by which conflict pictures are chosen: JSON Lines of image
            and objects, or COCO instances. There is no conflict condition without them.
        vocabulary: a vocabulary's name or file, by which objects are called.
        anchors: refusal anchors, shipped sets or files; one for black, one for noise.
        samples: only the first so many questions; of the embedded model's own, how many it makes.
        max_new_tokens: longest answer.
        batch: questions answered at once.
        batch_tokens: tokens of one traced batch, which bounds memory.
        shard_samples: samples traced together; the black picture is computed once for them.
        logits: ``reduced`` keeps divergences and log-probabilities; ``factored`` also keeps the states
            from which every distribution can be made again.
        fraction: share of an answer's positions in VNS, those of highest divergence.
        draws: bootstrap draws behind each interval.
        seed: of noise pictures, conflict choices, the bootstrap and the embedded model's pictures.
    """

    model: ModelSpec
    out: Path
    questions: Path | None = None
    images: Path | None = None
    references: Path | None = None
    vocabulary: str = "name-bench"
    anchors: tuple[str, ...] = ("black-8", "noise-8")
    samples: int | None = Field(None, ge=1)
    max_new_tokens: int = Field(64, ge=1)
    batch: int = Field(16, ge=1)
    batch_tokens: int = Field(8192, ge=1)
    shard_samples: int = Field(32, ge=1)
    logits: Literal["reduced", "factored"] = "reduced"
    fraction: float = Field(0.3, gt=0.0, le=1.0)
    draws: int = Field(1000, ge=0)
    seed: int = Field(0, ge=0)

    irrelevant: ClassVar[frozenset[str]] = frozenset(
        {"out", "images", "questions", "references", "batch", "batch_tokens", "draws"}
    )


class GhostJob(_Job):
    """Ghost-100: ask at five tones, score, trace every answer with its picture and with a black one.

    Attributes:
        model: what is asked.
        out: folder of the run.
        manifest: of the set; one is drawn for the model when absent.
        prompts: prompts of one's own, YAML.
        per_category: pictures a category of a set that is drawn.
        max_new_tokens: longest answer.
        batch: questions answered at once.
        detectors: those whose evidence is kept; all that one pass can serve when absent.
        batch_tokens: tokens of one traced batch, which bounds memory.
        shard_pictures: pictures traced together; the black picture is computed once for them.
        draws: bootstrap draws behind each interval.
        seed: of the set that is drawn and of the bootstrap.
    """

    model: ModelSpec
    out: Path
    manifest: Path | None = None
    prompts: Path | None = None
    per_category: int = Field(100, ge=1)
    max_new_tokens: int = Field(64, ge=1)
    batch: int = Field(16, ge=1)
    detectors: tuple[str, ...] | None = None
    batch_tokens: int = Field(8192, ge=1)
    shard_pictures: int = Field(32, ge=1)
    draws: int = Field(1000, ge=0)
    seed: int = Field(0, ge=0)

    irrelevant: ClassVar[frozenset[str]] = frozenset(
        {"out", "manifest", "prompts", "per_category", "max_new_tokens", "batch"}
        | {"detectors", "batch_tokens", "draws", "seed"}
    )


class StudyJob(_Job):
    """A study of finished runs (folders analysis and train).

    Attributes:
        run: the run's folder.
        others: further runs, where a study compares several.
        detectors: names; what the study says when absent.
        mixes: mixing budgets; what the study says when absent.
        seeds: number of splits.
        labels: labels of the store's rows; ``RUN/labels/labels.jsonl`` when absent.
        out: where the table and the figure go; ``RUN/studies`` when absent.
    """

    run: Path
    others: tuple[Path, ...] = ()
    detectors: tuple[str, ...] | None = None
    mixes: tuple[Literal["none", "natural", "10", "30", "100", "max"], ...] | None = None
    seeds: int = Field(3, ge=1)
    labels: Path | None = None
    out: Path | None = None

    irrelevant: ClassVar[frozenset[str]] = frozenset({"out"})

    @property
    def folder(self) -> Path:
        """Where the table and the figure go."""
        return self.out or self.run / "studies"


J = TypeVar("J", bound=_Job)


def load(path: Path, kind: type[J], **overrides: Any) -> J:
    """Read a job from a YAML file; ``overrides`` that are not ``None`` win over the file.

    Relative paths in the file are relative to the working directory, as they are in flags.

    Raises:
        InputError: the file is missing, is not YAML or names a key twice, or fields are unknown, absent or
            wrong; every fault is named with its line.
    """
    value, line_of = read_yaml_lines(path, absent="no such job")
    if not isinstance(value, dict):
        raise InputError("a job is a mapping of fields to values", where=str(path))
    given = value | {key: item for key, item in overrides.items() if item is not None}
    return _validated(kind, given, str(path), line_of)


def make(kind: type[J], **values: Any) -> J:
    """A job from flags; ``None`` leaves a field at its default.

    Raises:
        InputError: values are absent or wrong; every fault is named.
    """
    return _validated(kind, {k: v for k, v in values.items() if v is not None}, None, None)


def file_digest(path: Path) -> str:
    """Digest of an input file's content, for `_Job.digest`.

    Raises:
        InputError: there is no such file.
    """
    if not path.is_file():
        raise InputError("no such file", where=str(path))
    return sha256(path)[:16]


def _validated(kind: type[J], value: Mapping[str, Any], path: str | None, line_of: LineOf | None) -> J:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        faults = [_fault(fault, line_of) for fault in error.errors()]
        noun = "fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise InputError(
            f"{noun} in the job\n    " + "\n    ".join(faults),
            where=path,
            hint=f"Fields of {kind.__name__}: {', '.join(kind.model_fields)}.",
        ) from None


def _fault(fault: Mapping[str, Any], line_of: LineOf | None) -> str:
    place = [str(part) for part in fault["loc"]]
    line = None if line_of is None else line_of(place)
    name = ".".join(place)
    kind = fault["type"]
    if kind == "extra_forbidden":
        text = f"unknown key {name!r}"
    elif kind == "missing":
        text = f"missing {name!r}"
    else:
        text = f"{name}: {fault['msg']}, found {fault['input']!r}"
    return text if line is None else f"line {line}: {text}"


def _relevant(job: _Job) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in type(job).model_fields:
        if name in type(job).irrelevant:
            continue
        value = getattr(job, name)
        fields[name] = _relevant(value) if isinstance(value, _Job) else value
    return fields


def save(job: _Job, path: Path) -> None:
    """Write the job beside its results, before the work begins."""
    from probekit.files import write_json

    write_json(path, job.model_dump(mode="json"))


__all__ = [
    "DEFAULT_QUESTION",
    "MIXES",
    "ExtractJob",
    "GenerateJob",
    "GhostJob",
    "ModelSpec",
    "PopeJob",
    "RunJob",
    "TriLayerJob",
    "file_digest",
    "load",
    "make",
    "save",
]
