"""Half-open spans, one type per coordinate space.

`CharSpan` counts Unicode code points of a text, `WordSpan` counts words of a `Document`. Both are
half-open: `end - start` is the length, and `sequence[span.start:span.end]` is the content.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import sub
from typing import NamedTuple, overload


class CharSpan(NamedTuple):
    """Code points `start` up to, not including, `end` of a text."""

    start: int
    end: int


char_span: Callable[[tuple[int, int]], CharSpan] = partial(tuple.__new__, CharSpan)
"""The span from a start to an end; it takes half the time of `CharSpan(start, end)`."""


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


class CharSpans(Sequence[CharSpan]):
    """Many spans, such as those of all words of a text, in two arrays: 16 bytes each instead of 130 as tuples.

    A span is made when it is asked for. Spans that are equal compare and hash as equal.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[CharSpan]) -> None:
        self._starts, self._ends = array("q"), array("q")
        for start, end in spans:
            self._starts.append(start)
            self._ends.append(end)

    @classmethod
    def of(cls, starts: Iterable[int], ends: Iterable[int]) -> CharSpans:
        """The spans with these starts and ends."""
        spans = cls.__new__(cls)
        spans._starts, spans._ends = array("q", starts), array("q", ends)
        return spans

    @classmethod
    def joined(cls, parts: Iterable[CharSpans]) -> CharSpans:
        """The spans of all parts, one after the other."""
        spans = cls(())
        for part in parts:
            spans._starts += part._starts
            spans._ends += part._ends
        return spans

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> CharSpan: ...

    @overload
    def __getitem__(self, index: slice) -> CharSpans: ...

    def __getitem__(self, index: int | slice) -> CharSpan | CharSpans:
        if isinstance(index, slice):
            return CharSpans.of(self._starts[index], self._ends[index])
        return CharSpan(self._starts[index], self._ends[index])

    def __iter__(self) -> Iterator[CharSpan]:
        return map(char_span, zip(self._starts, self._ends, strict=True))

    def gaps(self, least: int) -> list[tuple[int, CharSpan]]:
        """The number of each span that begins at least this far from the end of the one before, and what is between."""
        sizes = map(sub, islice(self._starts, 1, None), self._ends)
        wide = [index for index, size in enumerate(sizes, 1) if size >= least]
        return [(index, CharSpan(self._ends[index - 1], self._starts[index])) for index in wide]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CharSpans):
            return NotImplemented
        return self._starts == other._starts and self._ends == other._ends

    def __hash__(self) -> int:
        return hash((self._starts.tobytes(), self._ends.tobytes()))

    def __repr__(self) -> str:
        return f"CharSpans({list(self)})"
