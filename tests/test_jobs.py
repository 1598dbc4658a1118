"""Jobs: all faults at once, unknown keys refused with their line, digests of what matters."""

from pathlib import Path

import pytest

from probekit import jobs
from probekit.errors import InputError

GOOD = """model:
  name: somewhere
generations: g.jsonl
rows: r.jsonl
images: pictures
out: store
captures: [token_statistics]
"""


def write(tmp_path, text):
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return path


def test_a_job_is_read_and_overridden(tmp_path):
    job = jobs.load(write(tmp_path, GOOD), jobs.ExtractJob, out=Path("other"), batch_tokens=None)
    assert job.out == Path("other")
    assert job.batch_tokens == 8192
    with pytest.raises(Exception, match="frozen"):
        job.out = Path("x")


def test_every_fault_is_named_with_its_line(tmp_path):
    text = GOOD + "shard_exmaples: 3\nbatch_tokens: many\n"
    text = text.replace("  name: somewhere", "  name: somewhere\n  dtype: float12").replace(
        "rows: r.jsonl\n", ""
    )
    with pytest.raises(InputError) as error:
        jobs.load(write(tmp_path, text), jobs.ExtractJob)
    message = str(error.value)
    assert "4 faults" in message
    assert "line 3: model.dtype" in message
    assert "unknown key 'shard_exmaples'" in message
    assert "missing 'rows'" in message
    assert "line 9: batch_tokens" in message


def test_a_capture_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InputError, match="unknown capture 'hidden_stat'"):
        jobs.load(write(tmp_path, GOOD.replace("token_statistics", "hidden_stat")), jobs.ExtractJob)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n"])
def test_a_job_must_be_a_mapping(tmp_path, text):
    with pytest.raises(InputError, match="mapping"):
        jobs.load(write(tmp_path, text), jobs.ExtractJob)


def test_broken_yaml_names_its_line(tmp_path):
    with pytest.raises(InputError, match=r"job\.yaml, line 3.*not YAML"):
        jobs.load(write(tmp_path, "model: {\n  name: [\n"), jobs.ExtractJob)


def test_yaml_cannot_make_python_objects(tmp_path):
    with pytest.raises(InputError, match="not YAML"):
        jobs.load(write(tmp_path, "model: !!python/object/apply:os.system ['true']\n"), jobs.ExtractJob)


def test_the_digest_covers_what_changes_the_numbers(tmp_path):
    base = jobs.load(write(tmp_path, GOOD), jobs.ExtractJob)

    def changed(**values):
        return base.model_copy(update=values).digest()

    assert changed(out=Path("elsewhere")) == base.digest()
    assert changed(model=base.model.model_copy(update={"device": "cuda"})) == base.digest()
    assert changed(model=base.model.model_copy(update={"dtype": "float32"})) != base.digest()
    assert changed(captures=("group_count",)) != base.digest()
    assert base.digest(rows="1") != base.digest(rows="2")
