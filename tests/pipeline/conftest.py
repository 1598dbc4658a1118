"""A small run of the embedded model: pictures, texts and rows, made once."""

import shutil

import pytest

from probekit import jobs
from probekit.files import read_jsonl, write_jsonl
from probekit.organism import write_images
from probekit.pipeline.describe import describe

KEYS = (
    "hidden_state[layer=mid]",
    "attention_mass",
    "group_count",
    "token_statistics",
    "hidden_state[text_only=True]",
)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Folder with images/, references, generations.jsonl and rows.jsonl of 20 pictures."""
    from probekit.families import load_tokenizer
    from probekit.mentions import Vocabulary
    from probekit.mentions.extract import mention_rows

    root = tmp_path_factory.mktemp("made")
    write_images(root / "images", 20, seed=77)
    describe(
        jobs.make(
            jobs.GenerateJob, model={"name": "organism"}, images=root / "images",
            out=root / "generations.jsonl", batch=20,
        )
    )  # fmt: skip
    tokenizer = load_tokenizer("organism")
    mention_rows(
        root / "generations.jsonl", Vocabulary.named("organism"), tokenizer.decode,
        root / "rows.jsonl", root / "dropped.jsonl", end_ids=tokenizer.end_ids,
    )  # fmt: skip
    return root


@pytest.fixture
def work(made, tmp_path):
    """A copy that a test may spoil."""
    shutil.copytree(made, tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def extract_job():
    def make(root, **changes):
        values = {
            "model": {"name": "organism"},
            "generations": root / "generations.jsonl",
            "rows": root / "rows.jsonl",
            "images": root / "images",
            "out": root / "store",
            "captures": KEYS,
            "shard_examples": 4,
            "batch_tokens": 400,
        }
        return jobs.make(jobs.ExtractJob, **{**values, **changes})

    return make


def edit_line(file, number, change):
    """Rewrite one line of a JSON Lines file, counted from 1."""
    lines = [value for _, value in read_jsonl(file)]
    change(lines[number - 1])
    write_jsonl(file, lines)
