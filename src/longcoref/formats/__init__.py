"""File formats for documents with coreference, one module each; `FORMATS` lists them.

`read_corpus` reads a file, a folder or a part of a known corpus; `write_corpus` writes a file or a folder.
"""

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
