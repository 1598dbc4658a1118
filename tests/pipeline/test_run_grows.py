"""A run's folder when its input changes: it grows, or is left as it is; the first command always works."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from probekit import jobs
from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.organism import write_images
from probekit.pipeline.run import demo_job, run
from probekit.store import Store, verify

FEW, MORE = 30, 42
DETECTORS = ("svar", "hidden_mid", "text_only")


def demo(out: Path, pictures: int, **changes: Any) -> jobs.RunJob:
    few = {"detectors": DETECTORS, "mixes": ("none",), "seeds": 1, "shard_examples": 8}
    return demo_job(out, pictures, seed=3).model_copy(update={**few, **changes})


def records(folder: Path) -> Any:
    return json.loads((folder / "evaluation.json").read_text())["records"]


def contents(store: Path) -> dict[tuple[str, int], str]:
    """Digest of each shard's arrays, companions included."""
    return {
        (folder.name, line["shard"]): line["content"]
        for folder in (store, store / "text_only")
        for _, line in read_jsonl(folder / "manifest.jsonl")
    }


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Runs of few and of more pictures, each made at once."""
    found = {}
    for count in (FEW, MORE):
        found[count] = tmp_path_factory.mktemp(f"whole{count}") / "run"
        run(demo(found[count], count))
    return found


@pytest.fixture
def few(whole: dict[int, Path], tmp_path: Path) -> Path:
    """A copy, whose job names the copy's own pictures."""
    shutil.copytree(whole[FEW], tmp_path / "run")
    job = tmp_path / "run/job.json"
    job.write_text(job.read_text().replace(str(whole[FEW]), str(tmp_path / "run")))
    return tmp_path / "run"


def test_more_pictures_extend_a_run_to_what_it_were_if_made_at_once(
    few: Path, whole: dict[int, Path]
) -> None:
    before = {f.name: f.stat().st_mtime_ns for f in (few / "store/shards").iterdir()}
    run(demo(few, MORE))
    assert contents(few / "store") == contents(whole[MORE] / "store")
    assert records(few) == records(whole[MORE])
    assert verify(few / "store").sound
    after = {f.name: f.stat().st_mtime_ns for f in (few / "store/shards").iterdir()}
    full = len({row["example_id"] for _, row in read_jsonl(whole[FEW] / "rows.jsonl")}) // 8
    kept = [name for name in before if before[name] == after.get(name)]
    assert len(kept) == full > 1
    assert sorted(name[:5] for name in after) == [f"{n:05d}" for n in range(len(after))]


def test_a_kill_before_anything_is_written_leaves_the_store_it_was(
    few: Path, whole: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last, partial shard stays until the fuller one is on disk."""

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    was = contents(few / "store")
    with monkeypatch.context() as patch:
        patch.setattr("probekit.store.writer.StoreWriter.write", killed)
        with pytest.raises(KeyboardInterrupt):
            run(demo(few, MORE))
    assert contents(few / "store") == was
    assert verify(few / "store").sound
    run(demo(few, FEW))
    assert records(few) == records(whole[FEW])
    run(demo(few, MORE))
    assert contents(few / "store") == contents(whole[MORE] / "store")


def test_a_kill_behind_the_fuller_shard_is_gone_on_from(
    few: Path, whole: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the fuller shard and the header still the job before."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("probekit.store.writer.StoreWriter._own_when_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            run(demo(few, MORE))
    run(demo(few, MORE))
    assert contents(few / "store") == contents(whole[MORE] / "store")
    assert records(few) == records(whole[MORE])
    assert verify(few / "store").sound


def test_a_companion_grows_with_its_store_also_when_it_is_not_asked_for(few: Path) -> None:
    job = demo(few, MORE)
    wanted = tuple(name for name in job.detectors or () if name != "text_only")
    run(job.model_copy(update={"detectors": wanted}))
    assert verify(few / "store").sound


def test_the_first_command_works_after_the_folder_has_grown(few: Path, whole: dict[int, Path]) -> None:
    run(demo(few, MORE))
    run(demo(few, FEW))
    assert records(few) == records(whole[FEW])
    run(demo(few, MORE))
    assert records(few) == records(whole[MORE])


def test_the_first_command_works_where_new_pictures_were_described_and_no_more(
    few: Path, whole: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of the first pictures is left as it is when tracing the others cannot begin."""

    def fails(*_: Any) -> None:
        raise InputError("no")

    with monkeypatch.context() as context:
        context.setattr("probekit.pipeline.extract._replay", fails)
        with pytest.raises(InputError, match="no"):
            run(demo(few, MORE))
        run(demo(few, FEW))
    assert records(few) == records(whole[FEW])
    assert contents(few / "store") == contents(whole[FEW] / "store")
    run(demo(few, MORE))
    assert records(few) == records(whole[MORE])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"detectors": (*DETECTORS, "ic")}, ["internal_confidence", "--out"]),
        ({"vocabulary": "name-bench"}, ["another vocabulary", "organism", "name-bench"]),
        ({"batch_tokens": 100}, ["another batch_tokens (8192, now 100)"]),
        ({"shard_examples": 5}, ["another shard_examples"]),
    ],
)
def test_what_the_store_cannot_serve_is_refused_and_nothing_is_changed(
    few: Path, changes: dict[str, Any], words: list[str]
) -> None:
    job = demo(few, FEW, **changes)
    before = files(few)
    with pytest.raises(InputError) as error:
        run(job)
    assert all(word in str(error.value) for word in words), error.value
    assert files(few) == before


def test_fewer_detectors_need_no_new_store(few: Path, whole: dict[int, Path]) -> None:
    before = contents(few / "store")
    run(demo(few, FEW, detectors=("svar",)))
    assert contents(few / "store") == before
    assert {record["detector"] for record in records(few)} == {"svar"}
    run(demo(few, FEW))
    assert records(few) == records(whole[FEW])


def test_a_device_is_no_other_model(few: Path) -> None:
    job = demo(few, FEW)
    run(job.model_copy(update={"model": job.model.model_copy(update={"device": "cpu"})}))


def test_a_vocabulary_that_changed_is_refused(few: Path) -> None:
    stage = few / "stages/vocabulary.json"
    stage.write_text(stage.read_text().replace('"inputs": "', '"inputs": "0'))
    with pytest.raises(InputError, match="vocabulary 'organism' has changed"):
        run(demo(few, FEW))


def test_a_demo_in_the_folder_of_another_run_draws_nothing(few: Path) -> None:
    job = few / "job.json"
    job.write_text(job.read_text().replace('"name": "organism"', '"name": "somewhere"'))
    before = files(few)
    with pytest.raises(InputError, match="another model"):
        demo_job(few, MORE, 3)
    assert files(few) == before


@pytest.fixture
def captioned(tmp_path: Path) -> list[object]:
    """A command on captions by others, of which there are few, and their folder."""
    write_images(tmp_path / "images", 24, 5)
    lines = [
        {"image": f"{n:06d}.png", "caption": "A dog is beside a bench. There is possibly a cat."}
        for n in range(24)
    ]
    write_jsonl(tmp_path / "all.jsonl", lines)
    write_jsonl(tmp_path / "texts.jsonl", lines[:18])
    return [
        "run", "organism", "--images", tmp_path / "images", "--references",
        tmp_path / "images/references.jsonl", "--texts", tmp_path / "texts.jsonl", "--vocabulary", "organism",
        "--detectors", "svar", "--seeds", 1, "--out", tmp_path / "run",
    ]  # fmt: skip


def invoke(arguments: list[object]) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_captions_grow_and_are_not_replaced(captioned: list[object], tmp_path: Path) -> None:
    assert invoke(captioned).exit_code == 0
    texts = tmp_path / "texts.jsonl"
    kept = texts.read_bytes()
    shutil.copy(tmp_path / "all.jsonl", texts)
    done = invoke(captioned)
    assert done.exit_code == 0, done.output + repr(done.exception)
    assert len({key.example_id for key in Store.open(tmp_path / "run/store").rows().keys}) == 24
    texts.write_bytes(kept)
    assert invoke(captioned).exit_code == 0
    texts.write_bytes(kept.replace(b"dog", b"bus", 1))
    before = files(tmp_path / "run")
    refused = invoke(captioned)
    assert isinstance(refused.exception, InputError)
    assert "have changed" in str(refused.exception)
    assert files(tmp_path / "run") == before


def test_a_file_of_captions_with_a_fault_claims_no_folder(captioned: list[object], tmp_path: Path) -> None:
    """The right file under another name is taken in the same folder."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"image": "000000.png", "captoin": "A dog."}\n')
    wrong = [bad if part == tmp_path / "texts.jsonl" else part for part in captioned]
    assert isinstance(invoke(wrong).exception, InputError)
    bad.write_text('{"image": "000000.png", "caption": "A <image> of a dog."}\n')
    assert isinstance(invoke(wrong).exception, InputError)
    assert not (tmp_path / "run").exists()
    bad.write_text('{"image": "000000.png", "caption": "Nothing is mentioned."}\n')
    assert isinstance(invoke(wrong).exception, InputError)
    assert invoke(captioned).exit_code == 0


def test_the_page_on_python_reads_a_run_that_was_made_of_more_pictures(
    few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows without a label are neither right nor wrong claims."""
    run(demo(few, MORE))
    run(demo(few, FEW))
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
    names: dict[str, Any] = {}
    for block in [part.split("```")[0] for part in page.split("```python\n")[1:]]:
        exec(block.replace("runs/demo", str(few)), names)
    labels = {(line["example_id"], line["index"]) for _, line in read_jsonl(few / "labels/labels.jsonl")}
    rows = names["rows"]
    assert len(labels) < len(rows)
    assert {(str(rows.example_id[n]), int(rows.index[n])) for n in names["claims"]} <= labels
    assert 0 <= float(capsys.readouterr().out.rsplit("AUROC", 1)[1]) <= 1
    assert "of other pictures, none of whose mentions has a label" in (few / "report.html").read_text()
