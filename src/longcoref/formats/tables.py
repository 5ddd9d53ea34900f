"""The CoNLL family: one word per row, blank lines between sentences, `#begin document` … `#end document`.

CoNLL-2012, LitBank and OntoGUM differ only in their columns and spelling, which a `Layout` describes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, NamedTuple

from longcoref.clusters import Cluster
from longcoref.document import Document
from longcoref.errors import UsageError, quoted, shortened
from longcoref.formats.brackets import BracketColumn, bracket_cells, bracket_ids
from longcoref.formats.source import Source

_BEGIN = re.compile(r"#\s?begin document\b")
_PART = re.compile(r";\s*part\s+([0-9]{1,9})")
_END = re.compile(r"#\s?end document\s*")
_SPACE = re.compile(r"[ \t\r\n]")
_NOTHING = frozenset(("", "-", "_"))


@dataclass(frozen=True, slots=True)
class Layout:
    """One member of the family. Columns count from 0; the last one contains the clusters.

    A row is split at tabs if it has any, else at runs of spaces. `row` returns all cells of a word but the last;
    its arguments are the document, the number of the word in its sentence, the word and the speaker.
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
    """The rows of one document; `id` is empty if the file does not name it."""

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
            if begins_document(line):
                header = _header(line)
                if header is None:
                    raise source.error(f"expected '#begin document (id); part 000', got {quoted(line)}", number)
                if table is not None:
                    raise source.error(f"'#end document' is missing for the document of line {table.line}", number)
                table = Table(number, header.id or "", header.part, BracketColumn(source, lenient=lenient))
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
            raise source.error(f"expected '#begin document', got {quoted(line)}", number)
        else:
            cells = _cells(line)
            if not table.sentences[-1]:
                width = layout.columns if layout.exact else max(len(cells), layout.columns)
            if len(cells) != width:
                raise source.error(f"expected {width} columns, got {len(cells)}", number)
            _add_row(table, layout, cells, number)
    if table is not None:
        raise source.error(f"the file ends inside the document of line {table.line}: no '#end document'", number)


class _Header(NamedTuple):
    """`#begin document (id); part 000`; either may be missing."""

    id: str | None
    part: int


def begins_document(line: str) -> bool:
    """Whether a line is a header, well formed or not."""
    return _BEGIN.match(line) is not None


def _header(line: str) -> _Header | None:
    """The header in a line; None if there is none. Splits at the last bracket, so that no pattern has to search."""
    begin = _BEGIN.match(line)
    if begin is None:
        return None
    name, bracket, rest = line[begin.end() :].rpartition(")")
    name, rest = name.lstrip(), rest.strip()
    part = _PART.fullmatch(rest)
    if (bracket and not name.startswith("(")) or (rest and part is None):
        return None
    return _Header(name[1:] if bracket else None, int(part[1]) if part else 0)


def _add_row(table: Table, layout: Layout, cells: list[str], line: int) -> None:
    # One row of OntoGUM has no word (GUM_news_iodine); skipping it would shift all later mentions.
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
    """Writes documents one after another. Refuses a word that contains a space."""
    for document in documents:
        cells = bracket_cells(document, bracket_ids(document.clusters or ()), separator=layout.mark_separator)
        speakers = document.speakers or (None,) * len(cells)
        stream.write(f"{layout.begin(document)}\n")
        for start, end in document.sentences:
            for index in range(start, end):
                word = document.words[index]
                if _SPACE.search(word):
                    raise UsageError(
                        f"{shortened(document.id)}: {layout.name} cannot hold the word {quoted(word)}, "
                        "which has a space; write json"
                    )
                row = layout.row(document, index - start, word, speakers[index])
                stream.write(layout.separator.join((*row, cells[index] or layout.no_mark)) + "\n")
            if layout.break_sentences:
                stream.write("\n")
        stream.write(f"{layout.end}\n")


def first_row(head: str, *, named: bool) -> list[str] | None:
    """The cells of the first row after `#begin document`; None if the file does not begin with such a header.

    `named` says whether the header must have an id, or must not. A document without rows has a row without cells.
    """
    lines = [line.rstrip("\r") for line in head.split("\n") if line.strip()]
    header = _header(lines[0]) if lines else None
    if header is None or (header.id is not None) != named:
        return None
    row = lines[1] if len(lines) > 1 and not lines[1].startswith("#") else ""
    return _cells(row)


def _cells(row: str) -> list[str]:
    return row.split("\t") if "\t" in row else [cell for cell in row.split(" ") if cell]


def one_line(id: str) -> str:
    """The id, if it fits in a header."""
    if "\n" in id or "\r" in id:
        raise UsageError(f"the document id {quoted(id)} contains a line break; write json")
    return id


@lru_cache(maxsize=1024)
def one_cell(name: str) -> str:
    """A name without spaces: like OntoNotes, writes `_` instead."""
    return re.sub(r"\s|^#", "_", name) or "_"
