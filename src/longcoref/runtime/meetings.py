"""The comparison of a few mentions with all cells as one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from longcoref.runtime.heads import Floats


class Meetings:
    """The products of some mentions with all cells, as `Heads.products` computes them.

    They are one large matrix product, computed before the first of the mentions is decided. This works because
    products are linear in e and e is a running mean: when a mention joins a cell, the products of the later mentions
    with that cell move by the same share towards their products with the mention itself.
    """

    def __init__(self, x: Floats, vectors: Floats, products: Callable[[Floats], Floats]) -> None:
        (size, width), count = x.shape, len(vectors)
        self._x, self._products = x, products
        met = size * count
        # The pairs with cells are followed, for each mention but the last, by its pairs with the later mentions.
        edges = [met + row * (2 * size - row - 1) // 2 for row in range(size)]
        pairs = np.empty((edges[-1], width), dtype=x.dtype)
        np.multiply(x[:, None], vectors, out=pairs[:met].reshape(size, count, width))
        for row, (start, end) in enumerate(pairwise(edges)):
            np.multiply(x[row + 1 :], x[row], out=pairs[start:end])
        found = products(pairs)
        # With spare columns for the cells that these mentions may open.
        rank = found.shape[1]
        self._cells = np.empty((size, count + size, rank), dtype=x.dtype)
        self._cells[:, :count] = found[:met].reshape(size, count, rank)
        self._mentions = [found[start:end] for start, end in pairwise([*edges, edges[-1]])]

    def of(self, row: int, count: int) -> Floats:
        """The products of one mention with the first `count` cells; shape (count, rank)."""
        return self._cells[row, :count]

    def place(self, row: int, cell: int, vector: Floats) -> None:
        """A recalled entity was put into a cell at mention `row`: computes its products with the later mentions."""
        later = slice(row + 1, None)
        self._cells[later, cell] = self._products(self._x[later] * vector)

    def change(self, cell: int, row: int, share: float) -> None:
        """Mention `row` joined the entity in a cell and is now this share of its mean."""
        mix(self._cells[row + 1 :, cell], self._mentions[row], share)


def mix(mean: Floats, value: Floats, share: float) -> None:
    """Moves a running mean towards a value, in place; a share of 1 replaces it."""
    if share == 1:
        mean[...] = value
    else:
        mean += (value - mean) * np.float32(share)
