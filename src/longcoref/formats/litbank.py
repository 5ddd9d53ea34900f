"""LitBank: CoNLL-2012 with tabs and an empty last cell; its ten folds; types and kinds from its annotation files.

The corpus is published in two repositories. `lrec2020-coref` has the documents (`data/original/conll/*.conll`) and the
folds (`data/litbank_tenfold_splits/N/{train,dev,test}.ids`); `litbank` has `coref/tsv/*.ann`, where every mention
has an entity type (PER FAC GPE LOC VEH ORG) and a kind (PROP NOM PRON).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from longcoref.clusters import Mention
from longcoref.document import Document
from longcoref.errors import InputError, UsageError, quoted, shortened, unknown_name
from longcoref.formats import conll
from longcoref.formats.build import in_text_order
from longcoref.formats.source import open_source
from longcoref.formats.tables import first_row, one_cell, one_line, write_tables
from longcoref.spans import WordSpan

FOLDS = range(10)
PARTS = ("train", "dev", "test")
_SPLITS = "litbank_tenfold_splits"


def _row(document: Document, number: int, word: str, speaker: str | None) -> list[str]:
    name = "_" if speaker is None else one_cell(speaker)
    return [one_cell(document.id), str(document.part), str(number), word, *"_____", name, *"__"]


LAYOUT = replace(
    conll.LAYOUT,
    name="litbank",
    separator="\t",
    no_mark="",
    begin=lambda document: f"#begin document ({one_line(document.id)}); part {document.part}",
    row=_row,
)

read = conll.read


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes documents one after another."""
    write_tables(documents, stream, LAYOUT)


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of a LitBank file."""
    row = first_row(head, named=True)
    return row is not None and "_" in row[4:-1]


def _data(root: Path) -> Path | None:
    """The folder `data` of a clone of lrec2020-coref, from the clone, its parent, or any folder inside it."""
    places = (root, root / "data", root / "lrec2020-coref" / "data", *root.resolve().parents[:3])
    return next((place for place in places if (place / "original" / "conll").is_dir()), None)


def home(root: Path) -> Path | None:
    """The folder of the documents, from any folder of a clone; None if `root` is not in a clone."""
    data = _data(root)
    return None if data is None else data / "original" / "conll"


def select(root: Path, fold: int | None, part: str) -> list[Path]:
    """The files of one part of one fold."""
    if fold not in FOLDS:
        raise UsageError(f"each fold of LitBank has its own parts: expected a fold from 0 to 9, got {fold}")
    if part not in PARTS:
        raise UsageError(unknown_name("part of LitBank", part, PARTS))
    data = _data(root)
    if data is None or not (data / _SPLITS).is_dir():
        raise InputError(f"no LitBank folds here: expected {_SPLITS} beside original/conll", root)
    files = []
    with open_source(data / _SPLITS / str(fold) / f"{part}.ids") as source:
        for number, line in source.lines():
            if name := line.strip():
                # The lists have the names of the .tsv files from which the documents were made.
                file = data / "original" / "conll" / f"{name.removesuffix('.tsv')}.conll"
                if not file.is_file():
                    raise source.error(f"the document {shortened(name)} is not in {file.parent}", number)
                files.append(file)
    return files


def annotate(document: Document, folder: Path) -> Document:
    """Adds types and kinds from a clone of `litbank`, or its `coref` or `tsv` folder."""
    places = (folder / "litbank" / "coref" / "tsv", folder / "coref" / "tsv", folder / "tsv", folder)
    found = next((place for place in places if (place / f"{document.id}.ann").is_file()), None)
    if found is None:
        raise InputError(
            f"no types for {shortened(document.id)}: expected coref/tsv/{shortened(document.id)}.ann in this folder",
            folder,
        )
    path = found / f"{document.id}.ann"
    labels = dict(_read_labels(path, document))

    def labelled(mention: Mention) -> Mention:
        if mention.span not in labels:
            raise InputError(f"has no mention at the words of {quoted(document.text_of(mention.span))}", path)
        type, kind = labels[mention.span]
        return Mention(mention.span, kind, type)

    clusters = [
        replace(cluster, mentions=tuple(map(labelled, cluster.mentions))) for cluster in document.clusters or ()
    ]
    return document.with_clusters(in_text_order(clusters))


def _read_labels(path: Path, document: Document) -> Iterator[tuple[WordSpan, tuple[str, str]]]:
    """The span, type and kind of every mention. Files count sentences, and words in them; the end is inclusive."""
    with open_source(path) as source:
        for number, line in source.lines():
            cells = line.split("\t")
            if cells[0] != "MENTION":
                continue
            try:
                first_sentence, first, last_sentence, last = map(int, cells[2:6])
                type, kind = cells[7:9]
                span = WordSpan(
                    document.sentences[first_sentence].start + first, document.sentences[last_sentence].start + last + 1
                )
            except (ValueError, IndexError) as error:
                message = "expected MENTION, id, sentence, word, sentence, word, text, type and kind of a word span"
                raise source.error(message, number) from error
            yield span, (type, kind)
