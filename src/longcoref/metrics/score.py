"""Precision, recall and F1, and the counts they come from, which add up over documents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 between 0 and 1."""

    precision: float
    recall: float
    f1: float

    def as_json(self) -> dict[str, float]:
        """The three values in per cent."""
        return {"precision": 100 * self.precision, "recall": 100 * self.recall, "f1": 100 * self.f1}


@dataclass(frozen=True, slots=True)
class Counts:
    """Numerators and denominators of recall and precision; a corpus's counts are the sum of its documents'."""

    recall_numerator: float = 0
    recall_denominator: float = 0
    precision_numerator: float = 0
    precision_denominator: float = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.recall_numerator + other.recall_numerator,
            self.recall_denominator + other.recall_denominator,
            self.precision_numerator + other.precision_numerator,
            self.precision_denominator + other.precision_denominator,
        )

    @property
    def score(self) -> Score:
        """The score of these counts; a ratio over nothing is 0, as in the official scorer."""
        recall = self.recall_numerator / self.recall_denominator if self.recall_denominator else 0.0
        precision = self.precision_numerator / self.precision_denominator if self.precision_denominator else 0.0
        both = precision + recall
        return Score(precision, recall, 2 * precision * recall / both if both else 0.0)


NOTHING = Counts()
"""The counts of no document."""
