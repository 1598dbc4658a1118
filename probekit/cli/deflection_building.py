"""``probekit deflection mine`` and ``gate``: distractors looked for, samples kept or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from probekit.errors import InputError

Samples = Annotated[Path, typer.Argument(help="Samples, JSON Lines.", show_default=False)]


def deflection_mine(
    samples: Samples,
    pool: Annotated[
        Path,
        typer.Option(help="What may distract, JSON Lines: id and text, or id and image.", show_default=False),
    ],
    encoder: Annotated[
        str,
        typer.Option(
            help="Any Hugging Face encoder, a folder or a name on the hub: text, or CLIP-type.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Samples with their new distractors.", show_default=False)],
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures of samples and pool.")] = None,
    query: Annotated[
        str, typer.Option(help="Search with the sample's question, or its image (CLIP-type).")
    ] = "question",
    k: Annotated[int, typer.Option("--k", help="Distractors added to each sample.", min=1)] = 5,
    rerank: Annotated[
        str | None,
        typer.Option(help="A second text encoder, which orders the first one's finds by the question."),
    ] = None,
    depth: Annotated[int, typer.Option(help="Finds that the second encoder orders.", min=1)] = 10,
    words: Annotated[int, typer.Option(help="Texts are cut into pieces of so many words.", min=1)] = 100,
    overlap: Annotated[int, typer.Option(help="Words that neighbouring pieces share.", min=0)] = 20,
    pooling: Annotated[str, typer.Option(help="A text is the mean of its states, or the first.")] = "mean",
    index: Annotated[
        Path | None, typer.Option(help="Where the embeddings are kept. Default: OUT with .index.npz.")
    ] = None,
    backend: Annotated[
        str, typer.Option(help="numpy; or faiss, hnsw (not exact) where installed.")
    ] = "numpy",
    device: Annotated[str, typer.Option(help="cpu, cuda.")] = "cpu",
    offline: Annotated[bool, typer.Option("--offline", help="Never ask the hub.")] = False,
) -> None:
    """Add distractors: what a pool holds nearest each question, never the gold, never an answer.

    The pool is embedded once; the index stays beside OUT and is used again. Left out of a sample's search are
    passages that share words enough with its gold, all of a document that does, passages that state one of
    its answers, and pictures that are its gold's or its own under any name.

    Passages, as in the paper (nearest by CLIP, reordered by Contriever):
    probekit deflection mine bare.jsonl --pool wiki.jsonl --encoder openai/clip-vit-base-patch32
    --query image --images pictures --rerank facebook/contriever --out texts.jsonl

    Then pictures: probekit deflection mine texts.jsonl --pool photos.jsonl --images pictures
    --encoder openai/clip-vit-base-patch32 --query image --out samples.jsonl
    """
    from probekit.benchmarks.deflection_mining import Backend
    from probekit.families.encoders import Encoder
    from probekit.pipeline.deflection_mining import Mining, mine

    if query not in ("question", "image"):
        raise InputError(f"--query {query}", hint="Known: question, image.")
    if backend not in get_args(Backend):
        raise InputError(f"--backend {backend}", hint=f"Known: {', '.join(get_args(Backend))}.")
    if pooling not in ("mean", "first"):
        raise InputError(f"--pooling {pooling}", hint="Known: mean, first.")
    how = Mining(
        k,
        max(depth, k),
        "image" if query == "image" else "question",
        words,
        overlap,
        cast(Backend, backend),
    )
    count, items = mine(
        samples,
        pool,
        out,
        Encoder.load(
            encoder, pooling="first" if pooling == "first" else "mean", device=device, offline=offline
        ),
        index=index or out.with_suffix(".index.npz"),
        images=images,
        how=how,
        reranker=None if rerank is None else Encoder.load(rerank, device=device, offline=offline),
    )
    typer.echo(f"{count} samples with {k} more distractors each, of {items} items: {out}")


def deflection_gate(
    samples: Samples,
    responses: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE [FILE ...]",
            help="Responses, a file a model: sample_id, scenario, text; or sample_id, distractor, text.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The samples that stay.", show_default=False)],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Further files of responses.")
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            help="Stage I keeps what no model answers from memory (none_correct, the paper's sentence), or "
            "what every model gets wrong without declining (all_incorrect)."
        ),
    ] = "none_correct",
    least_distractors: Annotated[int, typer.Option(help="A sample left with fewer is dropped.", min=0)] = 5,
) -> None:
    """Keep samples that models cannot answer from memory, but can with the evidence. Stages I and III.

    Responses under parametric decide stage I; those under oracle drop samples that all models fail with the
    gold; those to a distractor alone (its number from 0 in the field distractor) drop distractors that give
    the answer away. A recorded outcome overrules the rules. dropped.jsonl beside OUT says what and why.

    Four models' answers, each from `probekit deflection run` or an endpoint of yours:
    probekit deflection gate samples.jsonl --responses gemma.jsonl qwen.jsonl internvl.jsonl rethinker.jsonl
    --out kept.jsonl
    """
    from probekit.pipeline.deflection_gate import gate

    if rule not in ("none_correct", "all_incorrect"):
        raise InputError(f"--rule {rule}", hint="Known: none_correct, all_incorrect.")
    found = gate(
        samples,
        [*responses, *(more or [])],
        out,
        rule="all_incorrect" if rule == "all_incorrect" else "none_correct",
        least_distractors=least_distractors,
    )
    typer.echo(f"Stages: {'; '.join(found.stages)}")
    typer.echo(
        f"{found.kept} samples stay: {out}; {len(found.samples)} samples and {len(found.distractors)} "
        f"distractors dropped: {out.with_name('dropped.jsonl')}"
    )
