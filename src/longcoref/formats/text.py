"""Plain text: reading finds words and sentences; clusters cannot be stored. One document per file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from longcoref.document import Document
from longcoref.formats.source import Source
from longcoref.text import tokenize


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The document of a file; its id is the file's name without suffix."""
    yield 1, tokenize(source.text(), id=source.stem)


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes the text unchanged."""
    for document in documents:
        stream.write(document.text)


def detect(head: str, name: str) -> bool:
    """Any content may be text: the name decides."""
    return name.endswith((".txt", ".text"))
