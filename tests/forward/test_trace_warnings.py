"""nnsight's note on parts called output, one a block of a vision tower, is not passed on; other notes are."""

import warnings
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from probekit.captures import TokenStatistics
from probekit.families import Prompter, load
from probekit.families.tiny import make
from probekit.forward import trace
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey


def test_a_pass_through_such_a_model_says_nothing_of_it(tmp_path: Path) -> None:
    vlm = load(str(make("instructblip", tmp_path / "model")), dtype="float32", device="cpu")
    prompter = Prompter(vlm)
    image = partial(Image.new, "RGB", (60, 60), "red")
    text = Forced("a", image, "a", "What is this?", (5, 6, 7), (Target(RowKey("a", 0), 0, 1),))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        trace.NNsight(vlm.model)
    assert any("submodule named 'output'" in str(one.message) for one in heard), "there is something to hush"
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Tracer(vlm, prompter, (TokenStatistics(),)).run([text])
    assert [one for one in heard if "submodule named" in str(one.message)] == []


def test_other_notes_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vlm = load(str(make("llava", tmp_path / "model")), dtype="float32", device="cpu")
    notes = ("Module 'model' has a submodule named 'input', which", "Module 'model' is odd")
    real = trace.NNsight

    def noting(model: object) -> object:
        for note in notes:
            warnings.warn(note)
        return real(model)

    monkeypatch.setattr(trace, "NNsight", noting)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        _ = Tracer(vlm, Prompter(vlm), (TokenStatistics(),))._traced
    assert [str(one.message) for one in heard] == list(notes)
