"""B³ (Bagga & Baldwin 1998): for each mention, the share of its cluster that the other side has in the same cluster."""

from __future__ import annotations

from math import fsum

from longcoref.metrics.alignment import Alignment, total
from longcoref.metrics.score import Counts


def b_cubed(alignment: Alignment) -> Counts:
    """Counts for B³; a mention that the other side lacks counts 0."""
    key, response, shared, owned = alignment.key, alignment.response, alignment.shared, alignment.owned
    return Counts(
        fsum(count * len(shared[k, r]) / len(key[k]) for (k, r), count in owned.items()),
        total(key),
        fsum(count * len(shared[k, r]) / len(response[r]) for (k, r), count in owned.items()),
        total(response),
    )
