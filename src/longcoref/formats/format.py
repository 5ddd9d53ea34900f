"""What a file format is to the rest of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from longcoref.document import Document
from longcoref.formats.source import Source


class Read(Protocol):
    """Reads an opened file document by document, each with the line on which it begins."""

    def __call__(self, source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
        """Yields line and document; `lenient` mends what it can, with a `RepairWarning`."""
        ...


@dataclass(frozen=True, slots=True)
class Corpus:
    """How a public corpus lies on disk.

    `home(root)` finds the folder of its documents from any folder of a clone (None: not this corpus), `select(root,
    fold, part)` lists the files of one part, and `annotate(document, folder)` adds types and kinds kept elsewhere.
    """

    home: Callable[[Path], Path | None]
    select: Callable[[Path, int | None, str], list[Path]]
    annotate: Callable[[Document, Path], Document] | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    `suffixes` are the ends of its file names, the first one for writing. `holds` names what a file keeps of a
    document beside its words: clusters, kinds, types, speakers, genre, part, sentences. `detect(head, name)` looks
    at the first characters of a file and at its name. `named` is False where a file has no place for a document's
    id: it is then the name of the file, which holds one document.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    holds: frozenset[str]
    detect: Callable[[str, str], bool]
    read: Read
    write: Callable[[Iterable[Document], IO[str]], None]
    named: bool = True
    corpus: Corpus | None = None
