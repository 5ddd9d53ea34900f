"""What a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a request, and of all of them together.

    A request may have `max_bytes`, and `upload_seconds` to send them. `at_once` texts are being read, taking turns
    piece by piece, so that a short one need not wait for a novel; `queue` more may wait, and whoever comes then is
    refused. A text may wait for `max_seconds`, and be read for as long.
    """

    max_bytes: int = 2_000_000
    max_seconds: float = 600.0
    at_once: int = 8
    queue: int = 32
    upload_seconds: float = 30.0

    @property
    def admitted(self) -> int:
        """How many requests may be inside at a time."""
        return self.at_once + self.queue
