"""An opened input file: decodes it line by line, and its errors name file and line."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from longcoref.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A binary stream and its name in messages. UTF-8, with or without a byte order mark.

    `size` is the length of the stream in bytes if it is known; that the stream ends before is an error.
    """

    name: str
    stream: BinaryIO
    size: int = 0

    @property
    def stem(self) -> str:
        """The file name without its last suffix: the id of a document if the file contains none."""
        return Path(self.name).stem

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, counted from 1, without their LF or CRLF.

        Bytes are split before they are decoded: `str.splitlines` would also split at characters that occur inside
        words of real corpora (U+0085, U+2028).
        """
        read = 0
        for number, raw in enumerate(self.stream, 1):
            read += len(raw)
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            yield number, self._decode(raw.removesuffix(b"\n").removesuffix(b"\r"), number)
        self._check_size(read)

    def text(self) -> str:
        """The whole text, with its line breaks as they are."""
        raw = self.stream.read()
        self._check_size(len(raw))
        return self._decode(raw.removeprefix(codecs.BOM_UTF8), 1)

    def chunks(self, size: int = 65536) -> Iterator[str]:
        """The text in pieces, with its line breaks as they are: for files that do not fit in memory."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        line, read = 1, 0
        while True:
            raw = self.stream.read(size)
            read += len(raw)
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                message = f"byte {error.object[error.start]:#04x} is not UTF-8; convert the file to UTF-8 first"
                raise self.error(message, line) from error
            if not raw:
                return self._check_size(read)
            line += text.count("\n")
            yield text

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error about this input."""
        return InputError(message, self.name, line)

    def _check_size(self, read: int) -> None:
        if read < self.size:
            raise self.error(f"ends after {read} of {self.size} bytes: it was cut while it was being read")

    def _decode(self, raw: bytes, line: int) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line += raw.count(b"\n", 0, error.start)
            message = f"byte {raw[error.start]:#04x} is not UTF-8; convert the file to UTF-8 first"
            raise self.error(message, line) from error


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Opens a file for reading; raises an error that says why this is not possible."""
    try:
        stream = path.open("rb")
        status = os.fstat(stream.fileno())
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", path) from error
    with stream:
        yield Source(str(path), stream, status.st_size if stat.S_ISREG(status.st_mode) else 0)
