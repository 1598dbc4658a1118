"""`probekit run` from photographs to a table on tiny members of four families; stored numbers are eager's."""

from pathlib import Path

import numpy as np
import pytest

from probekit import jobs
from probekit.captures import AttentionGrid, AttentionMass, TokenStatistics
from probekit.families import Prompter, load, open_image
from probekit.families.tiny import make
from probekit.files import read_jsonl, write_jsonl
from probekit.forward.check.oracle import eager_outputs
from probekit.forward.work import Forced
from probekit.pipeline.run import run
from probekit.store import Store

PHOTOGRAPHS = Path(__file__).resolve().parents[3] / "shared" / "data" / "real" / "images"

CAPTIONS = (
    ("A man holds a racket beside a bench and a dog. There is no bus.", ["person", "bench"]),
    ("A dog and a cat sit on a couch. A person and a bottle are possibly there.", ["cat", "couch"]),
    ("A train and a truck pass a bench, a car and a bicycle.", ["train", "bicycle"]),
)


@pytest.fixture(scope="module", params=["llava", "qwen2_5_vl", "internvl", "gemma3"])
def finished(request, tmp_path_factory):
    if not PHOTOGRAPHS.is_dir():
        pytest.skip("no photographs beside the checkout")
    root = tmp_path_factory.mktemp(request.param)
    model = make(request.param, root / "model")
    names = sorted(path.name for path in PHOTOGRAPHS.glob("*.jpg"))
    pairs = list(zip(names, CAPTIONS, strict=True))
    write_jsonl(root / "texts.jsonl", ({"image": name, "caption": text} for name, (text, _) in pairs))
    write_jsonl(root / "references.jsonl", ({"image": name, "objects": seen} for name, (_, seen) in pairs))
    job = jobs.make(
        jobs.RunJob,
        model={"name": str(model), "dtype": "float32", "device": "cpu"},
        images=PHOTOGRAPHS,
        references=root / "references.jsonl",
        texts=root / "texts.jsonl",
        out=root / "run",
        detectors=("dhcp", "svar", "nll", "text_only"),
        seeds=1,
    )
    run(job)
    return root / "run", load(str(model), dtype="float32", device="cpu")


def test_every_stage_left_its_result(finished):
    folder, _ = finished
    for name in ("rows.jsonl", "labels/labels.jsonl", "scores.csv", "evaluation.json", "report.html"):
        assert (folder / name).is_file(), name
    assert len(Store.open(folder / "store").rows()) == len(list(read_jsonl(folder / "rows.jsonl"))) >= 12


def test_stored_numbers_are_hugging_faces(finished):
    folder, vlm = finished
    prompter = Prompter(vlm)
    store = Store.open(folder / "store")
    texts = {row["example_id"]: row for _, row in read_jsonl(folder / "generations.jsonl")}
    (shard,) = store.shards()
    mass = next(c for c in store.captures if isinstance(c, AttentionMass))
    for number, key in enumerate(shard.rows.keys):
        text = texts[key.example_id]
        ids = tuple(text["token_ids"])
        picture = PHOTOGRAPHS / text["image"]
        forced = Forced("e", lambda picture=picture: open_image(picture), "i", text["prompt"], ids, ())
        eager = eager_outputs(vlm, prompter, forced)
        token = int(shard.rows.token[number])
        query = len(eager.prompt) + token - 1
        assert shard.rows.image_tokens[number] == eager.prompt.image_tokens
        logp = eager.logits[query].double().log_softmax(-1)[ids[token]]
        np.testing.assert_allclose(shard[TokenStatistics()][number, 0], logp, rtol=1e-5)
        image = np.flatnonzero(eager.prompt.groups == 2)
        expected = [layer[:, token][:, image].sum(-1) for layer in eager.attention]
        np.testing.assert_allclose(shard[mass][number, -1, :, :, 2], np.stack(expected), rtol=2e-3)
        assert np.isfinite(shard[AttentionGrid()][number]).all()
