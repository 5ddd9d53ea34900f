"""The server's limits, and what becomes of clients that are slow, silent or gone."""

from __future__ import annotations

import inspect
import itertools
import json
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import anyio
import pytest

import longcoref
from longcoref.cancellation import cancellable
from longcoref.cli import main
from longcoref.cli.serve import serve
from longcoref.errors import UsageError
from longcoref.reading import Reading
from longcoref.resolver import Resolver
from longcoref.result import Result
from longcoref.server import answers, connections, gate
from longcoref.server.app import build_app
from longcoref.server.asgi import Receive, Scope, Send
from longcoref.server.gate import Budget
from longcoref.server.limits import Limits
from longcoref.server.running import listen
from serving import (
    JSON,
    LONG,
    SECONDS,
    TEXT,
    URL,
    client_of,
    connect,
    held_resolver,
    lines_of,
    metric,
    raw_request,
    received,
    running,
    serving,
    visiting,
)  # fmt: skip

SHORT = raw_request(json.dumps({"text": TEXT}).encode(), more=["Connection: close"])
DOCUMENTATION = Path(__file__).parent.parent / "docs" / "server.md"


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of some sentences is read in many pieces, and connections are looked at often."""
    monkeypatch.setattr(answers, "_PIECE", 200)
    monkeypatch.setattr(connections, "_TICK", 0.01)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return longcoref.load(threads=1)


# Limits


@pytest.mark.parametrize("chunked", [False, True])
def test_a_text_that_is_too_large_is_refused(resolver: Resolver, chunked: bool) -> None:
    with visiting(resolver, max_bytes=1000) as client:
        for size, status in ((900, 200), (1100, 413), (9000, 413)):
            body = json.dumps({"text": "x " * (size // 2)}).encode()
            content = iter([body[:500], body[500:]]) if chunked else body
            answer = client.post(URL, content=content, headers=JSON)
            assert answer.status_code == status
        assert "1000 bytes" in answer.json()["detail"]
        assert metric(client, "longcoref_requests_total", status="413") == 2


def test_the_default_limit_holds_a_long_novel() -> None:
    # David Copperfield has 2.0 million bytes; in JSON, quotation marks and line ends take two.
    assert Limits().max_bytes >= 2 * 2_000_000


def test_options_and_documentation_have_the_defaults() -> None:
    parameters = inspect.signature(serve).parameters
    documented = {
        name.replace("-", "_"): float(value.replace(",", ""))
        for name, value in re.findall(r"^\| `--([a-z-]+)` \| ([\d,.]+)", DOCUMENTATION.read_text("utf-8"), re.MULTILINE)
    }
    fixed = ("header_seconds", "upload_seconds", "stall_seconds")
    options = {found.name: found.default for found in fields(Limits) if found.name not in fixed}
    assert options == {name: parameters[name].default for name in options}
    assert options == documented
    for name in fixed:
        assert f"| {getattr(Limits(), name):g} seconds |" in DOCUMENTATION.read_text("utf-8")


def test_time_runs_out(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count()
    monkeypatch.setattr(answers, "monotonic", lambda: 3600 * next(hours))
    with visiting(resolver) as client:
        answer = client.post(URL, json={"text": TEXT})
        assert answer.status_code == 503
        assert "not resolved within" in answer.json()["detail"]
        assert lines_of(client.post(URL, json={"text": TEXT, "stream": True}).text)[-1]["error"]["status"] == 503
        assert metric(client, "longcoref_stopped_total", reason="time") == 2


def test_requests_beyond_the_queue_are_refused(resolver: Resolver) -> None:
    encoder, slow = held_resolver(resolver)
    with visiting(slow, at_once=1, queue=1) as client, ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.post, URL, json={"text": TEXT})
        assert encoder.begun.wait(SECONDS)
        second = pool.submit(client.post, URL, json={"text": LONG})
        while metric(client, "longcoref_inside") < 2:
            pass
        third = client.post(URL, json={"text": TEXT})
        assert third.status_code == 503
        assert int(third.headers["retry-after"]) > 0
        assert client.get("/health").status_code == 200
        assert metric(client, "longcoref_reading") == 1
        encoder.free.set()
        assert first.result().json() == resolver(TEXT).as_json()
        assert second.result().json() == resolver(LONG).as_json()
        assert client.post(URL, json={"text": TEXT}).status_code == 200
        assert metric(client, "longcoref_inside") == 0


# Clients that disconnect, or are slow


@dataclass
class Visit:
    """A request without a network: what the client sends, whether it reads, and when it disconnects."""

    app: Any
    body: bytes
    left: anyio.Event = field(default_factory=anyio.Event)
    reads: anyio.Event = field(default_factory=anyio.Event)
    blocked: anyio.Event = field(default_factory=anyio.Event)
    sent: list[dict[str, Any]] = field(default_factory=list)
    uploaded: bool = True

    @property
    def answer(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def run(self) -> None:
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        scope = {"type": "http", "method": "POST", "path": URL, "raw_path": URL.encode(), "query_string": b"",
                 "headers": headers, "http_version": "1.1", "scheme": "http", "server": ("test", 80),
                 "client": ("test", 1), "root_path": "", "asgi": {"version": "3.0", "spec_version": "2.3"}}  # fmt: skip
        body: list[bytes] = [self.body]

        async def receive() -> dict[str, Any]:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": not self.uploaded}
            await self.left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body":
                self.blocked.set()
                await self.reads.wait()
            self.sent.append(message)

        await self.app(scope, receive, send)


def request(text: str, **more: Any) -> bytes:
    return json.dumps({"text": text, **more}).encode()


def run(function: Callable[[], Any]) -> None:
    """Runs a coroutine that must not wait forever."""

    async def bounded() -> None:
        with anyio.fail_after(SECONDS):
            await function()

    anyio.run(bounded)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_disconnects_cancels_its_request(resolver: Resolver, stream: bool) -> None:
    encoder, slow = held_resolver(resolver)
    app = build_app(slow, Limits(at_once=1, queue=1))

    async def leave() -> None:
        visit, waiting = Visit(app, request(LONG, stream=stream)), Visit(app, request(LONG))
        visit.reads.set()
        async with anyio.create_task_group() as group:
            group.start_soon(visit.run)
            await anyio.to_thread.run_sync(encoder.begun.wait)
            group.start_soon(waiting.run)
            await anyio.wait_all_tasks_blocked()
            waiting.left.set()  # one leaves the queue, the other while a thread is busy with its first piece
            visit.left.set()
        assert not waiting.sent
        assert not any(message.get("more_body") is False for message in visit.sent)
        encoder.free.set()

    run(leave)
    with client_of(app) as client:
        assert metric(client, "longcoref_stopped_total", reason="client") == 2
        assert metric(client, "longcoref_inside") == metric(client, "longcoref_reading") == 0
        assert encoder.count == 1  # the piece under way, and no more
        assert metric(client, "longcoref_characters_total") < len(LONG) / 2
        encoder.count = 0
        client.post(URL, json={"text": 2 * LONG})
        assert encoder.count > 3


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_does_not_read_keeps_nobody_waiting(
    resolver: Resolver, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "_PATIENCE_SECONDS", 0.0)
    app = build_app(resolver, Limits(at_once=1, queue=0))

    async def stall() -> None:
        slow, other = Visit(app, request(LONG, stream=stream)), Visit(app, request(TEXT))
        other.reads.set()
        async with anyio.create_task_group() as group:
            group.start_soon(slow.run)
            await slow.blocked.wait()
            await anyio.wait_all_tasks_blocked()
            await other.run()
            assert other.sent[0]["status"] == 200
            assert json.loads(other.answer) == resolver(TEXT).as_json()
            if stream:  # its place was needed
                assert not slow.answer
            else:
                slow.reads.set()
        if not stream:
            assert json.loads(slow.answer) == resolver(LONG).as_json()

    run(stall)


def test_a_stream_goes_on_when_its_client_reads_again(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_PATIENCE_SECONDS", 0.0)
    app = build_app(resolver, Limits(at_once=1, queue=1))

    async def pause() -> None:
        slow, other = Visit(app, request(LONG, stream=True)), Visit(app, request(TEXT))
        other.reads.set()
        async with anyio.create_task_group() as group:
            group.start_soon(slow.run)
            await slow.blocked.wait()
            await anyio.wait_all_tasks_blocked()
            await other.run()
            slow.reads.set()
        assert lines_of(slow.answer.decode())[-1] == {"result": resolver(LONG).as_json()}

    run(pause)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Post-processing of `LONG` never ends by itself; gives when it has begun, and when it was stopped."""
    begun, stopped = threading.Event(), threading.Event()
    finish = Reading.finish

    def finish_or_not(reading: Reading, *, id: str = "") -> Result:
        if id == "endless":
            try:
                for _ in cancellable(itertools.count()):
                    begun.set()
            finally:
                stopped.set()
        return finish(reading, id=id)

    monkeypatch.setattr(Reading, "finish", finish_or_not)
    return begun, stopped


def test_post_processing_obeys_the_deadline(
    resolver: Resolver, endless: tuple[threading.Event, threading.Event]
) -> None:
    with visiting(resolver, max_seconds=2) as client:
        answer = client.post(URL, json={"text": "She.", "id": "endless"})
        assert answer.status_code == 503
        assert "not resolved within 2 seconds" in answer.json()["detail"]
        assert endless[1].is_set()


def test_post_processing_stops_when_the_client_disconnects_and_lets_others_work(
    resolver: Resolver, endless: tuple[threading.Event, threading.Event]
) -> None:
    app = build_app(resolver, Limits(at_once=3, queue=0))

    async def leave() -> None:
        visits = [Visit(app, request("She.", id="endless")) for _ in range(2)]
        async with anyio.create_task_group() as group:
            for visit in visits:
                group.start_soon(visit.run)
            await anyio.to_thread.run_sync(endless[0].wait)
            other = Visit(app, request(TEXT))
            other.reads.set()
            await other.run()
            assert other.sent[0]["status"] == 200
            assert not endless[1].is_set()
            for visit in visits:
                visit.left.set()
        await anyio.to_thread.run_sync(endless[1].wait)
        assert not any(visit.sent for visit in visits)

    run(leave)


def test_a_short_text_does_not_wait_for_long_ones(
    resolver: Resolver, endless: tuple[threading.Event, threading.Event]
) -> None:
    app = build_app(resolver, Limits(at_once=2, queue=9))

    async def wait() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                novel = "She." + " " * gate._SHORT_BYTES
                group.start_soon(Visit(app, request(novel, id="endless")).run)
            await anyio.to_thread.run_sync(endless[0].wait)
            await anyio.wait_all_tasks_blocked()
            short = Visit(app, request(TEXT))
            short.reads.set()
            await short.run()
            assert json.loads(short.answer) == resolver(TEXT).as_json()
            group.cancel_scope.cancel()

    run(wait)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_long_texts_leave_turns_to_short_ones_and_get_some(count: int) -> None:
    async def take() -> None:
        turns = gate.Turns(count)
        taken = {True: 0, False: 0}

        async def acquire(is_short: bool) -> None:
            await turns.acquire(is_short=is_short)
            taken[is_short] += 1

        async with anyio.create_task_group() as group:
            for is_short in (False, True):
                for _ in range(count + 1):
                    group.start_soon(acquire, is_short)
                await anyio.wait_all_tasks_blocked()
            assert taken[False] >= 1
            assert taken[True] >= 1 or count == 1
            assert sum(taken.values()) == count
            group.cancel_scope.cancel()
        for is_short, number in taken.items():
            for _ in range(number):
                turns.release(is_short=is_short)
        with anyio.fail_after(SECONDS):  # cancelled waiters have kept nothing
            for _ in range(max(1, count - max(1, count // 4))):
                await turns.acquire(is_short=False)

    anyio.run(take)


def test_the_system_keeps_little_for_clients_that_do_not_read() -> None:
    with listen("127.0.0.1", 0) as listening, connect(listening.getsockname()[1]):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 1 << 19  # Linux counts twice


def test_clients_that_upload_take_no_place(resolver: Resolver) -> None:
    app = build_app(resolver, Limits(at_once=1, queue=0))

    async def upload() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(Visit(app, b"{", uploaded=False).run)
            await anyio.wait_all_tasks_blocked()
            other = Visit(app, request(TEXT))
            other.reads.set()
            await other.run()
            assert other.sent[0]["status"] == 200
            group.cancel_scope.cancel()

    run(upload)


def test_an_upload_that_does_not_go_on_is_given_up(resolver: Resolver) -> None:
    app = build_app(resolver, Limits(upload_seconds=0.01))

    async def upload() -> None:
        visit = Visit(app, b"{", uploaded=False)
        visit.reads.set()
        await visit.run()
        assert visit.sent[0]["status"] == 408

    run(upload)


def test_the_largest_upload_gives_way_when_all_together_are_too_large(resolver: Resolver) -> None:
    limits = Limits(max_bytes=1000)
    app = build_app(resolver, limits)

    async def upload() -> None:
        visits = [Visit(app, b" " * 900, uploaded=False) for _ in range(limits.held_bytes // 900)]
        largest = Visit(app, b" " * 990, uploaded=False)
        largest.reads.set()
        async with anyio.create_task_group() as group:
            for visit in visits:
                group.start_soon(visit.run)
            await anyio.wait_all_tasks_blocked()
            await largest.run()
            assert largest.sent[0]["status"] == 503
            assert not any(visit.sent for visit in visits)
            other = Visit(app, request(TEXT))
            other.reads.set()
            await other.run()
            assert other.sent[0]["status"] == 200
            group.cancel_scope.cancel()

    run(upload)


def test_a_single_client_may_hold_more_than_the_budget() -> None:
    async def hold() -> None:
        budget, scope = Budget(10), anyio.CancelScope()
        budget.hold(scope, 1000)
        assert not scope.cancel_called

    run(hold)


# Connections


def test_headers_must_arrive_in_time(resolver: Resolver) -> None:
    limits = Limits(header_seconds=0.5)
    with serving(build_app(resolver, limits), limits) as port:
        assert received(connect(port)) == b""
        assert received(connect(port, SHORT[:30])) == b""
        # A second request on the same connection, of which only a part comes.
        answer = received(connect(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + SHORT[:30]))
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.count(b"HTTP/1.1") == 1


def test_a_new_client_takes_the_place_of_a_silent_one(resolver: Resolver) -> None:
    limits = Limits(at_once=1, queue=0, connections=70)
    encoder, slow = held_resolver(resolver)
    with serving(build_app(slow, limits), limits) as port, ExitStack() as stack:
        busy = stack.enter_context(connect(port, SHORT))
        assert encoder.begun.wait(SECONDS)
        uploading = stack.enter_context(connect(port, raw_request(b"{", length=1000)))
        health = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert received(connect(port, health)).startswith(b"HTTP/1.1 200")  # so the upload before it has begun
        silent = [stack.enter_context(connect(port)) for _ in range(90)]
        for connection in silent[:22]:
            assert received(connection) == b""
        assert received(connect(port, health)).startswith(b"HTTP/1.1 200")
        encoder.free.set()
        assert received(busy).startswith(b"HTTP/1.1 200")
        uploading.sendall(b" " * 999)
        assert uploading.recv(12) == b"HTTP/1.1 400"


def test_a_client_that_does_not_read_is_disconnected() -> None:
    size = 50_000_000

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for more in (True, False):
                await send({"type": "http.response.body", "body": bytes(size // 2), "more_body": more})

    with serving(large, Limits(stall_seconds=2)) as port:
        with connect(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as fast:
            assert len(received(fast)) > size
        slow = connect(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        while _open_connections(port) > 0:
            pass
        assert 0 < len(received(slow)) < size


def _open_connections(port: int) -> int:
    """Established connections on the server's side of a port of this machine."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return sum(int(row[1].rpartition(":")[2], 16) == port and row[3] == "01" for row in rows)


def test_too_few_connections_for_the_queue_are_an_error() -> None:
    with pytest.raises(UsageError, match="expected at least 105 connections for 40 texts, got 104"):
        connections.bounded_connections(Limits(connections=104))


# The process


PASS_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_silent_connections_do_not_exhaust_the_descriptors() -> None:
    with running(prefix=["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"]) as (process, address), ExitStack() as stack:
        port = int(address.rpartition(":")[2].strip("/"))
        for _ in range(230):
            stack.enter_context(connect(port))
        assert received(connect(port, SHORT)).startswith(b"HTTP/1.1 200")
        process.terminate()
        _, said = process.communicate(timeout=SECONDS)
        assert said == ""


def test_a_signal_ends_the_server_while_a_text_is_being_read() -> None:
    with running("--grace-seconds", "0.5") as (process, address):
        asked = Request(f"{address}v1/resolve", request(LONG * 200, stream=True), JSON)
        with urlopen(asked, timeout=SECONDS) as answer:
            assert json.loads(answer.readline())["schema"] == "longcoref-stream/1"
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 128 + signal.SIGTERM
        assert "Traceback" not in said


def test_requests_under_way_are_finished_and_new_ones_wait_for_the_next_process(resolver: Resolver) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, descriptor = listening.getsockname()[1], listening.fileno()
        prefix = [sys.executable, "-c", PASS_SOCKET, str(descriptor)]
        passing: dict[str, Any] = {"prefix": prefix, "pass_fds": [descriptor]}
        with running("--grace-seconds", "60", **passing) as (first, address):
            assert address == f"http://127.0.0.1:{port}/"
            with connect(port, raw_request(request(LONG, stream=True), more=["Connection: close"])) as under_way:
                assert under_way.recv(12) == b"HTTP/1.1 200"
                first.terminate()
                assert b'"result"' in received(under_way)
            first.communicate(timeout=SECONDS)
        with connect(port, SHORT) as meanwhile, running(**passing):
            assert received(meanwhile).startswith(b"HTTP/1.1 200")


def test_an_address_in_use_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as done:
        main(["serve", "--port", str(taken.getsockname()[1])])
    assert done.value.code == 2
    assert re.fullmatch(r"longcoref: cannot listen at 127\.0\.0\.1:\d+ .*--port\n", capsys.readouterr().err)


def test_without_the_extra_the_command_says_which(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("longcoref.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(SystemExit) as done:
        main(["serve"])
    assert done.value.code == 1
    assert "pip install 'longcoref[serve]'" in capsys.readouterr().err
