"""Half-open spans, one type per coordinate space.

`CharSpan` counts Unicode code points of a text, `WordSpan` counts words of a `Document`. Both are
half-open: `end - start` is the length, and `sequence[span.start:span.end]` is the content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CharSpan(NamedTuple):
    """Code points `start` up to, not including, `end` of a text."""

    start: int
    end: int


class WordSpan(NamedTuple):
    """Words `start` up to, not including, `end` of a document."""

    start: int
    end: int


class WordsAt:
    """Finds the words that begin and end at given characters."""

    def __init__(self, offsets: Sequence[CharSpan]) -> None:
        self._starts = {start: index for index, (start, _) in enumerate(offsets)}
        self._ends = {end: index + 1 for index, (_, end) in enumerate(offsets)}

    def __call__(self, start: int, end: int) -> WordSpan | None:
        """The words from `start` to `end`, None if these characters do not begin and end with a word."""
        words = WordSpan(self._starts.get(start, -1), self._ends.get(end, -1))
        return words if 0 <= words.start < words.end else None
