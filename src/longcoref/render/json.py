"""Results as one JSON value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from longcoref.formats.json import write_objects
from longcoref.result import Result


def write_json(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes an object for a single result, a list, one result per line, for several."""
    write_objects((result.json_parts() for result in results), stream)
