"""Tables of what the features of pairs add to a hidden layer.

Several features share a table, which has a row for every combination of their codes, so that a pair needs few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]

_MOST_ROWS = 512
"""Of a table that several features share: larger ones would be fewer, but do not stay in the cache."""


class Layout:
    """Which consecutive features share a table, given how many codes each has, and which row a combination has.

    The tables are stacked: the rows of one follow those of the one before.
    """

    def __init__(self, codes: Sequence[int]) -> None:
        self._groups: list[list[int]] = []  # the features of each table
        sizes: list[int] = []
        for feature, count in enumerate(codes):
            if sizes and sizes[-1] * count <= _MOST_ROWS:
                self._groups[-1].append(feature)
                sizes[-1] *= count
            else:
                self._groups.append([feature])
                sizes.append(count)
        self._steps = np.zeros((len(sizes), len(codes)), dtype=np.int64)  # rows from one code to the next
        for table, group in enumerate(self._groups):
            self._steps[table, group] = np.cumprod([1, *(codes[feature] for feature in group[:0:-1])])[::-1]
        self._starts = np.cumsum([0, *sizes[:-1]])[: len(sizes), None]

    def stacked(self, parts: Sequence[Floats], hidden: int) -> Floats:
        """The tables, (rows, hidden), given what each code of each feature adds, (codes, hidden)."""
        tables = []
        for group in self._groups:
            table = parts[group[0]]
            for feature in group[1:]:
                table = (table[:, None] + parts[feature]).reshape(-1, hidden)
            tables.append(table)
        return np.concatenate(tables) if tables else np.zeros((0, hidden), np.float32)

    def rows(self, codes: Integers) -> Integers:
        """The rows for pairs, (tables, pairs), given the code of each of their features, (features, pairs)."""
        rows: Integers = self._steps @ codes
        rows += self._starts
        return rows


def add_rows(hidden: Floats, table: Floats, rows: Integers) -> None:
    """Adds to the hidden layer of pairs, (pairs, hidden), the rows that `Layout.rows` has for them."""
    for row in rows:
        hidden += table.take(row, axis=0)
