"""BLANC for predicted mentions (Recasens & Hovy 2011, Luo et al. 2014): coreference and non-coreference links.

Links are counted, never listed: a novel has billions of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

from longcoref.metrics.alignment import Alignment
from longcoref.metrics.score import NOTHING, Counts, Score


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Counts for the links inside clusters and for those between clusters."""

    coreference: Counts = NOTHING
    non_coreference: Counts = NOTHING

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(self.coreference + other.coreference, self.non_coreference + other.non_coreference)

    @property
    def score(self) -> Score:
        """The mean over the kinds of link that the key has; 0 where it has none (fewer than two mentions)."""
        kinds = [counts.score for counts in (self.coreference, self.non_coreference) if counts.recall_denominator]
        if not kinds:
            return Score(0.0, 0.0, 0.0)
        return Score(
            sum(score.precision for score in kinds) / len(kinds),
            sum(score.recall for score in kinds) / len(kinds),
            sum(score.f1 for score in kinds) / len(kinds),
        )


NO_LINKS = LinkCounts()
"""The link counts of no document."""


def blanc(alignment: Alignment) -> LinkCounts:
    """Counts for BLANC.

    A span in two clusters of one side has links to both, and one non-coreference link to itself: the official scorer
    counts this way because it keeps the links of each kind in a set.
    """
    shared = alignment.shared
    coreferent = _pairs_inside(list(shared.values()))
    apart_in_response = comb(len(set(chain.from_iterable(shared.values()))), 2) - sum(
        comb(count, 2) for count in _totals(alignment.owned, 1).values()
    )
    several = _in_several(alignment.key)
    # Spans of one key cluster only: a pair of them in the same cluster is not a non-coreference link of the key.
    plain = {cell: sum(span not in several for span in spans) for cell, spans in shared.items()}
    same_in_key = sum(comb(count, 2) for count in _totals(plain, 0).values()) - sum(
        comb(count, 2) for count in plain.values()
    )
    non_coreferent = apart_in_response - same_in_key
    return LinkCounts(
        Counts(coreferent, _pairs_inside(alignment.key), coreferent, _pairs_inside(alignment.response)),
        Counts(non_coreferent, _pairs_between(alignment.key), non_coreferent, _pairs_between(alignment.response)),
    )


def _totals(cells: dict[tuple[int, int], int], axis: int) -> Counter[int]:
    """Sums of the cells along key clusters (axis 0) or response clusters (axis 1)."""
    sums: Counter[int] = Counter()
    for cell, count in cells.items():
        sums[cell[axis]] += count
    return sums


def _in_several(clusters: Iterable[Collection[Hashable]]) -> set[Hashable]:
    """The spans in more than one cluster."""
    return {span for span, count in Counter(chain.from_iterable(clusters)).items() if count > 1}


def _pairs_inside(clusters: Sequence[Collection[Hashable]]) -> int:
    """The number of distinct pairs of spans in the same cluster."""
    several = _in_several(clusters)
    repeated: Counter[frozenset[Hashable]] = Counter()
    for cluster in clusters if several else ():
        repeated.update(map(frozenset, combinations([span for span in cluster if span in several], 2)))
    return sum(comb(len(cluster), 2) for cluster in clusters) - sum(count - 1 for count in repeated.values())


def _pairs_between(clusters: Sequence[Collection[Hashable]]) -> int:
    """The number of distinct pairs of spans in two different clusters."""
    several = _in_several(clusters)
    plain = [sum(span not in several for span in cluster) for cluster in clusters]
    return comb(sum(plain) + len(several), 2) - sum(comb(count, 2) for count in plain) + len(several)
