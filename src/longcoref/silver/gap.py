"""GAP (Webster et al., 2018): an ambiguous pronoun, two names, and which of them it refers to.

A row is a test of a resolver, and a training document in which the answer for one pronoun is certain.
"""

from __future__ import annotations

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError
from longcoref.resolver import Resolver
from longcoref.spans import WordSpan
from longcoref.text import tokenize

Teacher = Callable[[Document], Sequence[Cluster]]
"""Finds the clusters of a document."""

_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
_FEMININE = frozenset(("she", "her", "hers"))
_TEACHER = 0.4  # what the teacher's labels count in training, as a share of an answer that people gave


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


def gap_documents(rows: Iterable[GapRow], teacher: Teacher, *, rows_per_document: int = 12) -> Iterator[Document]:
    """Training documents of several rows each: the teacher's clusters, corrected by the row's answers.

    So the pronoun has all the names of the text to choose from, as when a text is read.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, rows_per_document)):
        sentences: list[Sequence[str]] = []
        clusters: list[Cluster] = []
        first = 0
        for row in batch:
            document = tokenize(row.text)
            sentences += [document.words[start:end] for start, end in document.sentences]
            for group in _corrected(teacher(document), row, document):
                moved = (replace(m, span=WordSpan(first + m.span.start, first + m.span.end)) for m in group)
                clusters.append(Cluster(tuple(moved)))
            first += len(document.words)
        yield document_of_words(batch[0].id, sentences, clusters=clusters)


def _corrected(clusters: Sequence[Cluster], row: GapRow, document: Document) -> list[list[Mention]]:
    """The teacher's clusters with the pronoun in the cluster of the right name, and in none with a wrong one.

    A text whose two names the teacher takes for one person has none.
    """
    *names, pronoun = (_words_at(document, span) for span in (*row.names, row.pronoun))
    groups = [[_discounted(mention) for mention in cluster.mentions if mention.span != pronoun] for cluster in clusters]
    own = next((group for group, cluster in zip(groups, clusters, strict=True) if pronoun in cluster.spans), None)
    one, other = (_group_of(name, groups) for name in names)
    if one is other and row.answers[0] != row.answers[1]:
        return []
    if any(row.answers):
        (one if row.answers[0] else other).append(Mention(pronoun))
    elif own is not None and own is not one and own is not other:
        own.append(_discounted(Mention(pronoun)))
    return [sorted(group, key=lambda mention: mention.span) for group in groups if group]


def _discounted(mention: Mention) -> Mention:
    return replace(mention, score=_TEACHER * (1.0 if mention.score is None else mention.score))


def _group_of(name: WordSpan, groups: list[list[Mention]]) -> list[Mention]:
    """The group with a mention that ends with the name, or ends one word later; a name without one gets a new group."""
    for group in groups:
        if any(m.span.start <= name.start and name.end <= m.span.end <= name.end + 1 for m in group):
            return group
    groups.append([Mention(name)])
    return groups[-1]


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
