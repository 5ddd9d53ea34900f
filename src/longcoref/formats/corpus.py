"""Reads and writes corpora: files, folders, parts of published corpora."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO

from longcoref.document import Document
from longcoref.errors import InputError, UsageError, quoted
from longcoref.files import atomic_text, atomic_texts
from longcoref.formats.build import genre_of
from longcoref.formats.format import Format
from longcoref.formats.registry import detect_format, detect_head, find_format, format_to_write, is_folder
from longcoref.formats.source import Source, open_source


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,
    fold: int | None = None,
    part: str | None = None,
    types: str | Path | None = None,
    lenient: bool = False,
) -> Iterator[Document]:
    """The documents of a file or folder, one at a time.

    `path` is a file, `-` for standard input, a folder of files (searched recursively, in the order of names), or any
    folder of a clone of LitBank (lrec2020-coref) or GUM. `format` is a name in `FORMATS`; None detects it. `part` is
    train, dev or test; LitBank also needs a `fold` (0 to 9), and OntoGUM has test2 too. `types` is a clone of
    `litbank`, from which LitBank's entity types and kinds of mention are read. `lenient` ignores unbalanced brackets,
    with a `RepairWarning`, instead of raising.

    Raises `UsageError` at once for an option that the format does not support, and `InputError` with file and line
    when it reaches a damaged file.
    """
    chosen, sources = open_corpus(path, format=format, fold=fold, part=part)
    return read_sources(chosen, sources, types=types, lenient=lenient)


def read_sources(
    chosen: Format, sources: Generator[Source], *, types: str | Path | None = None, lenient: bool = False
) -> Iterator[Document]:
    """The documents of the files of `open_corpus`; as for `read_corpus`."""
    annotate = chosen.corpus.annotate if chosen.corpus is not None else None
    if types is not None and annotate is None:
        raise UsageError(f"{chosen.name} does not read types from other files: only litbank does")
    documents = _documents(sources, chosen, lenient=lenient)
    if types is None or annotate is None:
        return documents
    return (annotate(document, Path(types)) for document in documents)


def open_corpus(
    path: str | Path, *, format: str | None = None, fold: int | None = None, part: str | None = None
) -> tuple[Format, Generator[Source]]:
    """The format of a file or folder, and its files, which are opened one after another; as for `read_corpus`."""
    root = Path(path)
    piped = sys.stdin.buffer.read() if str(path) == "-" else None
    if format is not None:
        chosen = find_format(format)
    else:
        chosen = detect_format(root) if piped is None else detect_head(piped, "stdin")
    corpus = chosen.corpus
    if (fold is not None or part is not None) and corpus is None:
        raise UsageError(f"{chosen.name} has no folds or parts: give the folder or file of the part")
    if fold is not None and part is None:
        raise UsageError("a fold consists of parts: choose train, dev or test")
    if piped is not None:
        return chosen, (source for source in (Source("stdin", io.BytesIO(piped)),))
    files = corpus.select(root, fold, part) if corpus is not None and part is not None else _files(root, chosen)
    return chosen, _opened(files)


def _files(root: Path, format: Format) -> list[Path]:
    if not root.is_dir():
        return [root]
    folder = (format.corpus.home(root) if format.corpus is not None else None) or root
    files = sorted(file for file in folder.rglob("*") if file.name.endswith(format.suffixes) and file.is_file())
    if not files:
        raise InputError(f"no file for {format.name} in this folder: expected {' or '.join(format.suffixes)}", root)
    return files


def _opened(files: list[Path]) -> Generator[Source]:
    for file in files:
        with open_source(file) as source:
            yield source


def _documents(sources: Generator[Source], format: Format, *, lenient: bool) -> Iterator[Document]:
    """The documents of some sources; two with the same key are an error. Whatever happens, no file stays open."""
    seen: dict[tuple[str, int], str] = {}
    with closing(sources):
        for source in sources:
            empty = True
            for line, document in format.read(source, lenient=lenient):
                empty = False
                check_new(document, source, line, seen)
                yield document
            if empty:
                raise source.error(f"no {format.name} document in this file")


def check_new(document: Document, source: Source, line: int, seen: dict[tuple[str, int], str]) -> None:
    """Raises an error if a document with this key is among those `seen`, and adds it to them."""
    if document.key in seen:
        id, part = document.key
        raise source.error(f"document {quoted(id)}, part {part}, was read before, at {seen[document.key]}", line)
    seen[document.key] = f"{source.name}:{line}"


def left_out(document: Document, format: str) -> frozenset[str]:
    """What this document has and the format cannot store, by the names of `Format.holds`."""
    mentions = [mention for cluster in document.clusters or () for mention in cluster.mentions]
    present = {
        "clusters": bool(mentions),
        "kinds": any(mention.kind for mention in mentions),
        "types": any(mention.type for mention in mentions),
        "speakers": document.speakers is not None,
        "genre": document.genre not in (None, genre_of(document.id)),
        "part": document.part != 0,
        "sentences": len(document.sentences) > 1,
    }
    return frozenset(name for name, there in present.items() if there) - find_format(format).holds


def write_corpus(documents: Iterable[Document], path: str | Path, *, format: str | None = None) -> None:
    """Writes a file, or a folder with a file per document if `path` is a folder or ends in a slash.

    Files appear when all of them are complete. `format` is a name in `FORMATS`; None goes by the suffix.

    Raises `UsageError` for a document that the format cannot store, and for several documents in a file that can hold
    only one.
    """
    chosen = format_to_write(path, format)
    if is_folder(path):
        _write_folder(documents, Path(path), chosen)
    else:
        with atomic_text(path) as stream:
            write_stream(documents, stream, chosen.name)


def write_stream(documents: Iterable[Document], stream: IO[str], format: str) -> None:
    """Writes to an open text stream, which should write UTF-8 and keep line breaks as they are."""
    chosen = find_format(format)
    chosen.write(documents if chosen.named else _at_most_one(documents, chosen), stream)


def _at_most_one(documents: Iterable[Document], format: Format) -> list[Document]:
    """The only document, or an error before anything is written: for formats that cannot store ids."""
    first = list(islice(documents, 2))
    if len(first) > 1:
        raise UsageError(f"a file of {format.name} holds one document, got several: write to a folder (OUT/)")
    return first


def _write_folder(documents: Iterable[Document], folder: Path, format: Format) -> None:
    names: set[str] = set()
    with atomic_texts(folder) as opened:
        for document in documents:
            name = file_name(document) + format.suffixes[0]
            if name in names:
                raise UsageError(f"two documents would be written to {folder / name}; write one file instead")
            names.add(name)
            with opened(name) as stream:
                format.write([document], stream)


def file_name(document: Document) -> str:
    """A file name for a document: its id, without characters that are special in paths."""
    plain = re.sub(r"[^\w.,+=@ -]|^\.", "_", document.id)
    short = plain.encode()[:180].decode(errors="ignore") or "document"
    return f"{short}_part_{document.part:03}" if document.part else short
