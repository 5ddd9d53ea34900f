"""The list of output formats, each with its writer.

`WRITERS` has the writers of whole results; a new output is a function there. What `longcoref.formats` can write is
written by it. `jsonl` and the trace are written while reading (steps.py), `html` has the decisions beside the result
(html.py). `GROUPS` are names for several formats that belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO

from longcoref.errors import UsageError, unknown_name
from longcoref.formats import FORMATS, write_stream
from longcoref.render.book import write_book, write_copresence, write_graph, write_quotes
from longcoref.render.booknlp import write_entities, write_tokens
from longcoref.render.cast import write_cast, write_csv
from longcoref.render.json import write_json
from longcoref.render.resolved import write_resolved, write_resolved_pronouns
from longcoref.render.text import write_text
from longcoref.render.tsv import write_tsv
from longcoref.result import Result

WRITERS: dict[str, Callable[[Iterable[Result], IO[str]], None]] = {
    "json": write_json,
    "text": write_text,
    "cast": write_cast,
    "csv": write_csv,
    "tsv": write_tsv,
    "resolved": write_resolved,
    "resolved-pronouns": write_resolved_pronouns,
    "tokens": write_tokens,
    "entities": write_entities,
    "quotes": write_quotes,
    "book": write_book,
    "copresence": write_copresence,
    "graph": write_graph,
}
GROUPS = {"booknlp": ("tokens", "entities", "quotes", "book")}
SUFFIXES = {
    "json": ".json",
    "jsonl": ".jsonl",
    "text": ".txt",
    "cast": ".cast.txt",
    "csv": ".csv",
    "tsv": ".tsv",
    "resolved": ".resolved.txt",
    "resolved-pronouns": ".pronouns.txt",
    "tokens": ".tokens",
    "entities": ".entities",
    "quotes": ".quotes",
    "book": ".book",
    "copresence": ".copresence.tsv",
    "graph": ".graphml",
    "html": ".html",
}


def output_formats() -> list[str]:
    """The names of all output formats."""
    return list(dict.fromkeys([*WRITERS, "jsonl", "html", *FORMATS]))


def chosen_formats(names: str | None, path: str) -> list[str]:
    """The formats that `--to` names, with commas between them; without it, the one that the name of the file tells."""
    if names is None:
        endings = [(output_suffix(name), name) for name in output_formats() if path.endswith(output_suffix(name))]
        return [max(endings, key=lambda pair: len(pair[0]))[1] if endings else "json"]
    chosen: list[str] = []
    for name in filter(None, map(str.strip, names.split(","))):
        if name not in GROUPS and name not in output_formats():
            raise UsageError(unknown_name("output format", name, [*output_formats(), *GROUPS]))
        chosen += GROUPS.get(name, (name,))
    if not chosen:
        raise UsageError(f"expected an output format, got {names!r} (choose from {', '.join(output_formats())})")
    return list(dict.fromkeys(chosen))


def output_suffix(format: str) -> str:
    """How the name of a file in this format ends."""
    return SUFFIXES[format] if format in SUFFIXES else FORMATS[format].suffixes[0]


def write_results(results: Iterable[Result], stream: IO[str], format: str) -> None:
    """Writes results in a format, one at a time, so that only one of them is in memory."""
    if format in WRITERS:
        WRITERS[format](results, stream)
    else:
        write_stream((result.known_document for result in results), stream, format)
