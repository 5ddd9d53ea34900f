"""CEAF (Luo 2005): the best one-to-one assignment of key to response clusters.

`ceaf_m` values a pair of clusters by their common mentions (φ3), `ceaf_e` by twice that over the sum of their sizes
(φ4). The assignment is exact and sparse: only pairs that share a mention exist in it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from longcoref.errors import optional_module
from longcoref.metrics.alignment import Alignment, total
from longcoref.metrics.score import Counts


def ceaf_m(alignment: Alignment) -> Counts:
    """Counts for CEAF by mentions."""
    best = best_assignment({cell: len(spans) for cell, spans in alignment.shared.items()})
    return Counts(best, total(alignment.key), best, total(alignment.response))


def ceaf_e(alignment: Alignment) -> Counts:
    """Counts for CEAF by entities."""
    key, response = alignment.key, alignment.response
    best = best_assignment(
        {(k, r): 2 * len(spans) / (len(key[k]) + len(response[r])) for (k, r), spans in alignment.shared.items()}
    )
    return Counts(best, len(key), best, len(response))


def best_assignment(values: Mapping[tuple[int, int], float]) -> float:
    """The largest sum of values that takes each row and each column at most once; values are above 0."""
    if not values:
        return 0.0
    sparse = optional_module("scipy.sparse", extra="eval", needed_for="the assignment in CEAF")
    csgraph = optional_module("scipy.sparse.csgraph", extra="eval", needed_for="the assignment in CEAF")
    cells = np.array(list(values), dtype=np.int64)
    gains = np.array(list(values.values()), dtype=np.float64)
    rows, columns = (np.unique(cells[:, axis], return_inverse=True)[1] for axis in (0, 1))
    height, width = rows.max() + 1, columns.max() + 1
    # The solver requires every row to be assigned and every cost to be above 0: each row gets a column of its own
    # with gain 0, and subtracting gains from a constant turns them into costs without changing the best assignment.
    constant = gains.max() + 1
    own = np.arange(height)
    costs = sparse.csr_matrix(
        (
            np.concatenate([constant - gains, np.full(height, constant)]),
            (np.concatenate([rows, own]), np.concatenate([columns, width + own])),
        ),
        shape=(height, width + height),
    )
    chosen_rows, chosen_columns = csgraph.min_weight_full_bipartite_matching(costs)
    return float((constant - np.asarray(costs[chosen_rows, chosen_columns])).sum())
