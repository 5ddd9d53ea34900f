"""GAP (Webster et al., 2018): an ambiguous pronoun, two names, and which of them it refers to.

A row is a test of a resolver, and a training document of which only three mentions are known.
"""

from __future__ import annotations

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError
from longcoref.resolver import Resolver
from longcoref.spans import WordSpan
from longcoref.text import tokenize

_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
_FEMININE = frozenset(("she", "her", "hers"))


@dataclass(frozen=True, slots=True)
class GapRow:
    """One row; the pronoun and the names are spans of characters, `answers` says whether it refers to A, and to B."""

    id: str
    text: str
    pronoun: tuple[int, int]
    names: tuple[tuple[int, int], tuple[int, int]]
    answers: tuple[bool, bool]

    @property
    def feminine(self) -> bool:
        """Whether the pronoun is she or her."""
        return self.text[slice(*self.pronoun)].lower() in _FEMININE


def read_gap(path: str | Path) -> list[GapRow]:
    """The rows of a GAP file."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            table = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error
    if not table or any(column not in table[0] for column in _COLUMNS):
        raise InputError(f"is not a GAP file: expected the columns {', '.join(_COLUMNS)}", path)

    def span(row: dict[str, str], name: str) -> tuple[int, int]:
        start = int(row[f"{name}-offset"])
        return start, start + len(row[name])

    return [
        GapRow(
            row["ID"],
            row["Text"],
            span(row, "Pronoun"),
            (span(row, "A"), span(row, "B")),
            (row["A-coref"].upper() == "TRUE", row["B-coref"].upper() == "TRUE"),
        )
        for row in table
    ]


def gap_documents(rows: Iterable[GapRow], *, rows_per_document: int = 12) -> Iterator[Document]:
    """Training documents of several rows each: their names and pronouns, and nothing else, are annotated.

    The names of the other rows are further entities that the pronoun is not.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, rows_per_document)):
        sentences: list[Sequence[str]] = []
        clusters: list[Cluster] = []
        first = 0
        for row in batch:
            document = tokenize(row.text)
            words = [_words_at(document, span) for span in (*row.names, row.pronoun)]
            moved = [WordSpan(first + start, first + end) for start, end in words]
            sentences += [document.words[start:end] for start, end in document.sentences]
            clusters += _clusters(moved, row.answers)
            first += len(document.words)
        yield document_of_words(batch[0].id, sentences, clusters=clusters)


def _clusters(spans: Sequence[WordSpan], answers: tuple[bool, bool]) -> list[Cluster]:
    *names, pronoun = spans
    if len(set(spans)) < len(spans):
        return []
    members = [[name, pronoun] if answer else [name] for name, answer in zip(names, answers, strict=True)]
    members += [] if any(answers) else [[pronoun]]
    return [Cluster(tuple(Mention(span) for span in sorted(group))) for group in members]


def _words_at(document: Document, characters: tuple[int, int]) -> WordSpan:
    """The words that a span of characters touches."""
    start, end = characters
    ends = [offset.end for offset in document.offsets]
    starts = [offset.start for offset in document.offsets]
    return WordSpan(bisect_right(ends, start), max(bisect_left(starts, end), bisect_right(ends, start) + 1))


@dataclass(frozen=True, slots=True)
class GapScores:
    """F1 in per cent over both names of all rows, and of the rows with a masculine or a feminine pronoun."""

    overall: float
    masculine: float
    feminine: float

    @property
    def bias(self) -> float:
        """Feminine over masculine F1."""
        return self.feminine / self.masculine if self.masculine else 0.0


def score_gap(resolver: Resolver, rows: Iterable[GapRow]) -> GapScores:
    """Whether the resolver puts each pronoun in one cluster with the name that it refers to."""
    judged = [(row.feminine, guess, answer) for row in rows for guess, answer in _judge(resolver, row)]
    return GapScores(
        _f1(pair for _, *pair in judged),
        _f1(pair for feminine, *pair in judged if not feminine),
        _f1(pair for feminine, *pair in judged if feminine),
    )


def _judge(resolver: Resolver, row: GapRow) -> Iterator[tuple[bool, bool]]:
    found = [
        [(mention.start, mention.end) for mention in cluster] for cluster in resolver(row.text) if len(cluster) > 1
    ]
    own = [spans for spans in found if row.pronoun in spans]
    for name, answer in zip(row.names, row.answers, strict=True):
        yield any(_is_name(span, name, row.pronoun) for spans in own for span in spans), answer


def _is_name(span: tuple[int, int], name: tuple[int, int], pronoun: tuple[int, int]) -> bool:
    """Whether a mention is the name: it ends with it, or begins with it and is only slightly longer, as with "'s"."""
    if span == pronoun:
        return False
    (start, end), (first, last) = span, name
    return start <= first < last <= end and (end - last <= 2 or (start == first and end - last <= 3))


def _f1(pairs: Iterable[Sequence[bool]]) -> float:
    pairs = list(pairs)
    right = sum(guess and answer for guess, answer in pairs)
    total = sum(guess for guess, _ in pairs) + sum(answer for _, answer in pairs)
    return 200 * right / total if total else 0.0
