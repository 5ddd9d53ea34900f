"""CorefUD: CoNLL-U with `Entity=` in the last column. Why this is not left to udapi: see docs/formats.md.

Words are the syntactic words; a mention of empty nodes only has no words and is left out. Types are kept, and kinds
in the field `other`. A discontinuous mention is an error, or keeps its first part only when lenient.
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
from longcoref.errors import RepairWarning, UsageError
from longcoref.formats.brackets import BracketColumn, Label, bracket_cells, bracket_ids
from longcoref.formats.build import build_document, key_of, parse_key
from longcoref.formats.source import Source
from longcoref.formats.tables import one_line
from longcoref.spans import CharSpan

_COLUMNS = 10
_FIELDS = ("eid", "etype", "head", "other")
# We know no heads, and an empty one is refused by other readers.
_WRITTEN_FIELDS = ("eid", "etype", "other")
_KIND = "kind:"
_NEW_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*?))?\s*")
_GLOBAL_ENTITY = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)\s*")
_NUMBER = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
_VALID_ID = r"[^\s()\[\]|=,%-]+"
_PART = re.compile(r"(.*)\[([0-9]+)/[0-9]+\]")


class _Token(NamedTuple):
    """A multiword token, as don't for do and n't: its surface, which words it covers, and whether a space follows."""

    surface: str
    start: int
    end: int
    glued: bool


@dataclass(slots=True)
class _Reading:
    """One document as it is being read; `glued` says for each word whether no space follows it."""

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
            if new := _NEW_DOCUMENT.fullmatch(line):
                if reading is not None:
                    yield reading.line, _finish(source, reading, annotated=bool(fields))
                reading = begin(number, new[1] or source.stem)
            elif found := _GLOBAL_ENTITY.fullmatch(line):
                fields = tuple("eid" if name == "GRP" else name for name in found[1].split("-"))  # GUM calls it GRP
                if "eid" not in fields:
                    raise source.error(f"expected the field eid in global.Entity, got {found[1]!r}", number)
        elif not line.strip():
            if reading is not None and reading.sentences[-1]:
                reading.sentences.append([])
        else:
            reading = reading or begin(number, source.stem)
            cells = line.split("\t")
            if len(cells) != _COLUMNS:
                raise source.error(f"expected {_COLUMNS} columns divided by tabs, got {len(cells)}", number)
            _add_row(source, reading, cells, number, lenient=lenient)
    if reading is not None:
        yield reading.line, _finish(source, reading, annotated=bool(fields))


def _add_row(source: Source, reading: _Reading, cells: list[str], line: int, *, lenient: bool) -> None:
    number = _NUMBER.fullmatch(cells[0])
    if number is None or not cells[1]:
        raise source.error(f"expected a word number and a word, got {cells[0][:60]!r} and {cells[1][:60]!r}", line)
    features = dict(item.partition("=")[::2] for item in cells[9].split("|"))
    glued, count = features.get("SpaceAfter") == "No", len(reading.glued)
    if number[2] == "-":
        reading.tokens.append(_Token(cells[1], count, count + int(number[3]) - int(number[1]) + 1, glued))
        return
    end = count
    if number[2] is None:
        reading.sentences[-1].append(cells[1])
        reading.glued.append(glued)
        end += 1
    if marks := features.get("Entity"):
        if _PART.match(marks):
            message = "a discontinuous mention cannot be kept whole"
            if not lenient:
                raise source.error(f"{message}; keep its first part only with --lenient", line)
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
    for surface, start, end, glued in reading.tokens:
        if "".join(document.words[start:end]) == surface:
            reading.glued[start:end] = [True] * (end - start - 1) + [glued]
    return _with_glue(document, reading.glued)


def _first_parts(clusters: list[Cluster]) -> list[Cluster]:
    """Cuts discontinuous mentions, which came as clusters of their own (e1[1/2], e1[2/2]), to their first part."""
    mentions: dict[str, list[Mention]] = defaultdict(list)
    for cluster in clusters:
        part = _PART.fullmatch(cluster.id or "")
        if part is None or part[2] == "1":
            mentions[part[1] if part else cluster.id or ""] += cluster.mentions
    return [Cluster(tuple(found), id) for id, found in mentions.items()]


def _with_glue(document: Document, glued: list[bool]) -> Document:
    """The document with its text written as `SpaceAfter` says."""
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
    """Writes documents one after another, with the columns of syntax empty."""
    used: set[str] = set()
    for count, document in enumerate(documents, 1):
        ids = bracket_ids(document.clusters or (), _VALID_ID)
        if not used.isdisjoint(ids):  # an eid is one entity in the whole file
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
                raise UsageError(f"{document.id}: corefud cannot hold a word with a tab or line end; write json")
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
    """Whether a file that begins so is CoNLL-U."""
    return re.search(r"^[0-9]+(?:-[0-9]+)?(?:\t[^\t\n]+){9}\r?$", head, re.MULTILINE) is not None
