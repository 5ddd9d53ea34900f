"""MUC (Vilain et al. 1995): the links needed to join what is split. Singletons have no links and do not count."""

from __future__ import annotations

from longcoref.metrics.alignment import Alignment, total
from longcoref.metrics.score import Counts


def muc(alignment: Alignment) -> Counts:
    """Counts for MUC."""
    common = sum(count - 1 for count in alignment.owned.values())
    return Counts(
        common,
        total(alignment.key) - len(alignment.key),
        common,
        total(alignment.response) - len(alignment.response),
    )
