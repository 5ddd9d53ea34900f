"""The comparison of a few mentions with all cells as one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from longcoref.runtime.heads import Floats

Products = Callable[[Floats], Floats]


class Meetings:
    """What the products of the vectors of some mentions with those of all cells add to the hidden layer of f_c.

    They are large matrix products, computed before the first of the mentions is decided. This works because
    the products are linear in e and e is a running mean: when a mention joins a cell, the products of the later
    mentions with that cell move by the same share towards their products with the mention itself.
    """

    def __init__(self, x: Floats, vectors: Floats, products: Products) -> None:
        (size, width), count = x.shape, len(vectors)
        self._x, self._products = x, products
        met = size * count
        # The pairs with cells are followed, for each mention but the last, by its pairs with the later mentions.
        own, later = _pairs_among(size)
        pairs = np.empty((met + len(own), width), dtype=x.dtype)
        np.multiply(x[:, None], vectors, out=pairs[:met].reshape(size, count, width))
        np.multiply(x[own], x[later], out=pairs[met:])
        found = products(pairs)
        # With spare columns for the cells that these mentions may open.
        hidden = found.shape[1]
        self._cells = np.empty((size, count + size, hidden), dtype=x.dtype)
        self._cells[:, :count] = found[:met].reshape(size, count, hidden)
        self._mentions = found[met:]

    def of(self, row: int, count: int) -> Floats:
        """The products of one mention with the first `count` cells, (count, hidden), which may be overwritten."""
        return self._cells[row, :count]

    def place(self, row: int, cell: int, vector: Floats) -> None:
        """A recalled entity was put into a cell at mention `row`: computes its products with the later mentions."""
        self._cells[row + 1 :, cell] = self._products(self._x[row + 1 :] * vector)

    def change(self, cell: int, row: int, share: float) -> None:
        """Mention `row` joined the entity in a cell and is now this share of its mean."""
        later = len(self._x) - 1 - row
        start = len(self._mentions) - later * (later + 1) // 2
        mix(self._cells[row + 1 :, cell], self._mentions[start : start + later], share)


@cache
def _pairs_among(size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All pairs of this many mentions, by the number of the earlier one."""
    own, later = np.triu_indices(size, 1)
    return own, later


def mix(mean: Floats, value: Floats, share: float) -> None:
    """Moves a running mean towards a value, in place; a share of 1 replaces it."""
    if share == 1:
        mean[...] = value
    else:
        mean += (value - mean) * np.float32(share)
