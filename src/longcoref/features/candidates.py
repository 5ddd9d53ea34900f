"""Candidate spans: every sequence of words within a sentence that is short enough to be a mention.

Scores of candidates are stored in a grid of shape (words, max_width): row t, column w is the span of w + 1 words that
starts at word t. A longer span is possible only where the shorter one is, so a row is filled from the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from longcoref.english.lexicon import AFTER_HEAD, COORDINATING, DETERMINERS, POSSESSIVE_ENDINGS
from longcoref.spans import WordSpan

Integers = npt.NDArray[np.int64]

_LISTS = (DETERMINERS, AFTER_HEAD, POSSESSIVE_ENDINGS, COORDINATING)
_KINDS = {word: sum(1 << number for number, found in enumerate(_LISTS) if word in found) for word in chain(*_LISTS)}
"""The lists that a word is in, as bits."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of some words.

    `first` and `last` are the first and the last piece of each word, `widths` how many candidates start at it.
    """

    first: Integers
    last: Integers
    widths: Integers
    max_width: int
    unit: str

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """Which fields of the grid are candidates; shape (words, max_width)."""
        columns: Integers = np.arange(self.max_width)
        return columns < self.widths[:, None]

    def width_rows(self, starts: Integers, width: int) -> Integers:
        """The row in the width tables of the spans of `width` words that start at `starts`."""
        if self.unit == "words":
            return np.full(len(starts), width - 1, dtype=np.int64)
        rows: Integers = self.last[starts + width - 1] - self.first[starts]
        return rows


def candidates_of(
    first: npt.ArrayLike, end: npt.ArrayLike, sentences: Iterable[WordSpan], *, max_width: int, unit: str
) -> Candidates:
    """The candidates of words whose pieces are `first` up to `end`; `unit` says what `max_width` counts.

    The grid is `max_width` wide in either unit, since a word has at least one piece.
    """
    begin, stop = np.asarray(first, dtype=np.int64), np.asarray(end, dtype=np.int64)
    words: Integers = np.arange(len(begin))
    reach = words.copy()  # outside sentences there are no candidates
    for start, finish in sentences:
        reach[start:finish] = finish
    longest = np.searchsorted(stop, begin + max_width, side="right") if unit == "pieces" else words + max_width
    return Candidates(begin, stop - 1, np.clip(longest - words, 0, reach - words), max_width, unit)


def head_words(words: Sequence[str], starts: Integers, ends: Integers) -> Integers:
    """The head word of each of some spans: the one before "of", "who" or the like, and before "'s" at the end.

    "Ann and Tom" has another head than "Ann": the "and".
    """
    kinds = np.array([_KINDS.get(word.lower(), 0) for word in [*words, ""]])
    is_determiner, is_after, is_ending, joins = (kinds & 1 << number > 0 for number in range(len(_LISTS)))
    after = np.append(np.flatnonzero(is_after), len(words))
    least = starts + (is_determiner[starts] & (ends - starts > 1))
    stops = np.minimum(after[np.searchsorted(after, least + 1)], ends)
    heads = stops - 1
    while (trailing := (heads > least) & is_ending[heads]).any():
        heads -= trailing
    return np.asarray(np.where((stops < ends) & joins[stops], stops, heads))
