"""Questions that carry pictures: their keys, what an endpoint receives, and what is never written down."""

import base64
import hashlib
import io
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.judges.base import MalformedError, Opinion, Question, Unread, read_answers
from probekit.judges.cache import CachedJudge, key_of
from probekit.judges.endpoint import EndpointError, EndpointJudge
from probekit.judges.pictures import Picture
from probekit.judges.recorded import RecordedJudge


def paint(path: Path, seed: int = 0, size: tuple[int, int] = (24, 16)) -> Picture:
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return Picture.of(path)


class Counting:
    """Answers the digests it was shown, and counts."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    @property
    def identity(self) -> Mapping[str, str]:
        return {"judge": "counting"}

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        for position, question in enumerate(questions):
            self.asked.append(question)
            yield position, Opinion("+".join(p.digest for p in question.pictures) or "text")


IDENTITY = {"judge": "endpoint", "model": "m", "temperature": "0"}


def test_a_text_question_keeps_the_key_it_had_before_questions_had_pictures() -> None:
    """Canonical JSON of identity, kind and content, SHA-256, sixteen hex digits: paid answers stay valid."""
    plain = json.dumps([IDENTITY, "usage", "Is it?"], sort_keys=True, separators=(",", ":"))
    assert key_of(IDENTITY, Question("usage", "Is it?")) == hashlib.sha256(plain.encode()).hexdigest()[:16]
    # Printed by the release before pictures.
    assert key_of(IDENTITY, Question("usage", "Is it?")) == "006b59121b5f1e5a"
    assert dict(EndpointJudge("m").identity) == IDENTITY


def test_the_key_holds_every_picture_by_its_bytes_in_their_order(tmp_path: Path) -> None:
    a, b = paint(tmp_path / "a.png", 0), paint(tmp_path / "b.png", 1)
    (tmp_path / "moved.png").write_bytes((tmp_path / "a.png").read_bytes())
    moved = Picture.of(tmp_path / "moved.png")
    shown = [(), (a,), (b,), (a, b), (b, a), (a, a)]
    keys = {key_of(IDENTITY, Question("k", "What is it?", pictures)) for pictures in shown}
    assert len(keys) == len(shown)
    assert Question("k", "q", (moved,)) == Question("k", "q", (a,))
    assert key_of(IDENTITY, Question("k", "q", (moved,))) == key_of(IDENTITY, Question("k", "q", (a,)))
    assert a.digest == hashlib.sha256((tmp_path / "a.png").read_bytes()).hexdigest()


def test_a_cache_asks_again_for_another_picture_only_and_serves_as_a_record(tmp_path: Path) -> None:
    a, b = paint(tmp_path / "a.png", 0), paint(tmp_path / "b.png", 1)
    asked = [Question("k", "q", (a,)), Question("k", "q", (b,)), Question("k", "q"), Question("k", "q", (a,))]
    inner = Counting()
    with CachedJudge(inner, tmp_path / "c.jsonl") as judge:
        assert len(judge.missing(asked)) == 3
        first = dict(judge.answer(asked))
    assert [first[n].text for n in range(4)] == [a.digest, b.digest, "text", a.digest]
    with CachedJudge(inner, tmp_path / "c.jsonl") as judge:
        assert judge.missing(asked) == []
        assert dict(judge.answer(asked)) == first
    assert len(inner.asked) == 3
    record = RecordedJudge.load(tmp_path / "c.jsonl")
    assert dict(record.answer(asked)) == first
    with pytest.raises(InputError, match=r"shown c\.png"):
        list(record.answer([Question("k", "q", (paint(tmp_path / "c.png", 2),))]))
    lines = [line for _, line in read_jsonl(tmp_path / "c.jsonl")]
    assert [line.get("pictures") for line in lines] == [[a.digest], [b.digest], None]


def test_what_cannot_be_read_is_asked_again_with_its_picture(tmp_path: Path) -> None:
    a = paint(tmp_path / "a.png")
    judge = Counting()

    def read(position: int, text: str) -> str:
        raise MalformedError("never")

    (found,) = read_answers(judge, [Question("k", "q", (a,))], read)
    assert isinstance(found, Unread)
    assert [question.pictures for question in judge.asked] == [(a,), (a,)]


def sent(body: dict[str, Any]) -> list[bytes]:
    """The pictures of one request."""
    content = body["messages"][0]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.split(",", 1)[1]) for url in urls]


def test_the_endpoint_gets_the_files_own_bytes_then_the_text_and_plain_text_without(
    stub: Any, tmp_path: Path
) -> None:
    pytest.importorskip("openai")
    a, b = paint(tmp_path / "a.png", 0), paint(tmp_path / "b.png", 1)
    judge = EndpointJudge("tiny", stub.url, concurrency=1)
    assert len(dict(judge.answer([Question("k", "Which?", (b, a)), Question("k", "Why?")]))) == 2
    first, second = stub.bodies
    assert sent(first) == [(tmp_path / "b.png").read_bytes(), (tmp_path / "a.png").read_bytes()]
    assert first["messages"][0]["content"][-1] == {"type": "text", "text": "Which?"}
    assert second["messages"][0]["content"] == "Why?"


def test_only_a_picture_longer_than_the_stated_side_is_scaled_down(stub: Any, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    long, fits = paint(tmp_path / "long.png", 0, (120, 60)), paint(tmp_path / "fits.png", 1, (100, 40))
    judge = EndpointJudge("tiny", stub.url, longest_side=100)
    list(judge.answer([Question("k", "q", (long, fits))]))
    scaled, kept = sent(stub.bodies[0])
    assert Image.open(io.BytesIO(scaled)).size == (100, 50)
    assert kept == (tmp_path / "fits.png").read_bytes()
    assert judge.identity["longest_side"] == "100"


def test_formats_that_endpoints_do_not_take_go_as_png_without_loss(tmp_path: Path) -> None:
    picture = paint(tmp_path / "a.bmp")
    data = base64.b64decode(picture.data_url().removeprefix("data:image/png;base64,"))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(data))), np.asarray(Image.open(picture.path)))
    Image.open(picture.path).save(tmp_path / "a.jpg")
    assert Picture.of(tmp_path / "a.jpg").data_url().startswith("data:image/jpeg;base64,")


def test_a_picture_that_changed_is_missing_or_is_none_is_named(tmp_path: Path) -> None:
    picture = paint(tmp_path / "a.png")
    paint(tmp_path / "a.png", 5)
    with pytest.raises(InputError, match=r"has changed.*a\.png|a\.png.*has changed"):
        picture.data_url()
    with pytest.raises(InputError, match="no such picture"):
        Picture.of(tmp_path / "nothing.png")
    (tmp_path / "text.png").write_text("no picture")
    for use in (Picture.data_url, Picture.open, lambda p: p.size):
        with pytest.raises(InputError, match="not a picture"):
            use(Picture.of(tmp_path / "text.png"))


@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_picture_reaches_a_log_an_error_or_the_cache(
    stub: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """Also not when the endpoint's error echoes the whole request, and the client logs at its debug level."""
    pytest.importorskip("openai")
    picture = paint(tmp_path / "a.png")
    coded = picture.data_url().split(",", 1)[1]
    stub.respond = lambda number, body: (status, f"bad: {json.dumps(body)}" if status != 200 else "fine")
    said = ""
    with (
        caplog.at_level(logging.DEBUG),
        CachedJudge(EndpointJudge("tiny", stub.url, retries=0), tmp_path / "c.jsonl") as judge,
    ):
        try:
            said = str(list(judge.answer([Question("k", "q", (picture,))])))
        except EndpointError as error:
            said = f"{error} {error.__cause__}"
    assert len(sent(stub.bodies[0])) == 1
    # Older clients write whole requests to this log.
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("openai._base_client").debug("Request options: %s", stub.bodies[0])
    assert "Request options: " in caplog.text
    kept = "".join(path.read_text() for path in tmp_path.glob("c*"))  # no file where nothing was answered
    written = said + kept + caplog.text
    assert coded[:60] not in written
    assert ("[picture]" in said) == (status != 200)
