"""LEA (Moosavi & Strube 2016): each entity is weighted by its size and scored by the share of its links that is found.

A singleton has one link, to itself, which the other side finds if the mention is a singleton there too.
"""

from __future__ import annotations

from math import comb, fsum

from longcoref.metrics.alignment import Alignment, total
from longcoref.metrics.score import Counts


def lea(alignment: Alignment) -> Counts:
    """Counts for LEA."""
    key, response = alignment.key, alignment.response
    return Counts(
        fsum(_found(len(key[k]), len(response[r]), len(spans)) for (k, r), spans in alignment.shared.items()),
        total(key),
        fsum(_found(len(response[r]), len(key[k]), count) for (k, r), count in alignment.owned.items()),
        total(response),
    )


def _found(size: int, other_size: int, common: int) -> float:
    """The score that a cluster of the other side with `common` shared mentions adds to an entity of `size` mentions."""
    if size == 1:
        return float(other_size == 1)
    return size * comb(common, 2) / comb(size, 2)
