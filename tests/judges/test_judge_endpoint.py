"""The endpoint judge against a stub server: path, retries, refusals, and a kill in the middle."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from probekit.errors import InputError
from probekit.judges.base import Question
from probekit.judges.cache import CachedJudge
from probekit.judges.endpoint import EndpointError, EndpointJudge

pytest.importorskip("openai")

ASKED = [Question("echo", f"question {n}") for n in range(6)]


def content(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


def test_posts_chat_completions_at_temperature_zero_with_the_key_of_the_environment(
    stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sesame")
    stub.respond = lambda number, body: (200, content(body).upper())
    judge = EndpointJudge("tiny", stub.url, key_variable="JUDGE_KEY", concurrency=3)
    answers = {position: opinion.text for position, opinion in judge.answer(ASKED)}
    assert answers == {n: f"QUESTION {n}" for n in range(6)}
    assert set(stub.paths) == {"/v1/chat/completions"}
    assert all(body["temperature"] == 0 and body["model"] == "tiny" for body in stub.bodies)
    assert stub.headers_seen[0]["authorization"] == "Bearer sesame"
    assert "sesame" not in json.dumps(dict(judge.identity)) + repr(judge)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_throttling_and_server_errors_are_retried(stub: Any, status: int) -> None:
    stub.respond = lambda number, body: (status, "later") if number <= 2 else (200, "fine")
    judge = EndpointJudge("tiny", stub.url, retries=3, concurrency=1)
    assert [opinion.text for _, opinion in judge.answer(ASKED[:1])] == ["fine"]
    assert len(stub.bodies) == 3


def test_a_timeout_is_retried(stub: Any) -> None:
    def respond(number: int, body: dict[str, Any]) -> tuple[int, str]:
        if number == 1:
            time.sleep(1.0)
        return 200, "fine"

    stub.respond = respond
    judge = EndpointJudge("tiny", stub.url, retries=2, timeout=0.3)
    assert [opinion.text for _, opinion in judge.answer(ASKED[:1])] == ["fine"]
    assert len(stub.bodies) == 2


def test_giving_up_names_the_question_and_the_endpoint(stub: Any) -> None:
    stub.respond = lambda number, body: (500, "broken")
    judge = EndpointJudge("tiny", stub.url, retries=1)
    with pytest.raises(EndpointError, match="echo question") as caught:
        list(judge.answer(ASKED[:1]))
    assert caught.value.where == stub.url
    assert caught.value.exit_code == 1


def test_a_refused_text_is_a_failure_of_that_question_alone(stub: Any) -> None:
    stub.respond = lambda number, body: (400, "content filter") if "2" in content(body) else (200, "fine")
    opinions = dict(EndpointJudge("tiny", stub.url).answer(ASKED))
    assert "content filter" in opinions[2].failure
    assert opinions[2].text == ""
    assert all(opinions[n].text == "fine" for n in (0, 1, 3, 4, 5))


def test_an_empty_answer_is_a_failure(stub: Any) -> None:
    stub.respond = lambda number, body: (200, "")
    assert "empty" in dict(EndpointJudge("tiny", stub.url).answer(ASKED[:1]))[0].failure


def test_no_more_than_the_asked_requests_are_under_way_at_once(stub: Any) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def respond(number: int, body: dict[str, Any]) -> tuple[int, str]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.1)
        with lock:
            now -= 1
        return 200, "fine"

    stub.respond = respond
    list(EndpointJudge("tiny", stub.url, concurrency=2).answer(ASKED))
    assert most == 2


def test_the_rate_limit_spaces_requests(stub: Any) -> None:
    stub.respond = lambda number, body: (200, "fine")
    begun = time.monotonic()
    list(EndpointJudge("tiny", stub.url, requests_per_minute=600.0).answer(ASKED[:4]))
    assert time.monotonic() - begun >= 0.3


def test_a_missing_key_is_an_error_unless_the_endpoint_is_ones_own(
    stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with pytest.raises(InputError, match="JUDGE_KEY is not set"):
        EndpointJudge("tiny", key_variable="JUDGE_KEY").client()
    EndpointJudge("tiny", stub.url, key_variable="JUDGE_KEY").client()


def test_a_missing_client_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(InputError, match=r"vlm-probekit\[judge\]"):
        EndpointJudge("tiny", "http://127.0.0.1:9/v1").client()


@pytest.mark.parametrize(
    "settings", [{"concurrency": 0}, {"retries": -1}, {"timeout": 0.0}, {"requests_per_minute": 0.0}]
)
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        EndpointJudge("tiny", **settings)


KILLED = """
import sys
from pathlib import Path
from probekit.judges.base import Question
from probekit.judges.cache import CachedJudge
from probekit.judges.endpoint import EndpointJudge
questions = [Question("echo", f"question {n}") for n in range(6)]
with CachedJudge(EndpointJudge("tiny", sys.argv[1], concurrency=1), Path(sys.argv[2])) as judge:
    list(judge.answer(questions))
"""


def test_killed_and_run_again_nothing_answered_is_asked_twice(stub: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    release = threading.Event()

    def respond(number: int, body: dict[str, Any]) -> tuple[int, str]:
        if number == 4:
            release.wait(30)
        return 200, content(body).upper()

    stub.respond = respond
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, stub.url, str(path)], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    deadline = time.monotonic() + 60
    while len(stub.bodies) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(stub.bodies) == 4
    release.set()

    with CachedJudge(EndpointJudge("tiny", stub.url, concurrency=1), path) as judge:
        assert len(judge.missing(ASKED)) == 3
        answers = {position: opinion.text for position, opinion in judge.answer(ASKED)}
    assert answers == {n: f"QUESTION {n}" for n in range(6)}
    # Three were answered before the kill; the fourth never was, so it alone is asked again.
    contents = [content(body) for body in stub.bodies]
    assert [contents.count(f"question {n}") for n in range(6)] == [1, 1, 1, 2, 1, 1]
