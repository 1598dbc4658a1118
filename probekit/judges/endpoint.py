"""A model behind an OpenAI-compatible endpoint, asked through the maintained client."""

from __future__ import annotations

import logging
import math
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from probekit.errors import InputError, ProbekitError
from probekit.judges.base import Opinion, Question
from probekit.judges.pictures import LONGEST_SIDE

INSTALL = 'Install it with: pip install "vlm-probekit[judge]"'


class EndpointError(ProbekitError):
    """The endpoint refused, or did not answer after all retries. Answers already given are in the cache."""


_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+")


def without_pictures(text: str) -> str:
    """A message with every picture in it, sent or echoed, taken out."""
    return _DATA_URL.sub("[picture]", text)


def _redact(record: logging.LogRecord) -> bool:
    # Some versions of the client write whole requests at their debug level.
    if _DATA_URL.search(text := record.getMessage()):
        record.msg, record.args = without_pictures(text), ()
    return True


class _Pace:
    """Spaces out the starts of requests, over all threads."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Sleep until this request's turn."""
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        time.sleep(turn - now)


@dataclass(frozen=True)
class EndpointJudge:
    """Asks a chat model, at temperature 0 unless told otherwise.

    A question with pictures is sent as content parts, each picture a ``data:`` URL of the file as it is, or
    scaled down when a side is longer than ``longest_side``; it must be a model that takes pictures. No
    picture is ever written to a log, an error or the cache. A question without pictures is plain text.

    The key is read from the environment and goes nowhere but to the endpoint. Throttling (429), server
    errors and timeouts are retried by the client with exponential backoff, honouring ``Retry-After``.

    Attributes:
        model: the model's name at the endpoint.
        base_url: the endpoint, such as ``http://localhost:8000/v1``; ``None`` for the client's default.
        key_variable: environment variable that holds the key; may be unset for an endpoint of your own.
        concurrency: requests under way at once.
        retries: attempts after the first.
        timeout: seconds for one attempt.
        requests_per_minute: limit on new requests; ``None`` for none.
        max_tokens: limit on one answer.
        temperature: 0 for the likeliest answer; above it, answers are drawn.
        longest_side: of a picture that is sent, in pixels.
    """

    model: str
    base_url: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    concurrency: int = 8
    retries: int = 6
    timeout: float = 120.0
    requests_per_minute: float | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    longest_side: int = LONGEST_SIDE
    _pace: _Pace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.retries < 0 or not self.timeout > 0 or self.max_tokens < 1:
            raise InputError("concurrency, timeout and max tokens must be positive, retries not negative")
        if self.requests_per_minute is not None and not 0 < self.requests_per_minute < math.inf:
            raise InputError("requests per minute must be positive")
        if not 0 <= self.temperature < math.inf or self.longest_side < 1:
            raise InputError("the temperature must not be negative, and the longest side positive")
        object.__setattr__(self, "_pace", _Pace(self.requests_per_minute))

    @property
    def identity(self) -> Mapping[str, str]:
        """Model and settings; not the endpoint's address, so that a moved server keeps its cache."""
        found = {"judge": "endpoint", "model": self.model, "temperature": f"{self.temperature:g}"}
        # Told only when it is not the usual one: answers that were paid for before keep their keys.
        if self.longest_side != LONGEST_SIDE:
            found["longest_side"] = str(self.longest_side)
        return found

    def client(self) -> Any:
        """A client of the endpoint.

        Raises:
            InputError: the client is not installed, or the key's variable is not set.
        """
        try:
            import openai
        except ImportError:
            raise InputError("the package openai is needed for this judge", hint=INSTALL) from None
        key = os.environ.get(self.key_variable)
        if not key and self.base_url is None:
            raise InputError(
                f"the environment variable {self.key_variable} is not set",
                hint=f"export {self.key_variable}=... or give --base-url of an endpoint that needs no key.",
            )
        logging.getLogger("openai._base_client").addFilter(_redact)
        return openai.OpenAI(
            api_key=key or "none", base_url=self.base_url, timeout=self.timeout, max_retries=self.retries
        )

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Yield answers as they arrive.

        Raises:
            EndpointError: the endpoint keeps failing; requests not yet begun are dropped.
        """
        client = self.client()
        left = iter(enumerate(questions))
        with ThreadPoolExecutor(max_workers=self.concurrency) as pool:
            under_way: dict[Future[Opinion], int] = {
                pool.submit(self._ask, client, question): position
                for position, question in islice(left, self.concurrency)
            }
            try:
                while under_way:
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        # The next request begins when this answer has been taken, and so saved.
                        yield under_way.pop(future), future.result()
                        for position, question in islice(left, 1):
                            under_way[pool.submit(self._ask, client, question)] = position
            finally:
                for future in under_way:
                    future.cancel()
                client.close()

    def _content(self, question: Question) -> str | list[dict[str, Any]]:
        if not question.pictures:
            return question.content
        shown = [
            {"type": "image_url", "image_url": {"url": picture.data_url(self.longest_side)}}
            for picture in question.pictures
        ]
        return [*shown, {"type": "text", "text": question.content}]

    def _ask(self, client: Any, question: Question) -> Opinion:
        import openai

        self._pace.wait()
        try:
            reply: Any = client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": self._content(question)}],
                temperature=self.temperature,
                max_tokens=self.max_tokens,
            )
        except openai.BadRequestError as error:
            # A content filter refuses one text, not the whole run.
            return Opinion("", f"refused by the endpoint: {without_pictures(error.message)}")
        except openai.OpenAIError as error:
            raise EndpointError(
                f"the endpoint failed on a {question.kind} question: {without_pictures(str(error))}",
                where=self.base_url or "default endpoint",
                hint="Check the address, the model's name and the key; answers given so far are kept.",
            ) from None
        choices = reply.choices or []
        text = choices[0].message.content if choices else None
        return Opinion(text) if text else Opinion("", "the endpoint sent an empty answer")
