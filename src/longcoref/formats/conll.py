"""CoNLL-2012, the format of OntoNotes (`*_gold_conll`) and of the official scorer.

Columns: document, part, word number, word, part of speech, parse, lemma, frameset, sense, speaker, named entity,
any number of arguments, and coreference. We read word, speaker and coreference, and leave the others empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from longcoref.document import Document
from longcoref.formats.build import build_document
from longcoref.formats.source import Source
from longcoref.formats.tables import Layout, first_row, one_cell, one_line, read_tables, write_tables


def _row(document: Document, number: int, word: str, speaker: str | None) -> list[str]:
    name = "-" if speaker is None else one_cell(speaker)
    return [one_cell(document.id), str(document.part), str(number), word, "-", "*", "-", "-", "-", name, "*"]


LAYOUT = Layout(
    name="conll",
    columns=5,
    exact=False,
    word=3,
    speaker=9,
    separator="   ",
    mark_separator="|",
    no_mark="-",
    break_sentences=True,
    begin=lambda document: f"#begin document ({one_line(document.id)}); part {document.part:03}",
    end="#end document",
    row=_row,
)


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of a file, each with its first line; each part of an id is a document."""
    for table in read_tables(source, LAYOUT, lenient=lenient):
        document = build_document(
            source,
            table.line,
            id=table.id or source.stem,
            part=table.part,
            sentences=table.sentences,
            speakers=table.speakers,
            clusters=table.clusters,
        )
        yield table.line, document


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes documents one after another."""
    write_tables(documents, stream, LAYOUT)


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of a CoNLL-2012 file. LitBank has `_` instead of `-` and `*`."""
    row = first_row(head, named=True)
    return row is not None and "_" not in row[4:-1]
