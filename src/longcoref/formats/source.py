"""An opened input file: decodes it line by line, and its errors name file and line.

The encoding is what the caller says, else that of the byte order mark, else UTF-8. It is never guessed.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from longcoref.errors import InputError, UsageError, quoted

_DEFAULT = "utf-8-sig"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def known_encoding(name: str) -> str:
    """The name of an encoding of text that Python knows."""
    try:
        "a".encode(name)  # an empty string is encoded by any name
    except (LookupError, ValueError) as error:
        raise UsageError(f"unknown encoding {quoted(name)}: use a name such as cp1252, latin-1 or utf-16") from error
    return _DEFAULT if codecs.lookup(name).name == "utf-8" else name


@dataclass(frozen=True, slots=True)
class Source:
    """A binary stream and its name in messages.

    `size` is the length of the stream in bytes if it is known; that the stream ends before is an error. `encoding` is
    one that the caller knows (see `known_encoding`); it does not apply to `lines`, which are UTF-8.
    """

    name: str
    stream: BinaryIO
    size: int = 0
    encoding: str | None = None

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
        return self.decode(raw)

    def chunks(self, size: int = 65536, *, head: bytes = b"") -> Iterator[str]:
        """The text in pieces, with its line breaks as they are: for files that do not fit in memory.

        `head` is what was read of the stream before.
        """
        raw = head or self.stream.read(size)
        encoding = self._encoding(raw)
        decoder = codecs.getincrementaldecoder(encoding)()
        line, read = 1, 0
        while True:
            read += len(raw)
            text = self._decoded(partial(decoder.decode, raw, not raw), encoding, line)
            if not raw:
                return self._check_size(read)
            line += text.count("\n")
            yield text
            raw = self.stream.read(size)

    def decode(self, raw: bytes, *, declared: str | None = None) -> str:
        """Content of this file as text; `declared` is the encoding that the content itself names."""
        encoding = self._encoding(raw, declared)
        return self._decoded(partial(raw.decode, encoding), encoding, 1)

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error about this input."""
        return InputError(message, self.name, line)

    def _check_size(self, read: int) -> None:
        if read < self.size:
            raise self.error(f"ends after {read} of {self.size} bytes: it was cut while it was being read")

    def _encoding(self, raw: bytes, declared: str | None = None) -> str:
        marked = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), None)
        return self.encoding or marked or declared or _DEFAULT

    def _decoded(self, decode: Callable[[], str], encoding: str, line: int) -> str:
        """The result of decoding; an error names the line, given the number of the first one."""
        try:
            return decode()
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            place = "" if error.start >= len(error.object) else f"byte {error.object[error.start]:#04x} "
            if encoding == _DEFAULT:
                message = f"{place}is not UTF-8; give its encoding (--encoding cp1252), or convert the file to UTF-8"
            else:
                message = f"{place}is not {encoding}; give the right --encoding"
            raise self.error(message, line) from error

    def _decode(self, raw: bytes, line: int) -> str:
        return self._decoded(partial(raw.decode, "utf-8"), _DEFAULT, line)


@contextmanager
def open_source(path: Path, *, encoding: str | None = None) -> Iterator[Source]:
    """Opens a file for reading; raises an error that says why this is not possible."""
    try:
        stream = path.open("rb")
        status = os.fstat(stream.fileno())
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", path) from error
    with stream:
        yield Source(str(path), stream, status.st_size if stat.S_ISREG(status.st_mode) else 0, encoding)
