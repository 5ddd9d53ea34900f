"""The one way from a file to its text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from longcoref.errors import InputError
from longcoref.extraction.archives import archive_text
from longcoref.extraction.gutenberg import Trimmer
from longcoref.extraction.library import pdf_text, rtf_text
from longcoref.extraction.limits import MOST_BYTES
from longcoref.extraction.markup import declared_encoding, html_text, markdown_text
from longcoref.extraction.subtitles import subtitle_text
from longcoref.formats.registry import FORMATS
from longcoref.formats.source import Source, known_encoding, open_source

_PLAIN_SUFFIXES = (".txt", ".text")
_ARCHIVE = "archive"
_BY_SUFFIX = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".epub": _ARCHIVE,
    ".docx": _ARCHIVE,
    ".rtf": "rtf",
    ".pdf": "pdf",
    ".vtt": "subtitles",
    ".srt": "subtitles",
}
EXTRACTED_SUFFIX = ".source.txt"
"""The ending of a text that was found in a file and written beside its result."""

# What a file begins with says more than its name.
_BY_BEGINNING = (
    (b"%pdf-", "pdf"),
    (b"pk\x03\x04", _ARCHIVE),
    (b"{\\rtf", "rtf"),
    (b"webvtt", "subtitles"),
    (b"<!doctype html", "html"),
    (b"<html", "html"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ALWAYS_RECOGNISED = frozenset((_ARCHIVE, "pdf", "rtf"))
_HEAD = 16384  # bytes: enough to recognise a file; a plain text that was refused has not been read any further


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file.

    `format` is text, html, markdown, epub, docx, rtf, pdf or subtitles. `left_out` counts the characters of Project
    Gutenberg's header and licence that are not part of `text`.
    """

    text: str
    format: str
    left_out: int = 0

    @property
    def is_own(self) -> bool:
        """Whether the text is that of the file, so that offsets in one are offsets in the other."""
        return self.format == "text" and not self.left_out


class TextFile:
    """A file whose text is read in pieces or whole, whatever its format.

    `file` is a path, or an open binary stream whose name is then `name`; its ending helps to recognise the format.
    `encoding` applies to plain text, HTML, Markdown and subtitles; without it, the byte order mark or the page's own
    declaration decides, else the file must be UTF-8. With `keep_all`, Project Gutenberg's header and licence are kept.
    When it has been read, `format` and `left_out` say what was found.
    """

    def __init__(
        self, file: str | Path | BinaryIO, *, name: str = "", encoding: str | None = None, keep_all: bool = False
    ) -> None:
        self._file, self._keep_all = file, keep_all
        self.name = name or (str(file) if isinstance(file, str | Path) else "text")
        self._encoding = None if encoding is None else known_encoding(encoding)
        self.format, self.left_out = "", 0

    @property
    def is_own(self) -> bool:
        """Whether the text that was read is that of the file itself: see `FileText.is_own`."""
        return self.format == "text" and not self.left_out

    def check(self) -> None:
        """Raises an error if the file cannot be read, or obviously contains no text."""
        with self._opened() as source:
            head = source.stream.read(_HEAD)
            if _kind(source, head) == "text":
                next(_plain(source, head, _HEAD), None)

    def read(self) -> FileText:
        """The whole text."""
        text = "".join(self.pieces())
        return FileText(text, self.format, self.left_out)

    def pieces(self, size: int = 65536) -> Iterator[str]:
        """The text in pieces; only plain text is read piece by piece, `size` bytes at a time."""
        self.left_out = 0
        with self._opened() as source:
            pieces = self._pieces(source, size)
            if self._keep_all:
                yield from pieces
                return
            trimmer = Trimmer()
            lines: list[str] = []
            length = 0
            for line in trimmer.trimmed(pieces):
                lines.append(line)
                length += len(line)
                if length >= size:
                    yield "".join(lines)
                    lines, length = [], 0
            if lines:
                yield "".join(lines)
            self.left_out = trimmer.left_out

    @contextmanager
    def _opened(self) -> Iterator[Source]:
        if isinstance(self._file, str | Path):
            with open_source(Path(self._file), encoding=self._encoding) as source:
                yield source
        else:
            yield Source(self.name, self._file, encoding=self._encoding)

    def _pieces(self, source: Source, size: int) -> Iterator[str]:
        head = source.stream.read(_HEAD)
        kind = _kind(source, head)
        if kind == "text":
            self.format = kind
            yield from _plain(source, head, size)
            return
        self.format, text = _extracted(source, kind, head)
        yield text


def read_text(
    file: str | Path | bytes, *, name: str = "", encoding: str | None = None, keep_all: bool = False
) -> FileText:
    """The text of a file, given by its path or its content; the options are those of `TextFile`."""
    content = io.BytesIO(file) if isinstance(file, bytes) else file
    return TextFile(content, name=name, encoding=encoding, keep_all=keep_all).read()


def is_text_file(path: Path) -> bool:
    """Whether a file in a folder is one to read."""
    return is_text_name(path.name) and path.is_file()


def is_text_name(name: str) -> bool:
    """Whether a file of this name is one to read, and not one that was written beside a result."""
    name = name.lower()
    return name.endswith((*_PLAIN_SUFFIXES, *_BY_SUFFIX)) and not name.endswith(EXTRACTED_SUFFIX)


def _kind(source: Source, head: bytes) -> str:
    """What a file is, by its beginning or else by its name."""
    start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(_OLD_OFFICE):
        raise source.error("is an old Office file (.doc): save it as .docx or plain text")
    recognised = next((kind for beginning, kind in _BY_BEGINNING if start.startswith(beginning)), None)
    suffix = Path(source.name).suffix.lower()
    kind = recognised or _BY_SUFFIX.get(suffix, "text")
    if recognised is None and kind in _ALWAYS_RECOGNISED:
        what = "is empty" if not head else f"is not {suffix.removeprefix('.')}"
        raise source.error(f"{what}: it is damaged, or its name has the wrong ending")
    return kind


def _plain(source: Source, head: bytes, size: int) -> Iterator[str]:
    """Plain text; a file in a corpus format is refused, because it would be read as prose, and so is binary data."""
    first = True
    for piece in source.chunks(size, head=head):
        if first:
            name = next((name for name in FORMATS if name != "text" and FORMATS[name].detect(piece, source.name)), None)
            if name is not None:
                raise source.error(
                    f"is in the format {name}, not plain text: to convert its clusters, use longcoref convert; to keep "
                    "the corrections in it, give the text and --corrections FILE; to "
                    f"resolve its text again, use --from {name}"
                )
            first = False
        if "\0" in piece:
            raise source.error("contains null characters: it is not text, or in an encoding that --encoding must name")
        yield piece


def _extracted(source: Source, kind: str, head: bytes) -> tuple[str, str]:
    """The format and the text of a file that is not plain text."""
    if kind in (_ARCHIVE, "pdf"):
        stream = _seekable(source, head)
        return archive_text(source, stream) if kind == _ARCHIVE else (kind, pdf_text(source, stream))
    raw = _bounded(source, head)
    if kind == "html":
        return kind, html_text([source.decode(raw, declared=declared_encoding(raw))])
    if kind == "rtf":
        return kind, rtf_text(source, raw.decode("latin-1"))
    text = source.decode(raw)
    return kind, markdown_text(text) if kind == "markdown" else subtitle_text(text)


def _seekable(source: Source, head: bytes) -> BinaryIO:
    if source.stream.seekable():
        source.stream.seek(0)
        return source.stream
    return io.BytesIO(_bounded(source, head))


def _bounded(source: Source, head: bytes) -> bytes:
    """The whole content of a file, if it is not too large to be parsed."""
    content = head + source.stream.read(MOST_BYTES + 1 - len(head))
    if len(content) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES:,} bytes: convert it to plain text, or split it", source.name)
    return content
