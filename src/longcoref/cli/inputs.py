"""What a command is given to read: files, folders, patterns, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Protocol

from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.formats import read_corpus
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
        """About how many characters it has, never too few, where that is known before reading."""

    def document(self) -> Document:
        """The whole of it."""

    def mentions(self, resolver: Resolver) -> Iterator[MentionRecord]:
        """Its mentions with their decisions, without holding the whole of it where that can be avoided."""


@dataclass(frozen=True)
class _TextInput:
    """A text file, or standard input, read in pieces."""

    path: str

    @property
    def id(self) -> str:
        return "stdin" if self.path == "-" else Path(self.path).stem

    @property
    def size(self) -> int | None:
        return None if self.path == "-" else Path(self.path).stat().st_size

    def _chunks(self) -> Iterator[str]:
        if self.path == "-":
            yield from Source("stdin", sys.stdin.buffer).chunks(_CHUNK)
        else:
            with open_source(Path(self.path)) as source:
                yield from source.chunks(_CHUNK)

    def document(self) -> Document:
        return tokenize("".join(self._chunks()), id=self.id)

    def mentions(self, resolver: Resolver) -> Iterator[MentionRecord]:
        stream = resolver.stream()
        for chunk in self._chunks():
            yield from stream.feed(chunk)
        yield from stream.finish()


@dataclass(frozen=True)
class _WordsInput:
    """A document of a corpus, with words and sentences of its own."""

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
    """The texts behind the names on a command line. A mistyped name is found before the first text is read."""
    found: list[Input] = []
    for name in names:
        for path in _matches(name):
            if format == "text":
                found += _texts(path)
            else:
                found += map(_WordsInput, read_corpus(path, format=format))
    return found


def _matches(name: str) -> list[str]:
    """What a name stands for: itself, or all files that a pattern fits which no shell has replaced."""
    if name == "-" or not has_magic(name) or Path(name).exists():
        return [name]
    matches = sorted(glob(name, recursive=True))
    if not matches:
        raise InputError("no file fits this pattern", name)
    return matches


def _texts(name: str) -> Iterator[_TextInput]:
    path = Path(name)
    if name == "-" or not path.is_dir():
        if name != "-":
            with open_source(path):  # can it be read at all?
                pass
        yield _TextInput(name)
        return
    files = sorted(file for file in path.rglob("*") if file.name.endswith(_TEXT_SUFFIXES) and file.is_file())
    if not files:
        raise InputError(f"no text in this folder: expected {' or '.join(_TEXT_SUFFIXES)}", path)
    yield from (_TextInput(str(file)) for file in files)
