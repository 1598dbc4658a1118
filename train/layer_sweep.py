"""At which depth is a hallucination written on the residual stream?

Question: AUROC of a logistic probe on every layer a store holds, for each mixing budget; all seeds and
budgets of a layer are solved together.
Input: a folder whose store holds hidden states of several layers, which `probekit extract
configs/extract/layer_sweep.yaml` makes, and labels of its rows.
Artefact: RUN/studies/layer_sweep.csv, .md and .svg.

    python -m train.layer_sweep runs/layers --labels runs/demo/labels/labels.jsonl --mix none --mix 100
"""

from collections.abc import Sequence

from probekit.captures import HiddenState
from probekit.detectors import Detector, State
from probekit.detectors.heads.logistic import Logistic
from probekit.detectors.table import CONCRETE, HALLUCINATED
from probekit.errors import InputError, run_telling
from probekit.evaluation.pooled import Pooled
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.refit import mix_recipe, refit
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.progress import progress
from probekit.report.artefact import cell, save_study
from probekit.report.figures import Frame, Series, line_figure
from probekit.report.tables import Column, Table


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    setting = Setting.of_run(given.run, given.seeds, given.labels)
    depth, mixes = setting.store.depth, list(given.mixes or ("none",))
    states = [c for c in setting.store.captures if isinstance(c, HiddenState) and c.read_at == "self"]
    layers = {c.index(depth): c for c in states if c.norm == "post" and not c.text_only and c.window == 4}
    if len(layers) < 2:
        raise InputError(
            f"the store holds the states of {len(layers)} layers",
            hint="Extract them into another store: see configs/extract/layer_sweep.yaml.",
        )
    protocol = Protocol(setting.population, setting.splits)
    label = setting.population.label
    found: dict[str, dict[int, Pooled]] = {mix: {} for mix in mixes}
    with progress("layer sweep", len(layers), "layers") as advance:
        for layer in sorted(layers):
            detector = Detector(f"layer_{layer}", State(layers[layer]), Logistic())
            recipes = [mix_recipe(setting, mix) for mix in mixes]
            for scored in refit(detector, setting.table(detector), setting.splits, recipes):
                found[scored.mix][layer] = protocol.separation(
                    scored, label == HALLUCINATED, label == CONCRETE
                )
            advance(1)
    columns = (Column("layer", "Layer"), *(Column(mix, f"AUROC, mix {mix}") for mix in mixes))
    rows = tuple((layer, *(cell(found[mix][layer]) for mix in mixes)) for layer in sorted(layers))
    table = Table("Layer sweep", columns, rows, f"hs[l] at the mention, W4; test mentions of {given.run}.")
    lines = [
        Series(f"mix {mix}", list(by_layer), [p.value for p in by_layer.values()],
               [p.low for p in by_layer.values()], [p.high for p in by_layer.values()])
        for mix, by_layer in found.items()
    ]  # fmt: skip
    frame = Frame("layer_sweep", "AUROC of a probe at each depth", "hs[l]", "AUROC")
    figure = line_figure(frame, lines, limits=(0.4, 1.0), reference=0.5)
    print(f"table: {save_study(given.folder, table, figure)}")


if __name__ == "__main__":
    run_telling(main)
