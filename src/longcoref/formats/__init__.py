"""File formats for documents with coreference, one module each; `FORMATS` lists them.

`read_corpus` reads a file, a folder or a part of a known corpus; `write_corpus` writes a file or a folder.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longcoref.formats.corpus import left_out, read_corpus, write_corpus, write_stream
    from longcoref.formats.format import Corpus, Format
    from longcoref.formats.parts import find_data, read_extra, read_part
    from longcoref.formats.registry import FORMATS, detect_format, find_format, format_to_write

__all__ = [
    "FORMATS",
    "Corpus",
    "Format",
    "detect_format",
    "find_data",
    "find_format",
    "format_to_write",
    "left_out",
    "read_corpus",
    "read_extra",
    "read_part",
    "write_corpus",
    "write_stream",
]

# Imported on first use: a result needs our own JSON only, and the other formats would delay the first one.
_LAZY = {
    "corpus": ("left_out", "read_corpus", "write_corpus", "write_stream"),
    "format": ("Corpus", "Format"),
    "parts": ("find_data", "read_extra", "read_part"),
    "registry": ("FORMATS", "detect_format", "find_format", "format_to_write"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LAZY.items():
        if name in names:
            return getattr(importlib.import_module(f"longcoref.formats.{module}"), name)
    raise AttributeError(f"module 'longcoref.formats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
