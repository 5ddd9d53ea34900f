"""The CoNLL family: one word per row, blank lines between sentences, `#begin document` … `#end document`.

CoNLL-2012, LitBank and OntoGUM differ in columns and spelling only: a `Layout` says how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO

from longcoref.clusters import Cluster
from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.formats.brackets import BracketColumn, bracket_cells, bracket_ids
from longcoref.formats.source import Source

_BEGIN = re.compile(r"#\s?begin document\b\s*(?:\((.*)\))?\s*(?:;\s*part\s+([0-9]{1,9}))?\s*")
_END = re.compile(r"#\s?end document\s*")
_SPACE = re.compile(r"[ \t\r\n]")
_NOTHING = frozenset(("", "-", "_"))


@dataclass(frozen=True, slots=True)
class Layout:
    """The spelling of one member of the family. Columns count from 0; clusters stand in the last one.

    A row splits at tabs if it has any, else at runs of spaces. `row` gives all cells but the last for a word:
    it takes document, word number in the sentence, word and speaker.
    """

    name: str
    columns: int
    exact: bool
    word: int
    speaker: int | None
    separator: str
    mark_separator: str
    no_mark: str
    break_sentences: bool
    begin: Callable[[Document], str]
    end: str
    row: Callable[[Document, int, str, str | None], list[str]]


@dataclass(slots=True)
class Table:
    """One document as its rows have it; `id` is empty where the file does not name it."""

    line: int
    id: str
    part: int
    column: BracketColumn
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    speakers: list[str | None] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    count: int = 0


def read_tables(source: Source, layout: Layout, *, lenient: bool) -> Iterator[Table]:
    """The documents of a file, one at a time."""
    table: Table | None = None
    number = width = 0
    for number, line in source.lines():
        if line.startswith("#"):
            if begin := _BEGIN.fullmatch(line):
                if table is not None:
                    raise source.error(f"'#end document' is missing for the document of line {table.line}", number)
                column = BracketColumn(source, lenient=lenient)
                table = Table(number, begin[1] or "", int(begin[2] or 0), column)
            elif _BEGIN.match(line):
                raise source.error(f"expected '#begin document (id); part 000', got {line[:60]!r}", number)
            elif _END.fullmatch(line):
                if table is None:
                    raise source.error("'#end document' without '#begin document'", number)
                table.clusters = table.column.clusters()
                yield table
                table = None
        elif not line.strip(" \t"):
            if table is not None and table.sentences[-1]:
                table.sentences.append([])
        elif table is None:
            raise source.error(f"expected '#begin document', got {line[:60]!r}", number)
        else:
            cells = _cells(line)
            if not table.sentences[-1]:
                width = layout.columns if layout.exact else max(len(cells), layout.columns)
            if len(cells) != width:
                raise source.error(f"expected {width} columns, got {len(cells)}", number)
            _add_row(table, layout, cells, number)
    if table is not None:
        raise source.error(f"the file ends inside the document of line {table.line}: no '#end document'", number)


def _add_row(table: Table, layout: Layout, cells: list[str], line: int) -> None:
    # OntoGUM has a row whose word is missing (GUM_news_iodine): it must count, or later mentions would shift.
    table.sentences[-1].append(cells[layout.word] or "_")
    if layout.speaker is not None and len(cells) > layout.speaker + 1:
        speaker = cells[layout.speaker]
        table.speakers.append(None if speaker in _NOTHING else speaker)
    else:
        table.speakers.append(None)
    if cells[-1] not in _NOTHING:
        table.column.add(cells[-1], table.count, table.count + 1, line)
    table.count += 1


def write_tables(documents: Iterable[Document], stream: IO[str], layout: Layout) -> None:
    """Writes documents one after another. Refuses a word that a row cannot hold."""
    for document in documents:
        cells = bracket_cells(document, bracket_ids(document.clusters or ()), separator=layout.mark_separator)
        speakers = document.speakers or (None,) * len(cells)
        stream.write(f"{layout.begin(document)}\n")
        for start, end in document.sentences:
            for index in range(start, end):
                word = document.words[index]
                if _SPACE.search(word):
                    raise UsageError(
                        f"{document.id}: {layout.name} cannot hold the word {word!r}, which has a space; write json"
                    )
                row = layout.row(document, index - start, word, speakers[index])
                stream.write(layout.separator.join((*row, cells[index] or layout.no_mark)) + "\n")
            if layout.break_sentences:
                stream.write("\n")
        stream.write(f"{layout.end}\n")


def first_row(head: str) -> list[str] | None:
    """The cells of the first row behind `#begin document (…)`; None where no such header comes first."""
    lines = [line.rstrip("\r") for line in head.split("\n") if line.strip()]
    if not lines or not (begin := _BEGIN.fullmatch(lines[0])) or begin[1] is None:
        return None
    row = lines[1] if len(lines) > 1 and not lines[1].startswith("#") else ""
    return _cells(row)


def _cells(row: str) -> list[str]:
    return row.split("\t") if "\t" in row else [cell for cell in row.split(" ") if cell]


def one_line(id: str) -> str:
    """An id as a header can hold it."""
    if "\n" in id or "\r" in id:
        raise UsageError(f"the document id {id!r} has a line end; write json")
    return id


@lru_cache(maxsize=1024)
def one_cell(name: str) -> str:
    """A name as a cell can hold it: OntoNotes, too, has `_` for the spaces of its speakers."""
    return re.sub(r"\s|^#", "_", name) or "_"
