"""What a server accepts."""

from __future__ import annotations

from dataclasses import dataclass

_HELD = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a request, and on all requests together.

    A request body has at most `max_bytes`. `at_once` texts are resolved concurrently, so that a short one need not wait
    for a novel; `queue` more may wait, and further ones are refused. A text may wait for `max_seconds`, and then be
    resolved for as long.

    The other limits concern clients that the server waits for: `connections` may be open, a request's headers must
    arrive within `header_seconds` and its body within `upload_seconds`, and a client that stops reading its response is
    disconnected after `stall_seconds`. On shutdown, requests have `grace_seconds` to finish.
    """

    max_bytes: int = 5_000_000
    max_seconds: float = 600.0
    at_once: int = 8
    queue: int = 32
    connections: int = 256
    header_seconds: float = 10.0
    upload_seconds: float = 30.0
    stall_seconds: float = 30.0
    grace_seconds: float = 5.0

    @property
    def admitted(self) -> int:
        """The number of texts that may be waiting or being resolved."""
        return self.at_once + self.queue

    @property
    def held_bytes(self) -> int:
        """The number of bytes that all unfinished uploads, or all unread responses, may occupy together."""
        return _HELD * self.max_bytes
