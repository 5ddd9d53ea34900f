"""The inputs of `longcoref resolve`: files, folders, patterns, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Protocol

from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.extraction import TextFile, is_text_file
from longcoref.formats import read_corpus
from longcoref.mention import MentionRecord
from longcoref.resolver import Resolver
from longcoref.text import tokenize

_CHUNK = 65536  # characters read together: enough windows for all threads, and no more
_STANDARD_INPUT = "-"


class Input(Protocol):
    """One text to be resolved."""

    @property
    def id(self) -> str:
        """Its name in the output."""

    @property
    def size(self) -> int | None:
        """An upper estimate of its length in characters, if that is known before reading."""

    @property
    def file(self) -> TextFile | None:
        """The file, if its text had to be found in it: once it was read, it says what is not part of the text."""

    def document(self) -> Document:
        """The whole text."""

    def mentions(self, resolver: Resolver, *, check: Callable[[Sequence[str]], None]) -> Iterator[MentionRecord]:
        """Its mentions with their decisions; the whole text is not held in memory if that can be avoided.

        `check` is called with the first words of the text.
        """


@dataclass(frozen=True)
class _TextInput:
    """A file with text, or standard input; plain text is read in pieces."""

    path: str
    file: TextFile
    id: str

    @property
    def size(self) -> int | None:
        return None if self.path == _STANDARD_INPUT else Path(self.path).stat().st_size

    def document(self) -> Document:
        return tokenize("".join(self.file.pieces()), id=self.id)

    def mentions(self, resolver: Resolver, *, check: Callable[[Sequence[str]], None]) -> Iterator[MentionRecord]:
        stream = resolver.stream()
        checked = False
        for chunk in self.file.pieces(_CHUNK):
            if not checked:
                check(tokenize(chunk).words)
                checked = True
            yield from stream.decided(chunk)
        if not checked:
            check(())
        yield from stream.finish()


@dataclass(frozen=True)
class _WordsInput:
    """A document of a corpus, with its own words and sentences."""

    content: Document
    file: None = None

    @property
    def id(self) -> str:
        return self.content.id

    @property
    def size(self) -> int | None:
        return len(self.content.text)

    def document(self) -> Document:
        return self.content

    def mentions(self, resolver: Resolver, *, check: Callable[[Sequence[str]], None]) -> Iterator[MentionRecord]:
        check(self.content.words)
        return resolver.mentions(self.content)


def find_inputs(names: list[str], format: str, *, encoding: str | None = None, keep_all: bool = False) -> list[Input]:
    """The texts that the names on a command line stand for. A wrong name is reported before the first text is read.

    `encoding` and `keep_all` are those of `TextFile`.
    """
    found: list[Input] = []
    for name in names:
        for path in _matches(name):
            if format == "text":
                found += _texts(path, encoding=encoding, keep_all=keep_all)
            else:
                found += map(_WordsInput, read_corpus(path, format=format))
    return found


def _matches(name: str) -> list[str]:
    """The name itself, or all files that match it if it is a pattern that the shell did not expand."""
    if name == _STANDARD_INPUT or not has_magic(name) or Path(name).exists():
        return [name]
    matches = sorted(glob(name, recursive=True))
    if not matches:
        raise InputError("no file matches this pattern", name)
    return matches


def _texts(name: str, *, encoding: str | None, keep_all: bool) -> Iterator[_TextInput]:
    path = Path(name)
    if name == _STANDARD_INPUT:
        yield _TextInput(name, TextFile(sys.stdin.buffer, name="stdin", encoding=encoding, keep_all=keep_all), "stdin")
        return
    if not path.is_dir():
        text = _TextInput(name, TextFile(path, encoding=encoding, keep_all=keep_all), path.stem)
        text.file.check()
        yield text
        return
    files = sorted(filter(is_text_file, path.rglob("*")))
    if not files:
        raise InputError(
            "this folder contains no text: expected .txt, .html, .md, .epub, .docx, .rtf or .pdf files", path
        )
    for file in files:
        id = file.relative_to(path).with_suffix("").as_posix()  # files of one name in two subfolders are two texts
        yield _TextInput(str(file), TextFile(file, encoding=encoding, keep_all=keep_all), id)
