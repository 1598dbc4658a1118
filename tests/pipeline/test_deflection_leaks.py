"""What mining never gives: the gold however a pool is cut, answers in any sentence, pictures again."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.deflection import Evidence, Sample
from probekit.benchmarks.deflection_mining import Index
from probekit.errors import InputError
from probekit.pipeline.deflection_leaks import folded
from probekit.pipeline.deflection_mining import Mining, banned, mine, read_pool


def prose(seed: int, count: int) -> list[str]:
    """Words that come from nowhere, each text its own."""
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("bcdfglmnprst"), 5)) for _ in range(count)]


def sample(gold: str, answers: tuple[str, ...] = ("zzz",), source: str = "") -> Sample:
    return Sample("s", "Q?", None, answers, (Evidence(text=gold, source=source),), ())


def pool(path: Path, texts: dict[str, str], words: int = 100, overlap: int = 20):
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    return read_pool(path, words, overlap)


def longest_shared(one: list[str], other: list[str]) -> int:
    """Longest run of words of both, by the textbook table."""
    best, row = 0, [0] * (len(other) + 1)
    for word in one:
        row = [0, *(row[at] + 1 if word == there else 0 for at, there in enumerate(other))]
        best = max(best, *row)
    return best


@pytest.mark.parametrize("start", [0, 13, 40, 70, 96, 130, 163])
@pytest.mark.parametrize(("words", "overlap"), [(100, 20), (50, 0), (30, 10)])
def test_no_piece_of_the_golds_own_article_comes_back(
    tmp_path: Path, start: int, words: int, overlap: int
) -> None:
    article, other = prose(0, 230), prose(1, 230)
    gold = " ".join(article[start : start + 67])
    items = pool(tmp_path / "p.jsonl", {"own": " ".join(article), "other": " ".join(other)}, words, overlap)
    (found,) = banned((sample(gold),), items)
    assert found == {item.item for item in items if item.document == "own"}


@pytest.mark.parametrize("taken", [8, 20, 40, 67])
def test_a_passage_that_quotes_part_of_the_gold_is_banned(tmp_path: Path, taken: int) -> None:
    """Another article, other words round the quotation, case and marks of its own; no run of ten is left."""
    gold, other = prose(0, 67), prose(1, 60)
    quoted = ", ".join(word.upper() for word in gold[67 - taken :])
    texts = {"quotes": " ".join([*other[:30], f'"{quoted}"', *other[30:]]), "free": " ".join(prose(2, 90))}
    items = pool(tmp_path / "p.jsonl", texts)
    (found,) = banned((sample(" ".join(gold)),), items)
    left = [item for item in items if item.item not in found]
    assert "free#0" in {item.item for item in left}
    assert all(longest_shared(gold, str(item.text).lower().split()) < 10 for item in left)
    if taken >= 20:
        assert "quotes#0" in found


def test_a_short_passage_out_of_a_long_gold_and_a_named_source(tmp_path: Path) -> None:
    gold = prose(0, 300)
    items = pool(
        tmp_path / "p.jsonl",
        {
            "short": " ".join([*gold[200:212], "and", "more"]),
            "page": " ".join(prose(3, 150)),
            "free": " ".join(prose(4, 20)),
        },
    )
    assert banned((sample(" ".join(gold), source="page#1"),), items) == ({"short#0", "page#0", "page#1"},)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("1889", "It was not until 1889 that it opened."),
        ("Paris", "Nobody, not Paris, not Rome, would pay."),
        ("Paris", "PARIS's oldest bridge."),
        ("Paris", "It was **Paris**-born Eiffel."),
        ("São Paulo", "the mayor of Sao  Paulo"),
        ("1,083 feet", "some 1083 feet"),
        ("seven", "Of the 7 hills"),
        ("the Louvre", "near Louvre, no less"),
        ("東京", "この塔は東京にある。"),
        ("straße", "In der STRASSE."),
    ],
)
def test_a_passage_that_states_an_answer_is_banned(tmp_path: Path, answer: str, passage: str) -> None:
    items = pool(tmp_path / "p.jsonl", {"states": passage, "free": "A parisian, opened 18890, Louvred."})
    assert banned((sample("gold words here", ("zzz", answer)),), items) == ({"states#0"},)


def test_words_have_bounds_and_a_common_phrase_is_no_leak(tmp_path: Path) -> None:
    items = pool(
        tmp_path / "p.jsonl",
        {"a": "One of the largest in the world, a bridge of stone over a river was built by monks in 1357."},
    )
    gold = "The iron tower was built by Eiffel for the fair; it was one of the largest works of its time."
    assert banned((sample(gold, ("bridg", "135")),), items) == (frozenset(),)
    assert folded("The Café's 1,889 rooms!") == ("cafe", "1889", "rooms")


def test_every_sample_has_its_own_bans(tmp_path: Path) -> None:
    texts = {name: " ".join(prose(seed, 130)) for seed, name in enumerate("abc")}
    items = pool(tmp_path / "p.jsonl", texts)
    golds = [" ".join(prose(seed, 130)[60:110]) for seed in range(3)]
    found = banned(tuple(sample(gold) for gold in golds), items)
    assert [{name.split("#")[0] for name in one} for one in found] == [{"a"}, {"b"}, {"c"}]
    assert banned((sample(golds[1]),), items) == (found[1],)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(5):
        pixels = np.random.default_rng(number).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"i{number}.png")
    shutil.copy(folder / "i0.png", folder / "copy.png")
    os.link(folder / "i1.png", folder / "hard.png")
    (folder / "soft.png").symlink_to(folder / "i2.png")
    return folder


def photos(path: Path, names: list[str]) -> Path:
    lines = [json.dumps({"id": f"x{n}", "image": name}) + "\n" for n, name in enumerate(names)]
    path.write_text("".join(lines))
    return path


NAMES = ["./i0.png", "copy.png", "hard.png", "soft.png", "i3.png", "i4.png"]


def test_pictures_are_known_by_place_and_content(pictures: Path, tmp_path: Path) -> None:
    held = Sample(
        "s", "Q?", "i0.png", ("x",), (Evidence(image="../pictures/i1.png"),), (Evidence(image="i2.png"),)
    )
    items = read_pool(photos(tmp_path / "p.jsonl", NAMES), 100, 20)
    assert banned((held,), items, pictures) == ({"x0", "x1", "x2", "x3"},)
    items = read_pool(photos(tmp_path / "p.jsonl", ["i9.png"]), 100, 20)
    with pytest.raises(InputError, match=r"no picture .*i9\.png") as error:
        banned((held,), items, pictures)
    assert error.value.where == "item x0"


class Colours:
    """An encoder of pictures: the mean colours."""

    identity = "colours"

    def images(self, openers) -> np.ndarray:
        return np.stack([np.asarray(opener().convert("RGB")).mean((0, 1)) for opener in openers])


def test_the_index_of_pictures_is_that_of_their_content(pictures: Path, tmp_path: Path) -> None:
    samples = tmp_path / "s.jsonl"
    samples.write_text(json.dumps({"id": "s", "question": "Q?", "image": "i0.png", "answers": ["x"]}) + "\n")
    given = (samples, photos(tmp_path / "p.jsonl", NAMES), tmp_path / "o.jsonl", Colours())
    how = {"index": tmp_path / "i.npz", "images": pictures, "how": Mining(k=2, query="image")}
    mine(*given, **how)
    before = (tmp_path / "o.jsonl").read_bytes()
    mine(*given, **how)
    assert (tmp_path / "o.jsonl").read_bytes() == before
    Image.new("RGB", (8, 8), "red").save(pictures / "i4.png")
    with pytest.raises(InputError, match="pictures that have changed"):
        mine(*given, **how)


@pytest.mark.parametrize(("backend", "module"), [("numpy", "numpy"), ("faiss", "faiss"), ("hnsw", "hnswlib")])
def test_every_backend_finds_the_nearest_and_is_built_once(
    backend: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(module)
    from probekit.benchmarks import deflection_mining

    built = []
    real = deflection_mining._ENGINES[backend]
    monkeypatch.setitem(deflection_mining._ENGINES, backend, lambda unit: built.append(1) or real(unit))
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(300, 16)).astype(np.float32), rng.normal(size=(20, 16))
    index = Index.build([str(n) for n in range(300)], rows)
    for query in queries:
        cosines = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
        order = [str(at) for at in np.argsort(-cosines)]
        found = index.search(query, 6, gold=order[:4], backend=backend)
        assert [one.item for one in found] == order[4:10]
        assert [one.cosine for one in found] == pytest.approx(np.sort(cosines)[::-1][4:10], abs=1e-5)
    assert len(built) == 1


def test_a_graph_that_reaches_too_few_items_is_left_for_the_exact_search() -> None:
    """Forty tight bunches of 75: the graph of one bunch does not lead to the others."""
    pytest.importorskip("hnswlib")
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(40, 32)), 75, 0) + rng.normal(size=(3000, 32)) * 1e-4
    names = [str(n) for n in range(3000)]
    index, unit = Index.build(names, rows), rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for out in (1500, 2990):
        found = index.search(rows[10], 5, gold=names[:out], backend="hnsw")
        cosines = unit[out:] @ unit[10]
        assert {int(one.item) for one in found} == {int(at) + out for at in np.argsort(-cosines)[:5]}
