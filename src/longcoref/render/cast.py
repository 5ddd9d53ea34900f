"""The cast: the entities of a text with their mentions, names, quotations and first and last sentence.

All outputs about characters are made from `cast`. Here it becomes a table that fits a terminal, and CSV with all
columns. Pronouns are counted as the text uses them; that is not a claim about anyone's gender.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longcoref.book.naming import without_possessive
from longcoref.clusters import KINDS
from longcoref.features.facts import THIRD_PERSON
from longcoref.outcome import ResultCluster
from longcoref.render.text import CONTROLS
from longcoref.result import Result

KIND_COLUMNS = dict(zip(KINDS, ("names", "nouns", "pronouns"), strict=True))
TABLE_COLUMNS = ("name", "type", "mentions", "quotes", *THIRD_PERSON.values(), "first", "last", "aliases")
COLUMNS = (*TABLE_COLUMNS[:-1], *KIND_COLUMNS.values(), TABLE_COLUMNS[-1])
_WIDTH = 100
_LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class CastEntry:
    """An entity of a text: its wordings by kind, its pronouns, first and last sentence, and number of quotations."""

    cluster: ResultCluster
    wordings: dict[str, Counter[str]]
    pronouns: Counter[str]
    first: int
    last: int
    quotes: int

    @property
    def aliases(self) -> list[str]:
        """The other names, the most frequent first; possessive endings and capitalisation are ignored."""
        names: dict[str, str] = {self.cluster.name.casefold(): self.cluster.name}
        for wording, _ in self.wordings["PROP"].most_common():
            name = without_possessive(wording)
            names.setdefault(name.casefold(), name)
        return list(names.values())[1:]


def cast(result: Result) -> list[CastEntry]:
    """The entities, most mentioned first. A speech of several paragraphs counts as one quotation."""
    spoken = Counter(quote.speaker for quote in result.quotes if not quote.continues)
    return [_entry(cluster, spoken[cluster.id]) for cluster in sorted(result, key=lambda cluster: -len(cluster))]


def _entry(cluster: ResultCluster, quotes: int) -> CastEntry:
    wordings: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    pronouns: Counter[str] = Counter()
    for mention in cluster:
        words = mention.text.split()
        wordings[mention.kind][" ".join(words)] += 1
        if mention.facts.pronoun in THIRD_PERSON:
            pronouns[THIRD_PERSON[mention.facts.pronoun]] += 1
    places = [mention.sentence for mention in cluster]
    return CastEntry(cluster, wordings, pronouns, min(places), max(places), quotes)


def cast_rows(result: Result) -> Iterator[dict[str, str | int]]:
    """The cast as rows with `COLUMNS`; `first` and `last` are sentence numbers, counted from 1."""
    for entry in cast(result):
        yield {
            "name": entry.cluster.name,
            "type": entry.cluster.type or "",
            "mentions": len(entry.cluster),
            "quotes": entry.quotes,
            **{pronoun: entry.pronouns[pronoun] for pronoun in THIRD_PERSON.values()},
            "first": entry.first + 1,
            "last": entry.last + 1,
            **{column: entry.wordings[kind].total() for kind, column in KIND_COLUMNS.items()},
            "aliases": "; ".join(entry.aliases),
        }


def write_csv(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes the cast of each text as CSV, with the text's id in the first column."""
    writer = csv.DictWriter(stream, ("document", *COLUMNS), lineterminator="\n")
    writer.writeheader()
    for result in results:
        writer.writerows({"document": result.id, **row} for row in cast_rows(result))


def write_cast(results: Iterable[Result], stream: IO[str], *, most: int | None = None) -> None:
    """Writes the cast of each text as a table that fits a terminal; the CSV has all columns.

    With `most`, only that many entities are shown, and below them the number of the others.
    """
    console = Console(file=stream, width=None if stream.isatty() else _WIDTH, color_system=None)
    for result in results:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=result.id or None, title_justify="left")
        for column in TABLE_COLUMNS[:-1]:
            side: Literal["left", "right"] = "left" if column in ("name", "type") else "right"
            table.add_column(column, justify=side, no_wrap=True)
        table.add_column(Text(TABLE_COLUMNS[-1], no_wrap=True))  # shortened if there is not enough room
        for row in islice(cast_rows(result), most):
            table.add_row(*(_cell(row, column) for column in TABLE_COLUMNS))
        console.print(table)
        if most is not None and len(result) > most:
            console.print(f" … and {len(result) - most:,} more", highlight=False)


def _cell(row: dict[str, str | int], column: str) -> Text:
    """A cell that stays on one line; a count of 0 is left empty, so that the others stand out."""
    cell = Text(str(row[column] or "").translate(CONTROLS), no_wrap=True, overflow="ellipsis")
    if column == "name":
        cell.truncate(_LONGEST_NAME, overflow="ellipsis")
    return cell
