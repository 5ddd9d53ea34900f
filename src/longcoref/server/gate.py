"""Who is let in to have a text read, and what becomes of those who leave.

A request is let in while there is room, uploads its text, waits for its turn, and is answered. If its client goes away
meanwhile, all work for it is cancelled: reading stops after the piece that a thread is busy with.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import anyio
from starlette.responses import JSONResponse

from longcoref.server.limits import Limits
from longcoref.server.metrics import Metrics

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_DISCARDED = 4
"""So many times the greatest size is received and thrown away, for a client that is refused while it sends hears no
reason; after that the connection is cut."""

_DELIVERY_SECONDS = 60.0
"""For a client to take its answer, beyond the time that reading may take."""


class _LeftError(Exception):
    """The client went away before its text was here."""


class Gate:
    """An ASGI application around another: it guards `path`, and lets everything else through."""

    def __init__(self, app: Application, *, path: str, limits: Limits, metrics: Metrics) -> None:
        self._app, self._path, self._limits, self._metrics = app, path, limits, metrics
        self._inside = 0
        self._turns = anyio.Semaphore(limits.at_once)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", self._path):
            await self._app(scope, receive, send)
            return
        if not _is_json(scope):
            message = "expected JSON: send the header Content-Type: application/json"
            await self._refuse(415, message, scope, receive, send)
            return
        if self._inside >= self._limits.admitted:
            await self._refuse(503, "the server is busy and its queue is full: try again later", scope, receive, send)
            return
        self._inside += 1
        self._metrics.inside.inc()
        try:
            with self._metrics.seconds.time(), suppress(_LeftError):
                await self._serve(scope, receive, send)
        finally:
            self._inside -= 1
            self._metrics.inside.dec()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.fail_after(self._limits.upload_seconds):
                body = await self._upload(receive)
        except TimeoutError:
            message = f"the text did not arrive within {self._limits.upload_seconds:g} seconds"
            await self._refuse(408, message, scope, receive, send)
            return
        if body is None:
            message = (
                f"a request may have {self._limits.max_bytes} bytes: send the text in parts, or run your own server"
            )
            await self._refuse(413, message, scope, receive, send)
            return
        watched = _Watched(body, receive, send)
        async with anyio.create_task_group() as group:

            async def stop_when_gone() -> None:
                await watched.gone()
                if not watched.complete:
                    self._metrics.stopped.labels("client").inc()
                    group.cancel_scope.cancel()

            group.cancel_scope.deadline = anyio.current_time() + self._limits.max_seconds + _DELIVERY_SECONDS
            group.start_soon(stop_when_gone)
            with anyio.move_on_after(self._limits.max_seconds) as waiting:
                await self._turns.acquire()
            if waiting.cancelled_caught:
                message = f"the queue did not move within {self._limits.max_seconds:g} seconds: try again later"
                await self._refuse(503, message, scope, receive, watched.send)
            else:
                try:
                    with self._metrics.reading.track_inprogress():
                        await self._app(scope, watched.receive, watched.send)
                except Exception:  # a mistake of ours, for which a layer further out answers
                    watched.status = 500
                    raise
                finally:
                    self._turns.release()
                    if watched.status is not None:
                        self._metrics.requests.labels(str(watched.status)).inc()
            group.cancel_scope.cancel()

    async def _upload(self, receive: Receive) -> bytes | None:
        """The body of a request; None if it is too large."""
        parts: list[bytes] = []
        size = 0
        while size <= _DISCARDED * self._limits.max_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _LeftError
            part = message.get("body", b"")
            size += len(part)
            if size <= self._limits.max_bytes:
                parts.append(part)
            else:
                parts.clear()
            if not message.get("more_body", False):
                break
        return b"".join(parts) if size <= self._limits.max_bytes else None

    async def _refuse(self, status: int, message: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._metrics.requests.labels(str(status)).inc()
        headers = {"Retry-After": "5"} if status == 503 else None
        await JSONResponse({"detail": message}, status, headers)(scope, receive, send)


def _is_json(scope: Scope) -> bool:
    """Whether a request says that it is JSON; a page of another site cannot make a browser say so."""
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    return len(kinds) == 1 and kinds[0].partition(b";")[0].strip().lower() == b"application/json"


class _Watched:
    """The two ends of a connection whose body was received already; knows how far the answer is."""

    def __init__(self, body: bytes, receive: Receive, send: Send) -> None:
        self._body: bytes | None = body
        self._receive, self._send = receive, send
        self._left = anyio.Event()
        self.status: int | None = None
        self.complete = False

    async def receive(self) -> Message:
        """The body, and after it nothing until the client leaves."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Passes a part of the answer on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        self.complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def gone(self) -> None:
        """Waits until the client has left, or has its answer."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._left.set()
