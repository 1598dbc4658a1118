"""Commands that make the organism and its world: `probekit organism train | evaluate | images`."""

from pathlib import Path
from typing import Annotated

import typer

organism = typer.Typer(
    name="organism",
    help=(
        "The embedded default model and its world.\n\n"
        "The organism is a tiny LLaVA trained on drawn scenes whose content is known exactly. Its "
        "weights are shipped; training it anew gives the same weights on the same machine."
    ),
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands as a group."""
    app.add_typer(organism, name="organism")


@organism.command()
def train(
    out: Annotated[Path, typer.Option(help="Folder of the run: checkpoints, settings, then model/.")] = Path(
        "runs/organism"
    ),
    seed: Annotated[int, typer.Option(help="Seed of weights, scenes and captions.")] = 0,
    resume: Annotated[
        bool, typer.Option(help="Go on from the last checkpoint in the folder, if there is one.")
    ] = True,
    images: Annotated[int, typer.Option(help="Fresh scenes for the figures of the card.", min=20)] = 600,
) -> None:
    """Train the organism from nothing: about an hour on one core.

    The run counts steps, not seconds, and writes a checkpoint every 250 of them; killed, it goes
    on where it was and ends with the same weights. Yes/no accuracy stays at 0.50 for the first
    thousand joint steps and then rises: that is no fault. The result, `OUT/model`, loads with
    `from_pretrained` and holds a card with its figures.

    Example: probekit organism train --out runs/organism
    """
    from probekit.errors import InputError
    from probekit.organism.recipe import train as run

    if not resume and any(out.glob("checkpoint-*")):
        raise InputError(
            "the folder holds checkpoints of an earlier run",
            where=str(out),
            hint="Give another folder with --out, or leave out --no-resume to go on with it.",
        )
    folder = run(out, seed=seed, card_images=images)
    typer.echo(f"model and card: {folder}")


@organism.command()
def evaluate(
    model: Annotated[
        Path | None, typer.Option(help="Folder of a trained organism; the shipped one by default.")
    ] = None,
    images: Annotated[int, typer.Option(help="Number of fresh scenes.", min=20)] = 600,
    seed: Annotated[int, typer.Option(help="Which fresh scenes; the card uses 540.")] = 540,
) -> None:
    """Measure the figures of the card on fresh scenes and print them as JSON.

    Takes about two minutes for 600 scenes. With the defaults it prints the shipped card's figures.

    Example: probekit organism evaluate --images 200
    """
    import json

    from probekit.errors import InputError
    from probekit.organism import path
    from probekit.organism.evaluate import evaluate as measure

    folder = path() if model is None else model
    if not (folder / "config.json").is_file():
        raise InputError(
            "no model in this folder",
            where=str(folder),
            hint="Name a folder written by `probekit organism train`, such as runs/organism/model.",
        )
    typer.echo(json.dumps(measure(folder, images, seed), indent=1))


@organism.command()
def images(
    out: Annotated[Path, typer.Option(help="Folder for the images and references.jsonl.")],
    count: Annotated[int, typer.Option(help="Number of images.", min=1)] = 600,
    seed: Annotated[int, typer.Option(help="Which scenes: the same seed, the same images.")] = 0,
) -> None:
    """Write scenes as PNG files, with references.jsonl saying what is in each.

    The folder can be given to `probekit run MODEL --images OUT --references OUT/references.jsonl`
    like any photographs. Run again, it keeps what is there and adds what is missing.

    Example: probekit organism images --out runs/scenes --count 200
    """
    from probekit.organism.images import write_images

    typer.echo(f"images and references: {write_images(out, count, seed).parent}")
