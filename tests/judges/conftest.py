"""A stub of an OpenAI-compatible endpoint on the loopback interface, and a judge that follows a script."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Stub(ThreadingHTTPServer):
    """Counts requests and answers with ``respond(number, body) -> (status, text or None)``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers_seen: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.respond: Callable[[int, dict[str, Any]], tuple[int, str]] = lambda number, body: (200, "[]")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.paths.append(self.path)
            self.server.headers_seen.append({k.lower(): v for k, v in self.headers.items()})
            number = len(self.server.bodies)
        status, text = self.server.respond(number, body)
        if status == 200:
            message = {"role": "assistant", "content": text}
            reply: dict[str, Any] = {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
        else:
            reply = {"error": {"message": text, "type": "stub"}}
        data = json.dumps(reply).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", "0.01")
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the client was killed

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Stub]:
    server = Stub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
