"""The text of epub and docx: zip archives of markup.

Both are read with `html.parser`, which expands no entities but those of characters, so a hostile file cannot grow. Only
the parts with text are unpacked.
"""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import BinaryIO
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from longcoref.errors import InputError, quoted
from longcoref.extraction.limits import MOST_BYTES
from longcoref.extraction.markup import Attributes, TextBuilder, declared_encoding, html_text
from longcoref.formats.source import Source

_CONTAINER, _ENCRYPTION, _WORD = "META-INF/container.xml", "META-INF/encryption.xml", "word/document.xml"
_DAMAGED = (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)


class _Archive:
    """A zip archive of which only a bounded number of bytes is unpacked."""

    def __init__(self, archive: ZipFile, source: Source) -> None:
        self._archive, self._source = archive, source
        self._left = MOST_BYTES
        self.names = frozenset(archive.namelist())

    def text(self, name: str) -> str:
        """A member of the archive, decoded."""
        if name not in self.names:
            raise self._source.error(f"is incomplete: it contains no {quoted(name)}")
        with self._archive.open(name) as member:
            data = member.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise self._source.error(f"contains more than {MOST_BYTES:,} bytes of text: split it into smaller files")
        return self._source.decode(data, declared=declared_encoding(data))


@contextmanager
def _opened(source: Source, stream: BinaryIO) -> Iterator[_Archive]:
    try:
        with ZipFile(stream) as archive:
            yield _Archive(archive, source)
    except InputError:
        raise
    except _DAMAGED as error:
        raise source.error(f"is a damaged or encrypted archive: {error}") from error


def archive_text(source: Source, stream: BinaryIO) -> tuple[str, str]:
    """The format and the text of an epub or docx file, told apart by what the archive contains."""
    with _opened(source, stream) as archive:
        if _CONTAINER in archive.names:
            return "epub", html_text(_spine(archive, source))
        if _WORD in archive.names:
            return "docx", _word_text(archive.text(_WORD))
    raise source.error("is an archive, but neither epub nor docx: unpack it first")


class _Elements(HTMLParser):
    """Calls a function for every element of an XML file."""

    def __init__(self, found: Callable[[str, dict[str, str]], None]) -> None:
        super().__init__()
        self._found = found

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self._found(tag.rpartition(":")[2], {name: value or "" for name, value in attrs})


def _elements(xml: str, *names: str) -> list[dict[str, str]]:
    """The attributes of the elements with these names, in order."""
    found: list[dict[str, str]] = []
    parser = _Elements(lambda name, attributes: found.append(attributes) if name in names else None)
    parser.feed(xml)
    parser.close()
    return found


def _spine(archive: _Archive, source: Source) -> Iterator[str]:
    """The pages of a book in reading order, without its table of contents."""
    package = next((root.get("full-path", "") for root in _elements(archive.text(_CONTAINER), "rootfile")), "")
    described = archive.text(package)
    items = {item.get("id"): item for item in _elements(described, "item")}
    encrypted = {unquote(place.get("uri", "")) for place in _cipher_references(archive)}
    pages = [items[place["idref"]] for place in _elements(described, "itemref") if place.get("idref") in items]
    if not pages:
        raise source.error("is not an epub that can be read: its package lists no pages")
    for page in pages:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(page.get("href", ""))))
        if name in encrypted:
            raise source.error("is encrypted (DRM): only a copy without copy protection can be read")
        if "nav" not in page.get("properties", "").split() and "html" in page.get("media-type", "html"):
            yield archive.text(name)


def _cipher_references(archive: _Archive) -> list[dict[str, str]]:
    return _elements(archive.text(_ENCRYPTION), "cipherreference") if _ENCRYPTION in archive.names else []


class _Word(HTMLParser):
    """Collects the text of a Word document; deleted text and fallbacks of drawings are not in `w:t`, or skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = TextBuilder()
        self._in_text = False
        self._fallbacks = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "mc:fallback":
            self._fallbacks += 1
        elif tag == "w:t":
            self._in_text = not self._fallbacks
        elif tag == "w:p":
            self.builder.paragraph()
        elif tag == "w:tab":
            self.builder.tab()
        elif tag in ("w:br", "w:cr"):
            self.builder.line_break()
        elif tag == "w:nobreakhyphen":
            self.builder.add_verbatim("-")

    def handle_endtag(self, tag: str) -> None:
        if tag == "mc:fallback":
            self._fallbacks -= 1
        elif tag == "w:t":
            self._in_text = False
        elif tag == "w:p":
            self.builder.paragraph()

    def handle_data(self, data: str) -> None:
        if self._in_text:
            self.builder.add(data)


def _word_text(xml: str) -> str:
    parser = _Word()
    parser.feed(xml)
    parser.close()
    return parser.builder.text()
