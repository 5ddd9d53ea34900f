"""`longcoref convert`: convert documents and results between file formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Annotated

import typer

from longcoref.cli.options import (
    FoldOption,
    FromOption,
    MaxDistanceOption,
    MinScoreOption,
    PartOption,
    TypesDataOption,
)
from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.files import atomic_text, atomic_texts
from longcoref.formats import FORMATS, format_to_write, left_out, write_stream
from longcoref.formats.corpus import check_new, file_name, open_corpus, read_sources
from longcoref.formats.json import RECORD_READERS, SCHEMA, document_of_record, object_line, write_objects
from longcoref.formats.records import Record
from longcoref.formats.registry import is_folder
from longcoref.formats.source import Source
from longcoref.render.outputs import GROUPS, OUTPUTS, Resolved, chosen_formats
from longcoref.render.resolved import Replacing
from longcoref.result import Result

_OTHERS = [name for name in (*OUTPUTS, *GROUPS) if name not in FORMATS]  # formats of results


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File, folder, or - for standard input.", show_default=False)
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="File, folder (with a trailing /) for one file per document, or - for standard output.",
            show_default=False,
        ),
    ],
    source_format: FromOption = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT,...",
            help=f"Output format: {', '.join([*FORMATS, *_OTHERS])}; several, separated by commas, need a folder. By "
            "default chosen by the extension of OUT.",
            autocompletion=lambda: [*FORMATS, *_OTHERS],
        ),
    ] = None,
    fold: FoldOption = None,
    part: PartOption = None,
    types_data: TypesDataOption = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Drop unbalanced brackets with a warning instead of failing.")
    ] = False,
    min_score: MinScoreOption = 0.0,
    max_distance: MaxDistanceOption = None,
) -> None:
    """Convert documents and results between file formats.

    Results, such as JSON corrected in the reader page, can become every
    output of `longcoref resolve`.

    Examples:
      longcoref convert corrected.json novel.html
      longcoref convert corrected.json out/ --to html,csv,booknlp,graph
      longcoref convert story.json story.conll
      longcoref convert lrec2020-coref dev.jsonlines --fold 0 --part dev
      cat story.json | longcoref convert - story.conllu

    """
    formats = _chosen(target_format, target)
    chosen, sources = open_corpus(source, format=source_format, fold=fold, part=part)
    if chosen.name in RECORD_READERS:
        items = _recorded(sources, RECORD_READERS[chosen.name])
    else:
        items = map(_annotated, read_sources(chosen, sources, types=types_data, lenient=lenient))
    writing = _Writing(Replacing(min_score=min_score, max_distance=max_distance), {})
    if is_folder(target):
        writing.write_folder(items, Path(target), formats)
    elif len(formats) > 1:
        raise UsageError(f"{len(formats)} formats need {len(formats)} files: write them into a folder (OUT/)")
    elif target == "-":
        writing.write(items, typer.get_text_stream("stdout", encoding="utf-8"), formats[0])
    else:
        with atomic_text(target) as stream:
            writing.write(items, stream, formats[0])
    for format, lost in writing.lost.items():
        typer.echo(f"longcoref: {format} cannot represent {', '.join(sorted(lost))}: dropped", err=True)


def _chosen(names: str | None, target: str) -> list[str]:
    """The formats in `--to` or, without it, the one for the ending of `target`."""
    if names is not None:
        return chosen_formats(names, target)
    fitting = [name for name in OUTPUTS if name not in FORMATS and target.endswith(OUTPUTS[name].suffix)]
    if fitting and not is_folder(target):
        return [max(fitting, key=lambda name: len(OUTPUTS[name].suffix))]
    return [format_to_write(target, None).name]


@dataclass(frozen=True, slots=True)
class _Item:
    """A document of the input, the result that it is or describes, and its record if it is in our JSON."""

    document: Document
    result: Callable[[], Result]
    record: Record | None = None


def _annotated(document: Document) -> _Item:
    return _Item(document, partial(Result.from_document, document))


def _recorded(sources: Iterable[Source], read: Callable[[Source], Iterator[Record]]) -> Iterator[_Item]:
    seen: dict[tuple[str, int], str] = {}
    for source in sources:
        empty = True
        for record in read(source):
            empty = False
            document = document_of_record(record)
            check_new(document, source, record.line, seen)
            yield _Item(document, partial(Result.from_record, record, document), record)
        if empty:
            raise source.error("no document in this file")


def _object(item: _Item) -> str:
    """An item as one line of our JSON; what was our JSON stays as it is."""
    if item.record is None:
        return object_line(item.document)
    return json.dumps({"schema": SCHEMA, "id": item.document.id, **item.record.values}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes documents; `lost` has, by format, what could not be represented."""

    replacing: Replacing
    lost: dict[str, set[str]]

    def write(self, items: Iterable[_Item], stream: IO[str], format: str) -> None:
        """Writes all documents to one stream."""
        if format not in FORMATS:
            results = (item.result() for item in items)
            OUTPUTS[format].write((Resolved(one.id, one, replacing=self.replacing) for one in results), stream)
        elif format in RECORD_READERS:
            objects = map(_object, items)
            if format == "json":
                write_objects(((one,) for one in objects), stream)
            else:
                stream.writelines(f"{one}\n" for one in objects)
        else:
            write_stream((self._watched(item, format) for item in items), stream, format)

    def write_folder(self, items: Iterable[_Item], folder: Path, formats: Iterable[str]) -> None:
        """Writes a file for each document and format; all of them appear when the last one is complete."""
        names: set[str] = set()
        with atomic_texts(folder) as opened:
            for item in items:
                for format in formats:
                    suffix = FORMATS[format].suffixes[0] if format in FORMATS else OUTPUTS[format].suffix
                    name = file_name(item.document) + suffix
                    if name in names:
                        raise UsageError(f"two files would be written to {folder / name}; write one file instead")
                    names.add(name)
                    with opened(name) as stream:
                        self.write([item], stream, format)

    def _watched(self, item: _Item, format: str) -> Document:
        """The document of an item; what it has and the format cannot store is noted."""
        lost = set(left_out(item.document, format))
        if item.record is not None:
            lost |= {key for key in ("quotes", "corrections") if item.record.get(key)}
        if lost:
            self.lost.setdefault(format, set()).update(lost)
        return item.document
