"""Windows: the runs of pieces that the encoder reads at once.

Consecutive windows share a part of their pieces, and every piece takes its vector from the window that gives it the
most context. Coordinates are pieces, without the marks ([CLS], [SEP]) that the encoder puts around a window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from longcoref.errors import UsageError
from longcoref.spans import WordSpan


class Window(NamedTuple):
    """Pieces `start` up to `end` are read together; `keep_start` up to `keep_end` take their vectors from here.

    The kept stretches of a document's windows follow each other without gap or overlap.
    """

    start: int
    end: int
    keep_start: int
    keep_end: int


class WindowSplitter:
    """Cuts a stream of words into windows of at most `max_pieces`; a window comes out once a piece beyond it is known.

    The right edge is the last sentence end that fits, else the last word end, else a cut inside the word. `overlap` is
    the share of a window that the next one reads again, about: that one starts at the first sentence start in this
    share (else word start), and its edge always lies beyond the edge before it. What two windows share is cut in half;
    the odd piece goes to the right one.
    """

    def __init__(self, max_pieces: int, overlap: float = 0.5) -> None:
        if not 0 <= overlap < 1:
            raise UsageError(f"the overlap of windows must be at least 0 and below 1, not {overlap}")
        if max_pieces < 1:
            raise UsageError(f"a window must hold at least one piece, not {max_pieces}")
        self._max_pieces = max_pieces
        self._overlap = overlap
        self._total = 0  # pieces fed so far
        self._start = 0  # of the next window
        self._edge = 0  # of the window before it
        self._keep_start = 0
        # The ends of words and sentences from the open window on; a sentence end is also the next one's start.
        self._word_ends: list[int] = []
        self._sentence_ends: list[int] = []

    @property
    def start(self) -> int:
        """The first piece that later windows will read."""
        return self._start

    def feed(self, lengths: Iterable[int], *, ends_sentence: bool = True) -> list[Window]:
        """Takes the next words, given as numbers of pieces, and returns the windows that they complete.

        A long sentence may come in parts, all but its last with `ends_sentence=False`.
        """
        ends = list(accumulate(lengths, initial=self._total))
        self._total = ends[-1]
        self._word_ends += ends[1:]
        if ends_sentence and self._word_ends:
            self._sentence_ends.append(self._total)
        done = []
        while self._total - self._start > self._max_pieces:
            done.append(self._close(self._right_edge()))
        return done

    def finish(self) -> list[Window]:
        """The windows that remain when no word follows."""
        if self._keep_start == self._total:
            return []
        return [self._close(self._total)]

    def _right_edge(self) -> int:
        limit = self._start + self._max_pieces
        for ends in (self._sentence_ends, self._word_ends):
            index = bisect_right(ends, limit)
            if index and ends[index - 1] > self._edge:
                return ends[index - 1]
        return limit

    def _next_start(self, edge: int) -> int:
        if self._overlap:
            goal = self._start + int((1 - self._overlap) * (edge - self._start))
            for ends in (self._sentence_ends, self._word_ends):
                index = bisect_right(ends, goal)
                if index < len(ends) and ends[index] <= edge:
                    return ends[index]
        return edge

    def _close(self, edge: int) -> Window:
        following = edge if edge == self._total else self._next_start(edge)
        keep_end = following + (edge - following) // 2
        window = Window(self._start, edge, self._keep_start, keep_end)
        self._start, self._edge, self._keep_start = following, edge, keep_end
        for ends in (self._word_ends, self._sentence_ends):
            del ends[: bisect_right(ends, following)]
        return window


def split(
    lengths: npt.NDArray[np.integer] | Sequence[int],
    sentences: Iterable[WordSpan],
    *,
    max_pieces: int,
    overlap: float = 0.5,
) -> list[Window]:
    """The windows of a whole document: `lengths` are the pieces of each word (`Pieces.lengths`)."""
    splitter = WindowSplitter(max_pieces, overlap)
    windows, numbers = [], np.asarray(lengths).tolist()
    for start, end in sentences:
        windows += splitter.feed(numbers[start:end])
    return windows + splitter.finish()
