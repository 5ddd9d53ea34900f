"""The interface of a file format."""

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
        """Yields line and document; `lenient` repairs what it can, with a `RepairWarning`."""
        ...


@dataclass(frozen=True, slots=True)
class Corpus:
    """The layout of a public corpus on disk.

    `home(root)` finds the folder of its documents from any folder of a clone (None: not this corpus), `select(root,
    fold, part)` lists the files of one part, and `annotate(document, folder)` adds types and kinds from other files.
    """

    home: Callable[[Path], Path | None]
    select: Callable[[Path, int | None, str], list[Path]]
    annotate: Callable[[Document, Path], Document] | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    `suffixes` are the endings of its file names; the first one is used for writing. `holds` names what a file stores
    of a document besides its words: clusters, kinds, types, speakers, genre, part, sentences. `detect(head, name)`
    decides by the first characters of a file and by its name. `named` is False if a file cannot store the id of a
    document; the id is then the name of the file, which holds one document.
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
