"""What the tests of the server share: texts, clients, and servers to talk to."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from longcoref.resolver import Resolver
from longcoref.runtime.heads import Floats
from longcoref.runtime.model import WindowEncoder
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window
from longcoref.server.access import Access
from longcoref.server.app import build_app
from longcoref.server.asgi import Application
from longcoref.server.limits import Limits
from longcoref.server.running import listen, server_of

TEXT = (
    "“I am late,” said Anna.\r\nMrs. Hallow kept the inn at Saltby. "
    "Her husband had drowned, and she never spoke of him.\r\n🐦 Her parrot did."
)
LONG = "Nora Finch rowed to the island, and her brother waited on the pier for her until the lamp went out. " * 40
URL = "/v1/resolve"
JSON = {"Content-Type": "application/json"}
SECONDS = 60
"""How long a test waits for what must happen."""


def client_of(app: Application) -> TestClient:
    """A client without a network."""
    return TestClient(app, base_url="http://localhost")


@contextmanager
def visiting(resolver: Resolver, *, access: Access | None = None, **limits: Any) -> Iterator[TestClient]:
    """A client of an application with these limits."""
    with client_of(build_app(resolver, Limits(**limits), access)) as client:
        yield client


def metric(client: TestClient, name: str, **labels: str) -> float:
    """The sum of a metric over all series with these labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return sum(s.value for f in families for s in f.samples if s.name == name and s.labels.items() >= labels.items())


def lines_of(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@dataclass
class Held:
    """An encoder that works only when it is allowed to, and counts."""

    encoder: WindowEncoder
    begun: threading.Event = field(default_factory=threading.Event)
    free: threading.Event = field(default_factory=threading.Event)
    count: int = 0

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        self.count += 1
        self.begun.set()
        assert self.free.wait(SECONDS)
        return self.encoder.encode(ids, windows)


def held_resolver(resolver: Resolver) -> tuple[Held, Resolver]:
    """A resolver whose encoder is held."""
    encoder = Held(resolver.model.encoder)
    return encoder, Resolver(replace(resolver.model, encoder=encoder), resolver.policy)


@contextmanager
def serving(app: Application, limits: Limits) -> Iterator[int]:
    """An application behind a real socket, in a thread of this process; gives its port."""
    with listen("127.0.0.1", 0) as listening:
        port: int = listening.getsockname()[1]
        server = server_of(app, limits)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()


@contextmanager
def running(*options: str, prefix: Sequence[str] = (), **popen: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`longcoref serve` at a free port, and its address; `prefix` is a command that runs the rest of its line."""
    command = [*prefix, sys.executable, "-m", "longcoref", "serve", "--port", "0", "--threads", "1", *options]
    popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", **popen}
    with subprocess.Popen(command, **popen) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/", said)
            assert found, said + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()


def connect(port: int, sent: bytes = b"") -> socket.socket:
    """A connection on which something was sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    connection.sendall(sent)
    return connection


def raw_request(body: bytes, *, path: str = URL, length: int | None = None, more: Sequence[str] = ()) -> bytes:
    """A POST request as it goes over the wire; `length` is the one that it claims."""
    size = len(body) if length is None else length
    head = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {size}"]
    return "\r\n".join([*head, *more, "", ""]).encode() + body


def received(connection: socket.socket) -> bytes:
    """Everything that comes until the server closes the connection."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    connection.close()
    return b"".join(parts)
