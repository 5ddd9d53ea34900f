"""OntoGUM: three columns (number, word, coreference), one unnamed document per file, and no sentence breaks.

Id and genre come from the file name, sentences from a rule, parts from `splits.md` of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from longcoref.document import Document
from longcoref.errors import InputError, UsageError, shortened, unknown_name
from longcoref.formats.build import build_document, genre_of
from longcoref.formats.source import Source, open_source
from longcoref.formats.tables import Layout, first_row, read_tables, write_tables
from longcoref.text.of_words import split_words_into_sentences

PARTS = ("train", "dev", "test", "test2")
# Listed in splits.md, but a clone does not contain their words, which have to be downloaded separately.
_WITHHELD_GENRES = frozenset({"reddit"})

LAYOUT = Layout(
    name="ontogum",
    columns=3,
    exact=True,
    word=1,
    speaker=None,
    separator="\t",
    mark_separator="",
    no_mark="_",
    break_sentences=False,
    begin=lambda document: "# begin document ",
    end="# end document",
    row=lambda document, number, word, speaker: [str(number), word],
)


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The document of a file, with its first line."""
    for table in read_tables(source, LAYOUT, lenient=lenient):
        words = [word for sentence in table.sentences for word in sentence]
        document = build_document(
            source,
            table.line,
            id=table.id or source.stem,
            sentences=split_words_into_sentences(words),
            clusters=table.clusters,
        )
        yield table.line, document


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes documents; a file cannot store an id, so it should hold one document."""
    write_tables(documents, stream, LAYOUT)


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of an OntoGUM file."""
    row = first_row(head, named=False)
    return row is not None and (not row or (len(row) == LAYOUT.columns and row[0].isdecimal()))


def home(root: Path) -> Path | None:
    """The folder of the documents, from any folder of a clone; None if `root` is not in a clone."""
    clone = _clone(root)
    return None if clone is None else clone / "coref" / "ontogum" / "conll"


def select(root: Path, fold: int | None, part: str) -> list[Path]:
    """The files of one part."""
    if fold is not None:
        raise UsageError("OntoGUM has parts but no folds")
    if part not in PARTS:
        raise UsageError(unknown_name("part of OntoGUM", part, PARTS))
    clone = _clone(root)
    if clone is None or not (clone / "splits.md").is_file():
        raise InputError("no OntoGUM parts here: expected splits.md beside coref/ontogum/conll", root)
    files, heading = [], ""
    with open_source(clone / "splits.md") as source:
        for number, line in source.lines():
            if line.startswith("## "):
                heading = line[3:].strip()
            elif heading == part and (item := re.fullmatch(r"\s*[*-]\s+(\S+)\s*", line)):
                file = clone / "coref" / "ontogum" / "conll" / f"{item[1]}.conll"
                if file.is_file():
                    files.append(file)
                elif genre_of(item[1]) not in _WITHHELD_GENRES:
                    raise source.error(f"the document {shortened(item[1])} is not in {file.parent}", number)
    return files


def _clone(root: Path) -> Path | None:
    """A clone of gum, from the clone, its parent, or any folder inside it."""
    places = (root, root / "gum", *root.resolve().parents[:3])
    return next((place for place in places if (place / "coref" / "ontogum" / "conll").is_dir()), None)
