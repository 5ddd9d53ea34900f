"""One opened input file: decoded line by line, with every complaint naming file and line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from longcoref.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A binary stream and the name it has in messages. UTF-8, with or without a byte order mark."""

    name: str
    stream: BinaryIO

    @property
    def stem(self) -> str:
        """The file name without its last suffix: the id of a document whose file does not name it."""
        return Path(self.name).stem

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, counted from 1, without their LF or CRLF.

        Bytes are split before they are decoded: `str.splitlines` would also split at characters that
        stand inside words of real corpora (U+0085, U+2028).
        """
        for number, raw in enumerate(self.stream, 1):
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            yield number, self._decode(raw.removesuffix(b"\n").removesuffix(b"\r"), number)

    def text(self) -> str:
        """The whole text, line ends untouched."""
        return self._decode(self.stream.read().removeprefix(codecs.BOM_UTF8), 1)

    def chunks(self, size: int = 65536) -> Iterator[str]:
        """The text in pieces, line ends untouched: for files that are too long to be in memory as a whole."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        line = 1
        while True:
            raw = self.stream.read(size)
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                message = f"byte {error.object[error.start]:#04x} is not UTF-8; convert the file to UTF-8 first"
                raise self.error(message, line) from error
            if not raw:
                return
            line += text.count("\n")
            yield text

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error about this input."""
        return InputError(message, self.name, line)

    def _decode(self, raw: bytes, line: int) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line += raw.count(b"\n", 0, error.start)
            message = f"byte {raw[error.start]:#04x} is not UTF-8; convert the file to UTF-8 first"
            raise self.error(message, line) from error


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Opens a file for reading, or says why that fails."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", path) from error
    with stream:
        yield Source(str(path), stream)
