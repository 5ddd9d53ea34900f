"""The documents of a corpus: files, folders, patterns, lists of paths, JSON lines, Parquet files and archives.

`find_documents` reads every document once, piece by piece, for its hash and length; a document that cannot be read is
listed with its error. `Entry.read` reads it again when its turn comes, so that no more than a few are in memory.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, Protocol
from weakref import finalize

from longcoref.errors import InputError, LongcorefError, UsageError, optional_module, quoted, shortened
from longcoref.extraction import is_text_file, is_text_name

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_JSON_LINES = (".jsonl", ".ndjson")
_PIECE = 1 << 20
_DAMAGED = (
    *(OSError, EOFError, ValueError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError),
)


class Container(Protocol):
    """A place that holds documents under keys."""

    def documents(self) -> Iterable[tuple[Any, str, str]]:
        """The key, the id and the name in messages of each document."""

    def open(self, key: Any) -> IO[bytes]:
        """The bytes of a document. Raises `InputError`, or what a damaged archive raises."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the corpus: `id` is unique, `source` says where it is, `size` counts bytes.

    `error` is set if it could not be read when the corpus was listed.
    """

    id: str
    source: str
    hash: str
    size: int
    container: Container
    key: Any
    error: LongcorefError | None = None

    def read(self) -> bytes:
        """Its bytes, as they are now."""
        if self.error is not None:
            raise self.error
        with _errors_about(self.source), self.container.open(self.key) as stream:
            return stream.read()


def find_documents(
    names: Sequence[str | Path], *, id_column: str = "id", text_column: str = "text", largest: int | None = None
) -> list[Entry]:
    """The documents that the names stand for, in order. A name that does not exist is an error at once.

    A document of more than `largest` bytes is listed with an error.
    """
    entries: list[Entry] = []
    sources: dict[str, str] = {}
    for path in _paths(map(str, names)):
        container = _container(path, id_column, text_column)
        for key, id, source in container.documents():
            if id in sources:
                raise UsageError(
                    f"{sources[id]} and {source} would both have the id {quoted(id)}: rename one, or give the folder "
                    "that contains both"
                )
            sources[id] = source
            entries.append(_entry(container, key, id, source, largest))
    if not entries:
        raise InputError(f"no documents found in {', '.join(map(str, names)) or 'an empty list'}")
    return entries


def _paths(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        if has_magic(name) and not Path(name).exists():
            matches = sorted(glob(name, recursive=True))
            if not matches:
                raise InputError("no file matches this pattern", name)
            yield from map(Path, matches)
        elif Path(name).exists():
            yield Path(name)
        else:
            raise InputError("no such file or folder", name)


def _container(path: Path, id_column: str, text_column: str) -> Container:
    name = path.name.lower()
    if path.is_dir():
        return _Folder(path)
    if name.endswith(".zip"):
        return _Zip(path)
    if name.endswith(_TARS):
        return _Tar(path)
    if name.endswith(_JSON_LINES):
        return _JsonLines(path, id_column, text_column)
    if name.endswith(".parquet"):
        return _Parquet(path, id_column, text_column)
    return _File(path)


def _entry(container: Container, key: Any, id: str, source: str, largest: int | None) -> Entry:
    digest, size = hashlib.sha256(), 0
    try:
        with _errors_about(source), container.open(key) as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
                size += len(piece)
                if largest is not None and size > largest:
                    raise InputError(f"is larger than the memory limit of a process, {largest:,} bytes", source)
    except LongcorefError as error:
        return Entry(id, source, "", 0, container, key, error)
    return Entry(id, source, digest.hexdigest(), size, container, key)


@contextmanager
def _errors_about(source: str) -> Iterator[None]:
    """Turns what libraries raise for damaged or missing data into an error about a document."""
    try:
        yield
    except LongcorefError:
        raise
    except _DAMAGED as error:
        reason = getattr(error, "strerror", None) or shortened(str(error)) or type(error).__name__
        raise InputError(f"cannot read this document: {reason}", source) from error


def _id_of(path: PurePath) -> str:
    """The id of a file: its path without the steps that lead out of a folder, and without the ending of a text file."""
    named = path.with_suffix("") if is_text_name(path.name) else path
    return "/".join(part for part in named.parts if part not in (path.anchor, ".", ".."))


@dataclass(frozen=True)
class _File:
    """A single file."""

    path: Path

    def documents(self) -> Iterator[tuple[Path, str, str]]:
        yield self.path, _id_of(self.path), str(self.path)

    def open(self, key: Path) -> IO[bytes]:
        return key.open("rb")


@dataclass(frozen=True)
class _Folder:
    """All text files below a folder; ids are paths in it."""

    path: Path

    def documents(self) -> Iterator[tuple[Path, str, str]]:
        for file in sorted(filter(is_text_file, self.path.rglob("*"))):
            yield file, _id_of(file.relative_to(self.path)), str(file)

    def open(self, key: Path) -> IO[bytes]:
        return key.open("rb")


class _Zip:
    """The text files of a zip archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _errors_about(str(path)):
            self._archive = zipfile.ZipFile(path)
        finalize(self, self._archive.close)

    def documents(self) -> Iterator[tuple[str, str, str]]:
        for name in self._archive.namelist():
            if is_text_name(name):
                yield name, _id_of(PurePosixPath(name)), f"{self._path}:{name}"

    def open(self, key: str) -> IO[bytes]:
        return self._archive.open(key)


class _Tar:
    """The text files of a tar archive; a compressed one is unpacked to a temporary file, for reading in any order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _errors_about(str(path)):
            stream = _uncompressed(path)
            finalize(self, stream.close)
            self._archive = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115

    def documents(self) -> Iterator[tuple[tarfile.TarInfo, str, str]]:
        with _errors_about(str(self._path)):
            members = self._archive.getmembers()
        for member in members:
            if member.isfile() and is_text_name(member.name):
                yield member, _id_of(PurePosixPath(member.name)), f"{self._path}:{member.name}"

    def open(self, key: tarfile.TarInfo) -> IO[bytes]:
        stream = self._archive.extractfile(key)
        assert stream is not None  # it is a file
        return stream


def _uncompressed(path: Path) -> IO[bytes]:
    """The content of a tar archive without its compression, open for as long as the archive is."""
    openers: dict[str, Any] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    opener = next((openers[end] for end in openers if path.name.lower().endswith((f".{end}", f".t{end}"))), None)
    if opener is None:
        return path.open("rb")
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115
    with opener(path) as stream:
        shutil.copyfileobj(stream, unpacked, _PIECE)
    unpacked.seek(0)
    return unpacked


@dataclass(frozen=True)
class _JsonLines:
    """A document in every line: an object with an id and a text. A key is where a line begins, and its length."""

    path: Path
    id_column: str
    text_column: str

    def documents(self) -> Iterator[tuple[tuple[int, int], str, str]]:
        position = 0
        with _errors_about(str(self.path)), self.path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                key, position = (position, len(line)), position + len(line)
                if line.strip():
                    source = f"{self.path}:{number}"
                    try:
                        id = _id_in(self._record(line)[self.id_column], self.id_column)
                    except (ValueError, KeyError, RecursionError):
                        id = f"{self.path.stem}:{number}"  # reading the text will say what is wrong
                    yield key, id, source

    def open(self, key: tuple[int, int]) -> IO[bytes]:
        with self.path.open("rb") as stream:
            stream.seek(key[0])
            record = self._record(stream.read(key[1]))
        for column in (self.id_column, self.text_column):
            if column not in record:
                raise ValueError(f"no {column!r} among its fields: {', '.join(map(repr, record)) or 'it has none'}")
        _id_in(record[self.id_column], self.id_column)
        return _bytes_of(record[self.text_column], self.text_column)

    def _record(self, line: bytes) -> dict[str, Any]:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError(f"expected an object, got {quoted(record)}")
        return record


class _Parquet:
    """A document in every row of a Parquet file. A key is a row group, a row in it, and the id there."""

    def __init__(self, path: Path, id_column: str, text_column: str) -> None:
        parquet = optional_module("pyarrow.parquet", extra="corpus", needed_for="reading Parquet files")
        self._path, self._id, self._text = path, id_column, text_column
        with _errors_about(str(path)):
            self._file = parquet.ParquetFile(path)
        known = self._file.schema_arrow.names
        for column in (id_column, text_column):
            if column not in known:
                raise InputError(f"no column {column!r} (columns: {', '.join(known)})", path)
        self._group: tuple[int, Any] = (-1, None)

    def documents(self) -> Iterator[tuple[tuple[int, int, object], str, str]]:
        number = 0
        for group in range(self._file.num_row_groups):
            with _errors_about(str(self._path)):
                ids = self._file.read_row_group(group, columns=[self._id]).column(0).to_pylist()
            for row, id in enumerate(ids):
                number += 1
                try:
                    name = _id_in(id, self._id)
                except ValueError:
                    name = f"{self._path.stem}:{number}"
                yield (group, row, id), name, f"{self._path}:{number}"

    def open(self, key: tuple[int, int, object]) -> IO[bytes]:
        group, row, id = key
        _id_in(id, self._id)
        if self._group[0] != group:
            self._group = group, self._file.read_row_group(group, columns=[self._text]).column(0)
        return _bytes_of(self._group[1][row].as_py(), self._text)


def _id_in(value: object, column: str) -> str:
    """The id in a column: a string that is not empty, or a number."""
    if value == "" or isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{column!r} is not a name or a whole number, but {quoted(value)}")
    return str(value)


def _bytes_of(text: object, column: str) -> IO[bytes]:
    if not isinstance(text, str):
        raise ValueError(f"{column!r} is not a text, but {quoted(text)}")
    return io.BytesIO(text.encode("utf-8", errors="surrogatepass"))
