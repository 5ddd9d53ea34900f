"""Half-open spans, one type per coordinate space.

`CharSpan` counts Unicode code points of a text, `WordSpan` counts words of a `Document`. Both are
half-open: `end - start` is the length, and `sequence[span.start:span.end]` is the content.
"""

from __future__ import annotations

from typing import NamedTuple


class CharSpan(NamedTuple):
    """Code points `start` up to, not including, `end` of a text."""

    start: int
    end: int


class WordSpan(NamedTuple):
    """Words `start` up to, not including, `end` of a document."""

    start: int
    end: int
