"""The connections of the server: how long it waits for a client, and for how many.

The server is waiting for a client that has not sent its request completely, or does not read its response. It waits for
a bounded time, and when too many connections are open, the one that it has been waiting for the longest is closed: a
client that sends its request at once is always served, however many silent ones there are.
"""

from __future__ import annotations

import asyncio
import sys

from uvicorn.protocols.http.h11_impl import H11Protocol

from longcoref.errors import UsageError
from longcoref.server.limits import Limits

BACKLOG = 64
"""Connections that the kernel holds ready. All of them may be accepted before the first is looked at, so there must be
as many descriptors to spare: where accept() fails for want of one, asyncio logs and retries without end."""

_OTHER_FILES = 64
"""Descriptors for everything else: the model, logs, libraries."""

_TICK = 1.0
"""Seconds between two checks of a connection."""

_PROGRESS = 65_536
"""Bytes of a response that a client must read in the time it has."""


def bounded_connections(limits: Limits) -> type[H11Protocol]:
    """The protocol for uvicorn, with as many connections as `limits` and the operating system allow."""
    most = min(limits.connections, _descriptors(limits.connections) - BACKLOG - _OTHER_FILES)
    # Besides the texts being resolved, there must be room for all connections that are accepted at once: none of them
    # is closed before what its client has sent was looked at.
    needed = limits.admitted + BACKLOG + 1
    if most < needed:
        raise UsageError(
            f"expected at least {needed} connections for {limits.admitted} texts, got {most}: raise --connections and "
            "the limit on open files (ulimit -n), or lower --at-once and --queue"
        )

    class Bounded(_Connection):
        bounds = limits
        most_connections = most

    return Bounded


def _descriptors(wanted: int) -> int:
    """The number of files that this process may open, raised as far as it is wanted and allowed."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + BACKLOG + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised


class _Connection(H11Protocol):
    """One client."""

    bounds: Limits
    most_connections: int
    _since = 0.0  # when the server began to wait for the client
    _unread = 0  # bytes of the response that the client had not read by then
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accepts a new client, if necessary in place of another."""
        super().connection_made(transport)
        self._wait()
        self._look()
        open_ones = [one for one in self.connections if isinstance(one, _Connection) and not one.transport.is_closing()]
        if len(open_ones) > self.most_connections:
            # Close a client that has not sent its headers before one that is uploading, and never one being served.
            idle = [one for one in open_ones if one.is_waiting and one is not self]
            min(idle, key=lambda one: (one._has_request, one._since), default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the client."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        self._wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Waits for the client to read."""
        self._wait()
        super().pause_writing()

    @property
    def _has_request(self) -> bool:
        """Whether the headers of a request are here, and its response is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn to send or to read."""
        return not self._has_request or self.cycle.more_body or self.flow.write_paused

    def _wait(self) -> None:
        self._since = self.loop.time()

    def _look(self) -> None:
        """Disconnects a client that has kept the server waiting for too long; the gate does so during an upload."""
        unread = self.transport.get_write_buffer_size()
        if unread <= self._unread - _PROGRESS:
            self._wait()
        if not self._unread - _PROGRESS < unread <= self._unread:
            self._unread = unread
        allowed = float("inf")
        if unread and (self.flow.write_paused or not self._has_request):
            allowed = self.bounds.stall_seconds
        elif not self._has_request:
            allowed = self.bounds.header_seconds
        if self.loop.time() - self._since > allowed:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(_TICK, self._look)
