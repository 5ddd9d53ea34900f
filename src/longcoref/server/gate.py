"""Which requests are resolved, and when.

A request is uploaded first, and admitted once its body is complete: clients that are slow to send take nobody's place.
It then waits for its turn, and gives it up before the response is sent; a client that is slow to read a stream lends
its turn to others meanwhile. Some turns are only for short texts. When a client disconnects, its request is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import anyio

from longcoref.server.asgi import Application, Message, Receive, Scope, Send, header, refusal
from longcoref.server.limits import Limits
from longcoref.server.metrics import Metrics

PLACE = "longcoref.place"
"""The key of the scope under which the application finds its `Place`."""

_DISCARDED = 4
"""Up to this many times the largest size is received and thrown away, because a client that is refused while it sends
does not see the reason; after that the connection is closed."""

_SHORT_BYTES = 20_000
"""The longest body of a request that need not wait for long texts."""

_PATIENCE_SECONDS = 1.0
"""A client that takes longer to read a part of its response lends its turn."""

_PART = 65_536
"""Bytes of a response that are sent at a time."""


class _DisconnectedError(Exception):
    """The client disconnected before its request was complete."""


@dataclass(eq=False)
class _Refused(Exception):  # noqa: N818 - an outcome
    status: int
    detail: str


class Budget:
    """The bytes that clients occupy by being slow; beyond `limit`, the one that occupies the most is cancelled."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[anyio.CancelScope, int] = {}

    def hold(self, scope: anyio.CancelScope, size: int) -> None:
        """Sets the number of bytes that the client of a scope occupies now."""
        self._held[scope] = size
        while len(self._held) > 1 and sum(self._held.values()) > self._limit:
            largest = max(self._held, key=self._held.__getitem__)
            self.release(largest)
            largest.cancel()

    def release(self, scope: anyio.CancelScope) -> None:
        """Forgets a client."""
        self._held.pop(scope, None)


class Turns:
    """The texts that are resolved at once. A quarter of the turns, or one if there are fewer, is for short texts only,
    so that they need not wait for novels, whether anybody reads the responses or not.
    """

    def __init__(self, count: int) -> None:
        self._all = anyio.Semaphore(count)
        self._long = anyio.Semaphore(max(1, count - max(1, count // 4)))

    async def acquire(self, *, is_short: bool) -> None:
        """Waits for a turn, behind all that are waiting for one of this kind."""
        if is_short:
            await self._all.acquire()
            return
        await self._long.acquire()
        try:
            await self._all.acquire()
        except BaseException:  # cancelled
            self._long.release()
            raise

    def release(self, *, is_short: bool) -> None:
        """Gives a turn back."""
        self._all.release()
        if not is_short:
            self._long.release()


@dataclass(eq=False)
class Place:
    """The place of an admitted request, with or without the turn to be resolved."""

    _turns: Turns
    _metrics: Metrics
    _is_short: bool
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stalled_at: float | None = None
    _has_turn: bool = False

    async def take_turn(self) -> None:
        """Waits until the text may be resolved, or go on being resolved."""
        if not self._has_turn:
            await self._turns.acquire(is_short=self._is_short)
            self._has_turn = True
            self._metrics.reading.inc()

    def give_turn(self) -> None:
        """Lets another text be resolved."""
        if self._has_turn:
            self._turns.release(is_short=self._is_short)
            self._has_turn = False
            self._metrics.reading.dec()


class Gate:
    """An ASGI application around another: it guards some paths, and passes all other requests on."""

    def __init__(self, app: Application, *, paths: Collection[str], limits: Limits, metrics: Metrics) -> None:
        self._app, self._paths, self._limits, self._metrics = app, paths, limits, metrics
        self._places: set[Place] = set()
        self._turns = Turns(limits.at_once)
        self._uploads, self._responses = Budget(limits.held_bytes), Budget(limits.held_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        try:
            if not _is_json(scope):
                raise _Refused(415, "expected JSON: send the header Content-Type: application/json")
            body = await self._upload(receive)
            place = self._admit(len(body))
        except _DisconnectedError:
            return
        except _Refused as refused:
            await self._refuse(refused, scope, receive, send)
            return
        try:
            with self._metrics.seconds.time():
                await self._serve(place, body, scope, receive, send)
        finally:
            self._leave(place)

    async def _upload(self, receive: Receive) -> bytes:
        """The body of a request."""
        deadline = anyio.current_time() + self._limits.upload_seconds
        with anyio.CancelScope(deadline=deadline) as scope:
            try:
                return await self._received(receive, scope)
            finally:
                self._uploads.release(scope)
        if anyio.current_time() >= deadline:
            raise _Refused(408, f"the request did not arrive within {self._limits.upload_seconds:g} seconds")
        raise _Refused(503, "too much is being uploaded at once: try again later")

    async def _received(self, receive: Receive, scope: anyio.CancelScope) -> bytes:
        limit = self._limits.max_bytes
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= _DISCARDED * limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _DisconnectedError
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > limit:
                parts.clear()
            self._uploads.hold(scope, size if parts else 0)
        if size > limit:
            raise _Refused(
                413, f"a request may have at most {limit} bytes: send the text in parts, or run your own server"
            )
        return b"".join(parts)

    def _admit(self, size: int) -> Place:
        """A place, if necessary that of the client that has kept the server waiting the longest."""
        if len(self._places) >= self._limits.admitted:
            stalled = [(place.stalled_at, place) for place in self._places if place.stalled_at is not None]
            if not stalled:
                raise _Refused(503, "the server is busy and its queue is full: try again later")
            _, longest = min(stalled, key=lambda pair: pair[0])
            self._metrics.stopped.labels("slow").inc()
            self._leave(longest)
            longest.scope.cancel()
        place = Place(self._turns, self._metrics, size <= _SHORT_BYTES)
        self._places.add(place)
        self._metrics.inside.inc()
        return place

    def _leave(self, place: Place) -> None:
        place.give_turn()
        if place in self._places:
            self._places.remove(place)
            self._metrics.inside.dec()

    async def _serve(self, place: Place, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(body, receive, send, place, self._responses, leave=lambda: self._leave(place))
        with place.scope:
            async with anyio.create_task_group() as group:

                async def stop_when_disconnected() -> None:
                    await exchange.disconnected()
                    if not exchange.is_complete:
                        self._metrics.stopped.labels("client").inc()
                        place.scope.cancel()

                group.start_soon(stop_when_disconnected)
                try:
                    await self._turn(place)
                    await self._app({**scope, PLACE: place}, exchange.receive, exchange.send)
                except _Refused as refused:
                    await self._refuse(refused, scope, receive, exchange.send)
                else:
                    self._metrics.requests.labels(str(exchange.status)).inc()
                group.cancel_scope.cancel()

    async def _turn(self, place: Place) -> None:
        try:
            with anyio.fail_after(self._limits.max_seconds):
                await place.take_turn()
        except TimeoutError as error:
            detail = f"the text was still in the queue after {self._limits.max_seconds:g} seconds: try again later"
            raise _Refused(503, detail) from error

    async def _refuse(self, refused: _Refused, scope: Scope, receive: Receive, send: Send) -> None:
        self._metrics.requests.labels(str(refused.status)).inc()
        headers = {"Retry-After": "5"} if refused.status == 503 else None
        await refusal(refused.status, refused.detail, headers)(scope, receive, send)


def _is_json(scope: Scope) -> bool:
    """Whether a request says that it is JSON; a page of another site cannot make a browser say so."""
    types = header(scope, b"content-type")
    return len(types) == 1 and types[0].partition(b";")[0].strip().lower() == b"application/json"


class _Exchange:
    """A request whose body was received, and its response, which is sent in parts."""

    def __init__(
        self, body: bytes, receive: Receive, send: Send, place: Place, budget: Budget, *, leave: Callable[[], None]
    ) -> None:
        self._body: bytes | None = body
        self._receive, self._send = receive, send
        self._place, self._budget, self._leave = place, budget, leave
        self._left = anyio.Event()
        self.status: int | None = None
        self.is_complete = False

    async def receive(self) -> Message:
        """The body, and after it nothing until the client disconnects."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Sends a part of the response; the last one is sent after the place was given up."""
        if message["type"] != "http.response.body":
            self.status = message["status"]
            await self._send(message)
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if not more:
            self._leave()
        try:
            for start in range(0, len(body) or 1, _PART):
                self._budget.hold(self._place.scope, len(body) - start)
                end = start + _PART
                self.is_complete = not more and end >= len(body)
                part = {"type": message["type"], "body": body[start:end], "more_body": not self.is_complete}
                await self._sent(part)
        finally:
            self._budget.release(self._place.scope)

    async def _sent(self, message: Message) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._lend_turn)
            await self._send(message)
            group.cancel_scope.cancel()
        self._place.stalled_at = None

    async def _lend_turn(self) -> None:
        await anyio.sleep(_PATIENCE_SECONDS)
        self._place.stalled_at = anyio.current_time()
        self._place.give_turn()

    async def disconnected(self) -> None:
        """Waits until the client has disconnected, or has its response."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._left.set()
