"""The cast: who is in a text, how often, and from where to where; as a table for people and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.result import Result

COLUMNS = ("name", "type", "mentions", "first", "last", "names", "nouns", "pronouns")


def cast_rows(result: Result) -> Iterator[dict[str, str | int]]:
    """The clusters by number of mentions; `first` and `last` are the numbers of sentences, counted from 1."""
    for cluster in sorted(result, key=lambda cluster: -len(cluster)):
        kinds = [mention.kind for mention in cluster]
        places = [mention.sentence + 1 for mention in cluster]
        yield {
            "name": cluster.name,
            "type": cluster.type or "",
            "mentions": len(cluster),
            "first": min(places),
            "last": max(places),
            "names": kinds.count("PROP"),
            "nouns": kinds.count("NOM"),
            "pronouns": kinds.count("PRON"),
        }


def write_csv(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes the cast of each text as CSV; with several texts, a column says whose it is."""
    writer = csv.DictWriter(stream, ("document", *COLUMNS), lineterminator="\n")
    writer.writeheader()
    for result in results:
        writer.writerows({"document": result.id, **row} for row in cast_rows(result))


def write_cast(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes the cast of each text as a table."""
    console = Console(file=stream, width=100, color_system=None)
    for result in results:
        table = Table(*COLUMNS[:2], box=box.SIMPLE, title=result.id or None, title_justify="left")
        for name in COLUMNS[2:]:
            table.add_column(name, justify="right")
        for row in cast_rows(result):
            table.add_row(*(str(row[name]) for name in COLUMNS))
        console.print(table)
