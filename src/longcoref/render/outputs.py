"""The list of output formats, each with its writer.

`WRITERS` has the writers of whole results; a new output is a function there. What `longcoref.formats` can write is
written by it. `jsonl` and the trace are written while reading (steps.py), `html` has the decisions beside the result
(html.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO

from longcoref.errors import UsageError, unknown_name
from longcoref.formats import FORMATS, write_stream
from longcoref.render.cast import write_cast, write_csv
from longcoref.render.json import write_json
from longcoref.render.text import write_text
from longcoref.result import Result

WRITERS: dict[str, Callable[[Iterable[Result], IO[str]], None]] = {
    "json": write_json,
    "text": write_text,
    "cast": write_cast,
    "csv": write_csv,
}
SUFFIXES = {"json": ".json", "jsonl": ".jsonl", "text": ".txt", "cast": ".cast.txt", "csv": ".csv", "html": ".html"}


def output_formats() -> list[str]:
    """The names of all output formats."""
    return list(dict.fromkeys([*WRITERS, "jsonl", "html", *FORMATS]))


def output_suffix(format: str) -> str:
    """How the name of a file in this format ends."""
    if format not in output_formats():
        raise UsageError(unknown_name("output format", format, output_formats()))
    return SUFFIXES[format] if format in SUFFIXES else FORMATS[format].suffixes[0]


def write_results(results: Iterable[Result], stream: IO[str], format: str) -> None:
    """Writes results in a format, one at a time, so that only one of them is in memory."""
    if format in WRITERS:
        WRITERS[format](results, stream)
    else:
        write_stream((result.document for result in results if result.document is not None), stream, format)
