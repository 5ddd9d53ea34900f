"""All metrics of one document or of a corpus, and their CoNLL average.

    scores = score_documents([(key, response)])
    scores.conll_f1, scores.muc.recall

Values agree with the official CoNLL-2012 scorer (v8.01; LEA with its authors' extension of it): a corpus's score
comes from the sums of its documents' numerators and denominators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from longcoref.metrics.alignment import Clustering, align
from longcoref.metrics.b_cubed import b_cubed
from longcoref.metrics.blanc import NO_LINKS, LinkCounts, blanc
from longcoref.metrics.ceaf import ceaf_e, ceaf_m
from longcoref.metrics.lea import lea
from longcoref.metrics.mentions import mentions
from longcoref.metrics.muc import muc
from longcoref.metrics.score import NOTHING, Counts, Score


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of each metric."""

    muc: Score
    b_cubed: Score
    ceaf_e: Score
    ceaf_m: Score
    lea: Score
    blanc: Score
    mentions: Score

    @property
    def conll_f1(self) -> float:
        """The mean F1 of MUC, B³ and CEAF-e."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3

    def as_json(self) -> dict[str, float | dict[str, float]]:
        """Everything in per cent."""
        metrics = {field.name: getattr(self, field.name).as_json() for field in fields(self)}
        return {"conll_f1": 100 * self.conll_f1, **metrics}


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The counts of each metric for a document; added up, for several."""

    muc: Counts = NOTHING
    b_cubed: Counts = NOTHING
    ceaf_e: Counts = NOTHING
    ceaf_m: Counts = NOTHING
    lea: Counts = NOTHING
    blanc: LinkCounts = NO_LINKS
    mentions: Counts = NOTHING

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        return DocumentCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def scores(self) -> Scores:
        """The scores of these counts."""
        return Scores(*(getattr(self, field.name).score for field in fields(self)))


def count_document(key: Clustering, response: Clustering, *, keep_singletons: bool = True) -> DocumentCounts:
    """The counts of one document; OntoNotes' protocol drops singletons on both sides."""
    alignment = align(key, response, keep_singletons=keep_singletons)
    return DocumentCounts(
        muc(alignment),
        b_cubed(alignment),
        ceaf_e(alignment),
        ceaf_m(alignment),
        lea(alignment),
        blanc(alignment),
        mentions(alignment),
    )


def score_documents(pairs: Iterable[tuple[Clustering, Clustering]], *, keep_singletons: bool = True) -> Scores:
    """The scores of a corpus, given the key and the response of each document."""
    counts = (count_document(key, response, keep_singletons=keep_singletons) for key, response in pairs)
    return sum(counts, DocumentCounts()).scores
