"""The list of formats, and the detection of the format of a file.

To add a format, write a module with `read`, `write` and `detect` (brackets.py, tables.py and records.py contain what
the formats share; `build_document` makes the document) and list it here. At most one `detect` may return True for a
file. Of formats with the same suffix, the first one is used for writing. Once the format has an example in
tests/format_examples.py, the tests of round trips and damaged files and the fuzzer include it.
"""

from __future__ import annotations

import os
from pathlib import Path

from longcoref.errors import InputError, UsageError, quoted, unknown_name
from longcoref.formats import conll, corefud, json, jsonlines, litbank, ontogum, text
from longcoref.formats.format import Corpus, Format
from longcoref.formats.source import open_source

_EVERYTHING = frozenset({"clusters", "kinds", "types", "speakers", "genre", "part", "sentences"})
# Enough for a header and the first row, or the first keys of a JSON object.
_HEAD = 65536

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            name="conll",
            description="CoNLL-2012, the format of OntoNotes and the official scorer",
            suffixes=(".conll", "_gold_conll"),
            holds=frozenset({"clusters", "speakers", "part", "sentences"}),
            detect=conll.detect,
            read=conll.read,
            write=conll.write,
        ),
        Format(
            name="litbank",
            description="LitBank's CoNLL: tabs, and empty cells where no mention begins or ends",
            suffixes=(".conll",),
            holds=frozenset({"clusters", "speakers", "part", "sentences"}),
            detect=litbank.detect,
            read=litbank.read,
            write=litbank.write,
            corpus=Corpus(litbank.home, litbank.select, litbank.annotate),
        ),
        Format(
            name="ontogum",
            description="OntoGUM: three columns, no sentence breaks, one document per file",
            suffixes=(".conll",),
            holds=frozenset({"clusters"}),
            detect=ontogum.detect,
            read=ontogum.read,
            write=ontogum.write,
            named=False,
            corpus=Corpus(ontogum.home, ontogum.select),
        ),
        Format(
            name="json",
            description="our own JSON, which keeps everything",
            suffixes=(".json",),
            holds=_EVERYTHING,
            detect=json.detect,
            read=json.read,
            write=json.write,
        ),
        Format(
            name="jsonl",
            description="our own JSON, one document per line",
            suffixes=(".jsonl",),
            holds=_EVERYTHING,
            detect=json.detect_lines,
            read=json.read_lines,
            write=json.write_lines,
        ),
        Format(
            name="jsonlines",
            description="the jsonlines of the coreference literature",
            suffixes=(".jsonlines", ".jsonl"),
            holds=frozenset({"clusters", "speakers", "part", "sentences"}),
            detect=jsonlines.detect,
            read=jsonlines.read,
            write=jsonlines.write,
        ),
        Format(
            name="corefud",
            description="CorefUD: CoNLL-U with Entity= in the last column",
            suffixes=(".conllu",),
            holds=frozenset({"clusters", "kinds", "types", "part", "sentences"}),
            detect=corefud.detect,
            read=corefud.read,
            write=corefud.write,
        ),
        Format(
            name="text",
            description="plain text, one document per file",
            suffixes=(".txt", ".text"),
            holds=frozenset(),
            detect=text.detect,
            read=text.read,
            write=text.write,
            named=False,
        ),
    )
}


def find_format(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise UsageError(unknown_name("format", name, FORMATS))
    return FORMATS[name]


def is_folder(path: str | Path) -> bool:
    """Whether to write a folder with a file per document: `path` is one, or ends in a slash."""
    return str(path).endswith(("/", os.sep)) or Path(path).is_dir()


def format_to_write(path: str | Path, name: str | None) -> Format:
    """The format of this name or, without a name, of the suffix of `path`."""
    if name is not None:
        return find_format(name)
    if not is_folder(path):
        for format in FORMATS.values():
            if str(path).endswith(format.suffixes):
                return format
    suffixes = sorted({format.suffixes[0] for format in FORMATS.values()})
    raise UsageError(
        f"{path}: unknown suffix; end the name in {', '.join(suffixes)}, or name one of {', '.join(FORMATS)}"
    )


def detect_head(head: bytes, name: str) -> Format:
    """The format of a file that begins with `head`."""
    start = head[:_HEAD].decode("utf-8-sig", errors="replace")
    for format in FORMATS.values():
        if format.detect(start, name):
            return format
    what = f"it begins with {quoted(start)}" if start.strip() else "it is empty"
    raise InputError(f"unknown format: {what}; choose one of {', '.join(FORMATS)}", name)


def detect_format(path: Path) -> Format:
    """The format of a file, of the files in a folder, or of the clone of a published corpus."""
    if not path.is_dir():
        with open_source(path) as source:
            return detect_head(source.stream.read(_HEAD), str(path))
    corpora = [format for format in FORMATS.values() if format.corpus is not None and format.corpus.home(path)]
    if not corpora:
        firsts: dict[str, Path] = {}
        for file in sorted(path.rglob("*")):
            suffix = next((s for format in FORMATS.values() for s in format.suffixes if file.name.endswith(s)), None)
            if suffix is not None and file.is_file():
                firsts.setdefault(suffix, file)
        if not firsts:
            raise InputError("no file of a known format in this folder", path)
        found = {format.name: format for format in map(detect_format, firsts.values())}
        # A README.txt beside the corpus does not make it a folder of plain text.
        corpora = [format for format in found.values() if format.name != "text"] or list(found.values())
    if len(corpora) > 1:
        names = " and ".join(format.name for format in corpora)
        raise InputError(f"contains {names}: choose a format, or give the folder of one of them", path)
    return corpora[0]
