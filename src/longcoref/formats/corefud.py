"""CorefUD: CoNLL-U with `Entity=` in the last column. docs/formats.md says why we do not use udapi.

Words are the syntactic words; a mention that consists of empty nodes has no words and is ignored. Types are kept;
kinds are stored in the field `other`. A discontinuous mention is an error or, when lenient, reduced to its first part.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, NamedTuple
from urllib.parse import quote, unquote

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.errors import RepairWarning, UsageError, quoted, shortened
from longcoref.formats.brackets import BracketColumn, Label, bracket_cells, bracket_ids
from longcoref.formats.build import build_document, key_of, parse_key
from longcoref.formats.source import Source
from longcoref.formats.tables import begins_document, one_line
from longcoref.spans import CharSpan

_COLUMNS = 10
_FIELDS = ("eid", "etype", "head", "other")
# We have no heads, and other readers refuse an empty one.
_WRITTEN_FIELDS = ("eid", "etype", "other")
_KIND = "kind:"
_NUMBER = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
_VALID_ID = r"[^\s()\[\]|=,%-]+"
_PART = re.compile(r"(.*)\[([0-9]+)/[0-9]+\]")


class _Token(NamedTuple):
    """A multiword token such as don't (do, n't): its line and surface, its words, and whether no space follows."""

    line: int
    surface: str
    start: int
    end: int
    glued: bool


@dataclass(slots=True)
class _Reading:
    """A document while it is read; `glued` says for each word whether no space follows it."""

    line: int
    key: str
    column: BracketColumn
    annotated: bool = False
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    glued: list[bool] = field(default_factory=list)
    tokens: list[_Token] = field(default_factory=list)


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of a file, each with its first line."""
    reading: _Reading | None = None
    fields: tuple[str, ...] = ()

    def begin(line: int, key: str) -> _Reading:
        column = BracketColumn(
            source, lenient=lenient, parse_label=lambda label: _parse_label(label, fields or _FIELDS)
        )
        return _Reading(line, key, column)

    for number, line in source.lines():
        if line.startswith("#"):
            name, equals, value = line[1:].partition("=")
            key = name.split(maxsplit=2)  # a third word makes it another comment, however long
            if key == (["newdoc", "id"] if equals else ["newdoc"]):
                if reading is not None:
                    yield reading.line, _finish(source, reading, annotated=bool(fields))
                reading = begin(number, value.strip() or source.stem)
            elif key == ["global.Entity"] and equals:
                fields = tuple("eid" if field == "GRP" else field for field in value.strip().split("-"))  # GUM has GRP
                if "eid" not in fields:
                    raise source.error(f"expected the field eid in global.Entity, got {quoted(value.strip())}", number)
        elif not line.strip():
            if reading is not None and reading.sentences[-1]:
                reading.sentences.append([])
        else:
            reading = reading or begin(number, source.stem)
            cells = line.split("\t")
            if len(cells) != _COLUMNS:
                raise source.error(f"expected {_COLUMNS} columns separated by tabs, got {len(cells)}", number)
            _add_row(source, reading, cells, number, lenient=lenient)
    if reading is not None:
        yield reading.line, _finish(source, reading, annotated=bool(fields))


def _add_row(source: Source, reading: _Reading, cells: list[str], line: int, *, lenient: bool) -> None:
    number = _NUMBER.fullmatch(cells[0])
    if number is None or not cells[1]:
        raise source.error(f"expected a word number and a word, got {quoted(cells[0])} and {quoted(cells[1])}", line)
    features = dict(item.partition("=")[::2] for item in cells[9].split("|"))
    glued, count = features.get("SpaceAfter") == "No", len(reading.glued)
    if number[2] == "-":
        token = _Token(line, cells[1], count, count + int(number[3]) - int(number[1]) + 1, glued)
        if token.end <= count or (reading.tokens and count < reading.tokens[-1].end):
            raise source.error(f"the range {cells[0]} is empty or overlaps the one before", line)
        reading.tokens.append(token)
        return
    end = count
    if number[2] is None:
        reading.sentences[-1].append(cells[1])
        reading.glued.append(glued)
        end += 1
    if marks := features.get("Entity"):
        if _PART.match(marks):
            message = "a discontinuous mention cannot be represented"
            if not lenient:
                raise source.error(f"{message}; keep only its first part with --lenient", line)
            warnings.warn(f"{source.name}:{line}: {message}", RepairWarning, stacklevel=2)
        reading.annotated = True
        reading.column.add(marks, count, end, line)


def _parse_label(text: str, fields: tuple[str, ...]) -> Label:
    values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
    kinds = [item for item in values.get("other", "").split(",") if item.startswith(_KIND)]
    return Label(
        values.get("eid", text),
        unquote(values.get("etype", "")) or None,
        unquote(kinds[0].removeprefix(_KIND)) if kinds else None,
    )


def _finish(source: Source, reading: _Reading, *, annotated: bool) -> Document:
    clusters = _first_parts(reading.column.clusters())
    id, part = parse_key(reading.key)
    document = build_document(
        source,
        reading.line,
        id=id,
        part=part,
        sentences=reading.sentences,
        clusters=clusters if annotated or reading.annotated else None,
    )
    for line, surface, start, end, glued in reading.tokens:
        if end > len(document.words):
            raise source.error(
                f"expected {end - start} words of {quoted(surface)}, got {len(document.words) - start}", line
            )
        if "".join(document.words[start:end]) == surface:
            reading.glued[start:end] = [True] * (end - start - 1) + [glued]
    return _with_glue(document, reading.glued)


def _first_parts(clusters: list[Cluster]) -> list[Cluster]:
    """Reduces discontinuous mentions, read as clusters of their own (e1[1/2], e1[2/2]), to their first part."""
    mentions: dict[str, list[Mention]] = defaultdict(list)
    for cluster in clusters:
        part = _PART.fullmatch(cluster.id or "")
        if part is None or part[2] == "1":
            mentions[part[1] if part else cluster.id or ""] += cluster.mentions
    return [Cluster(tuple(found), id) for id, found in mentions.items()]


def _with_glue(document: Document, glued: list[bool]) -> Document:
    """The document with the spaces in its text that `SpaceAfter` asks for."""
    last = {sentence.end - 1 for sentence in document.sentences}
    pieces: list[str] = []
    offsets: list[CharSpan] = []
    position = 0
    for index, word in enumerate(document.words):
        offsets.append(CharSpan(position, position + len(word)))
        pieces += [word, "" if glued[index] else "\n" if index in last else " "]
        position += len(word) + len(pieces[-1])
    return replace(document, text="".join(pieces), offsets=tuple(offsets))


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes documents one after another; the columns of syntax are empty."""
    used: set[str] = set()
    for count, document in enumerate(documents, 1):
        ids = bracket_ids(document.clusters or (), _VALID_ID)
        if not used.isdisjoint(ids):  # an eid must be unique in a file
            ids = [f"{id}.{count}" for id in ids]
        used.update(ids)
        cells = bracket_cells(document, ids, separator="", label=_label)
        stream.write(f"# newdoc id = {one_line(key_of(document))}\n# global.Entity = {'-'.join(_WRITTEN_FIELDS)}\n")
        for number, (start, end) in enumerate(document.sentences, 1):
            glued = [
                index + 1 < len(cells) and document.offsets[index].end == document.offsets[index + 1].start
                for index in range(start, end)
            ]
            text = "".join(
                word + ("" if close else " ") for word, close in zip(document.words[start:end], glued, strict=True)
            )
            if any(mark in text for mark in "\t\r\n"):
                raise UsageError(
                    f"{shortened(document.id)}: corefud cannot hold a word with a tab or line break; write json"
                )
            stream.write(f"# sent_id = {key_of(document)}-{number}\n# text = {text.rstrip(' ')}\n")
            for index in range(start, end):
                marks = [f"Entity={cells[index]}"] if cells[index] else []
                marks += ["SpaceAfter=No"] if glued[index - start] else []
                row = [str(index - start + 1), document.words[index], *"_______", "|".join(marks) or "_"]
                stream.write("\t".join(row) + "\n")
            stream.write("\n")


def _label(id: str, mention: Mention) -> str:
    type = "" if mention.type is None else _escaped(mention.type)
    kind = "" if mention.kind is None else _KIND + _escaped(mention.kind)
    return f"{id}-{type}-{kind}".rstrip("-")


def _escaped(value: str) -> str:
    return quote(value, safe="").replace("-", "%2D")


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of a CoNLL-U file: its first row has ten columns and a word number."""
    lines = [line for line in head.split("\n") if line.strip()]
    cells = next((line.split("\t") for line in lines if not line.startswith("#")), [])
    return (
        len(cells) == _COLUMNS and _NUMBER.fullmatch(cells[0]) is not None and not any(map(begins_document, lines[:1]))
    )
