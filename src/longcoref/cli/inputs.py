"""The inputs of `longcoref resolve`: files, folders, patterns, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import Protocol

from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.formats import FORMATS, read_corpus
from longcoref.formats.source import Source, open_source
from longcoref.mention import MentionRecord
from longcoref.resolver import Resolver
from longcoref.text import tokenize

_TEXT_SUFFIXES = (".txt", ".text")
_CHUNK = 16384  # characters whose decisions are in memory together: enough windows for all threads, and no more


class Input(Protocol):
    """One text to be resolved."""

    @property
    def id(self) -> str:
        """Its name in the output."""

    @property
    def size(self) -> int | None:
        """An upper estimate of its length in characters, if that is known before reading."""

    def document(self) -> Document:
        """The whole text."""

    def mentions(self, resolver: Resolver) -> Iterator[MentionRecord]:
        """Its mentions with their decisions; the whole text is not held in memory if that can be avoided."""


@dataclass(frozen=True)
class _TextInput:
    """A plain text file, or standard input, read in pieces."""

    path: str

    @property
    def id(self) -> str:
        return "stdin" if self.path == "-" else Path(self.path).stem

    @property
    def size(self) -> int | None:
        return None if self.path == "-" else Path(self.path).stat().st_size

    def chunks(self) -> Iterator[str]:
        """The text in pieces; a file in a corpus format is refused, because it would be read as prose."""
        if self.path == "-":
            pieces = Source("stdin", sys.stdin.buffer).chunks(_CHUNK)
            yield from self._checked(pieces)
        else:
            with open_source(Path(self.path)) as source:
                yield from self._checked(source.chunks(_CHUNK))

    def _checked(self, pieces: Iterator[str]) -> Iterator[str]:
        for first in islice(pieces, 1):
            name = next((name for name in FORMATS if name != "text" and FORMATS[name].detect(first, self.path)), None)
            if name is not None:
                raise InputError(
                    f"is in the format {name}, not plain text: to convert its clusters, use longcoref convert; to "
                    f"resolve its text again, use --from {name}",
                    self.path,
                )
            yield first
        yield from pieces

    def document(self) -> Document:
        return tokenize("".join(self.chunks()), id=self.id)

    def mentions(self, resolver: Resolver) -> Iterator[MentionRecord]:
        stream = resolver.stream()
        for chunk in self.chunks():
            yield from stream.feed(chunk)
        yield from stream.finish()


@dataclass(frozen=True)
class _WordsInput:
    """A document of a corpus, with its own words and sentences."""

    content: Document

    @property
    def id(self) -> str:
        return self.content.id

    @property
    def size(self) -> int | None:
        return len(self.content.text)

    def document(self) -> Document:
        return self.content

    def mentions(self, resolver: Resolver) -> Iterator[MentionRecord]:
        return resolver.mentions(self.content)


def find_inputs(names: list[str], format: str) -> list[Input]:
    """The texts that the names on a command line stand for. A wrong name is reported before the first text is read."""
    found: list[Input] = []
    for name in names:
        for path in _matches(name):
            if format == "text":
                found += _texts(path)
            else:
                found += map(_WordsInput, read_corpus(path, format=format))
    return found


def _matches(name: str) -> list[str]:
    """The name itself, or all files that match it if it is a pattern that the shell did not expand."""
    if name == "-" or not has_magic(name) or Path(name).exists():
        return [name]
    matches = sorted(glob(name, recursive=True))
    if not matches:
        raise InputError("no file matches this pattern", name)
    return matches


def _texts(name: str) -> Iterator[_TextInput]:
    path = Path(name)
    if name == "-" or not path.is_dir():
        text = _TextInput(name)
        if name != "-":
            next(text.chunks(), None)  # raises if the file is unreadable, or not plain text
        yield text
        return
    files = sorted(file for file in path.rglob("*") if file.name.endswith(_TEXT_SUFFIXES) and file.is_file())
    if not files:
        raise InputError(f"this folder contains no text: expected {' or '.join(_TEXT_SUFFIXES)} files", path)
    yield from (_TextInput(str(file)) for file in files)
