"""Results as one JSON value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from longcoref.result import Result


def write_json(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes an object for a single result, a list, one result per line, for several."""
    several = False
    pending: str | None = None
    for result in results:
        if pending is not None:
            stream.write(f"{'' if several else '['}{pending},\n")
            several = True
        pending = result.to_json()
    stream.write(f"{'[]' if pending is None else pending}{']' if several else ''}\n")
