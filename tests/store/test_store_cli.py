"""``probekit ls`` and ``probekit verify`` as a user meets them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from probekit.cli.store import register
from probekit.errors import InputError

pytest.importorskip("probekit.detectors")
app = typer.Typer()
register(app)
runner = CliRunner(env={"COLUMNS": "200"})


def test_ls_json(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path)
    value = json.loads(runner.invoke(app, ["ls", str(store_path), "--json"]).stdout)
    assert (value["rows"], value["shards"], value["model"], value["job_digest"]) == (
        24,
        4,
        "tiny",
        "0123456789abcdef",
    )
    assert value["companions"] == {"text_only": {"shards": 3, "rows": 24}}
    held = {capture["capture"]: capture for capture in value["captures"]}
    assert held[tiny.captures[0].key]["bytes"] == 24 * 8 * 2
    assert held[tiny.captures[0].key]["type"] == "bfloat16"
    assert held[tiny.captures[1].key]["shape"] == [4, 3, 4, 6]
    assert held[tiny.text_only[0].key]["condition"] == "text_only"
    assert value["detectors"]["nll"] == []
    assert value["detectors"]["hidden_mid"] == []
    assert value["detectors"]["text_only"] == []
    assert value["detectors"]["glsim"] == ["image_similarity[k=32]"]


def test_ls_tables(store_path: Path) -> None:
    shown = runner.invoke(app, ["ls", str(store_path)])
    assert shown.exit_code == 0
    for text in (
        "tiny, revision r1",
        "slot 4 x layer 3 x head 4 x group 6",
        "attention_mass[read_at=query,window=4]",
    ):
        assert text in shown.stdout


def test_verify(store_path: Path) -> None:
    good = runner.invoke(app, ["verify", str(store_path)])
    assert good.exit_code == 0
    assert "is whole: 4 shards, 24 rows" in good.stdout
    (store_path / "shards" / "00001.h5").unlink()
    bad = runner.invoke(app, ["verify", str(store_path)])
    assert bad.exit_code == 1
    assert "is damaged" in bad.stdout
    value = runner.invoke(app, ["verify", str(store_path), "--json"])
    assert value.exit_code == 1
    report = json.loads(value.stdout)
    assert not report["sound"]
    assert report["findings"][0]["what"] == "the file is missing"


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_no_store(tmp_path: Path, command: str) -> None:
    result = runner.invoke(app, [command, str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'h5py', 'numpy', 'torch', 'rich.table'}"
    script = f"import sys, probekit.cli.store; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
