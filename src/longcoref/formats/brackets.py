"""Clusters as a column of brackets, one cell per word: `(3|(4)` opens a mention of 3 and contains one of 4.

Shared by the CoNLL family and CorefUD. A closing bracket ends the latest open mention with its label, so two
mentions of one cluster may nest but not cross; the writer refuses crossing ones.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.errors import RepairWarning, UsageError, quoted, shortened
from longcoref.formats.source import Source
from longcoref.spans import WordSpan

# OntoGUM and CorefUD have no separator between marks: (3(4)
_MARK = re.compile(r"\|?(?:\(([^()|\s]+)(\)?)|([^()|\s]+)\))")


class Label(NamedTuple):
    """The text at an opening bracket, parsed: the cluster's id and, in CorefUD, the mention's type and kind."""

    id: str
    type: str | None = None
    kind: str | None = None


class _Mark(NamedTuple):
    label: str
    opens: bool
    closes: bool


class _Opening(NamedTuple):
    start: int
    line: int
    label: Label


@lru_cache(maxsize=65536)
def _marks(cell: str) -> tuple[_Mark, ...] | None:
    """The marks of a cell in order; None if it contains anything else."""
    marks, position = [], 0
    while position < len(cell):
        found = _MARK.match(cell, position)
        if found is None:
            return None
        opened, closed, closing = found.groups()
        marks.append(_Mark(closing, False, True) if opened is None else _Mark(opened, True, bool(closed)))
        position = found.end()
    return tuple(marks)


class BracketColumn:
    """Reads the cells of one document from top to bottom; `clusters` returns the result."""

    def __init__(self, source: Source, *, lenient: bool, parse_label: Callable[[str], Label] = Label) -> None:
        self._source, self._lenient, self._parse_label = source, lenient, parse_label
        self._open: dict[str, list[_Opening]] = defaultdict(list)
        self._mentions: dict[str, list[Mention]] = defaultdict(list)

    def add(self, cell: str, start: int, end: int, line: int) -> None:
        """Adds the cell of words `start` to `end`: one word, or none for an empty node of CoNLL-U."""
        marks = _marks(cell)
        if marks is None:
            raise self._source.error(f"expected brackets such as (3), (3 or 3), got {quoted(cell)}", line)
        for mark in marks:
            label = self._parse_label(mark.label)
            if mark.opens:
                self._open[label.id].append(_Opening(start, line, label))
            if mark.closes:
                if self._open[label.id]:
                    self._close(self._open[label.id].pop(), end)
                else:
                    self._complain(f"{shortened(label.id)}) closes a mention that was never opened", line)

    def clusters(self) -> list[Cluster]:
        """The clusters that were read; a bracket that is still open is an error, or ignored when lenient."""
        unclosed = [opening for openings in self._open.values() for opening in openings]
        for opening in sorted(unclosed, key=lambda opening: (opening.start, opening.line)):
            self._complain(f"({shortened(opening.label.id)} opens a mention that is never closed", opening.line)
        return [Cluster(tuple(mentions), id) for id, mentions in self._mentions.items()]

    def _close(self, opening: _Opening, end: int) -> None:
        if opening.start < end:  # a mention that consists of empty nodes has no words
            span = WordSpan(opening.start, end)
            self._mentions[opening.label.id].append(Mention(span, opening.label.kind, opening.label.type))

    def _complain(self, message: str, line: int) -> None:
        if not self._lenient:
            raise self._source.error(f"{message}; correct the file, or ignore this bracket with --lenient", line)
        warnings.warn(f"{self._source.name}:{line}: {message}; ignored", RepairWarning, stacklevel=2)


def plain_label(id: str, mention: Mention) -> str:
    """The id alone: CoNLL stores nothing else."""
    return id


def bracket_ids(clusters: Sequence[Cluster], valid: str = r"[0-9]+") -> list[str]:
    """The ids to write: the clusters' own if all of them match `valid` and are distinct, else numbers from 0."""
    ids = [cluster.id for cluster in clusters if cluster.id is not None and re.fullmatch(valid, cluster.id)]
    kept = len(ids) == len(clusters) and len(set(ids)) == len(ids)
    return ids if kept else [str(index) for index in range(len(clusters))]


def bracket_cells(
    document: Document,
    ids: Sequence[str],
    *,
    separator: str = "|",
    label: Callable[[str, Mention], str] = plain_label,
) -> list[str]:
    """One cell per word, empty where no mention begins or ends; `ids` has one for each cluster.

    In a cell, closing brackets come before opening ones. Inner mentions close first and outer ones open first, so
    that a reader with a stack restores the same spans.
    """
    clusters = document.clusters or ()
    closings: dict[int, list[tuple[int, str]]] = defaultdict(list)
    openings: dict[int, list[tuple[int, str]]] = defaultdict(list)
    singles: dict[int, list[str]] = defaultdict(list)
    for id, cluster in zip(ids, clusters, strict=True):
        _refuse_crossing(document, cluster)
        for mention in cluster.mentions:
            (start, end), text = mention.span, label(id, mention)
            if end == start + 1:
                singles[start].append(f"({text})")
            else:
                openings[start].append((-end, f"({text}"))
                closings[end - 1].append((-start, f"{id})"))
    cells = [""] * len(document.words)
    for word in closings.keys() | openings.keys() | singles.keys():
        ends = [text for _, text in sorted(closings[word])]
        starts = [text for _, text in sorted(openings[word])]
        marks = [*ends, *starts, *singles[word]] if starts else [*singles[word], *ends]
        cells[word] = separator.join(marks)
    return cells


def _refuse_crossing(document: Document, cluster: Cluster) -> None:
    """Replays the brackets of one cluster as a reader would, and raises if that gives other spans."""
    events = [
        event for start, end in cluster.spans if end > start + 1 for event in ((end - 1, 0, -start), (start, 1, -end))
    ]
    stack: list[int] = []
    for word, opens, partner in sorted(events):
        if opens:
            stack.append(word)
        elif (start := stack.pop()) != -partner:
            raise UsageError(
                f"{shortened(document.id)}: two mentions of one cluster cross "
                f"({quoted(document.text_of(WordSpan(-partner, word + 1)))} and one that begins with "
                f"{quoted(document.words[start])}), which brackets cannot express; write json or jsonlines"
            )
