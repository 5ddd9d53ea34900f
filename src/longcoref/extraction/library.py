"""The text of RTF and PDF, by libraries of the extra `[files]`."""

from __future__ import annotations

import logging
import re
from typing import Any, BinaryIO

from longcoref.errors import InputError, optional_module, shortened
from longcoref.extraction.limits import MOST_BYTES
from longcoref.formats.source import Source

_HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad]\n(?=[a-z])")


def rtf_text(source: Source, text: str) -> str:
    """The text of an RTF file; each of its lines is a paragraph."""
    striprtf: Any = optional_module("striprtf.striprtf", extra="files", needed_for="reading RTF")
    try:
        plain: str = striprtf.rtf_to_text(text)
    except Exception as error:  # whatever the library makes of a damaged file
        raise source.error(f"is not RTF that can be read: {shortened(str(error))}") from error
    return "\n\n".join(line.strip() for line in plain.splitlines() if line.strip()) + "\n"


def pdf_text(source: Source, stream: BinaryIO) -> str:
    """The text of a PDF, page by page; words that are hyphenated at the end of a line are joined."""
    pypdf: Any = optional_module("pypdf", extra="files", needed_for="reading PDF")
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # it reports what it repairs
    pages: list[str] = []
    left = MOST_BYTES
    try:
        reader = pypdf.PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            raise source.error("is encrypted: save a copy that needs no password")
        for page in reader.pages:
            pages.append(page.extract_text())
            left -= len(pages[-1])
            if left < 0:
                raise source.error(f"contains more than {MOST_BYTES:,} characters: split it into smaller files")
    except InputError:
        raise
    except Exception as error:  # whatever the library makes of a damaged file
        raise source.error(f"is not a PDF that can be read: {shortened(str(error))}") from error
    text = _HYPHENATED.sub("", "\n".join(pages))
    if not text.strip():
        raise source.error("contains no text: if it is a scan, recognise its text first (OCR)")
    return text
