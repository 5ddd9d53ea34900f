"""What a key and a response clustering have in common: computed once, read by every metric.

Spans that occur in several clusters are treated as the official scorer does:

* a response span that the key knows stays in the first cluster that has it and leaves the later ones;
* a response span that the key does not know counts in each of its clusters;
* a key span counts in each of its clusters; where one cluster must be named, it belongs to the last of them.

A span that occurs twice in one cluster counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Clustering: TypeAlias = Sequence[Collection[Hashable]]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two clusterings of one document, side by side.

    `shared[k, r]` lists the spans of key cluster `k` that are in response cluster `r` too; pairs without a common
    span are absent. `owned[k, r]` counts those of them that belong to `k`: the two differ only by spans that occur
    in several key clusters.
    """

    key: tuple[tuple[Hashable, ...], ...]
    response: tuple[tuple[Hashable, ...], ...]
    shared: dict[tuple[int, int], list[Hashable]]
    owned: dict[tuple[int, int], int]


def align(key: Clustering, response: Clustering, *, keep_singletons: bool = True) -> Alignment:
    """Aligns a response with a key; without singletons, clusters of one mention are left out on both sides."""
    smallest = 1 if keep_singletons else 2
    key_clusters = _clusters(key, smallest)
    owner = {span: index for index, cluster in enumerate(key_clusters) for span in cluster}

    holder: dict[Hashable, int] = {}
    response_clusters: list[tuple[Hashable, ...]] = []
    for cluster in _clusters(response, smallest):
        index = len(response_clusters)
        kept = tuple(span for span in cluster if span not in owner or holder.setdefault(span, index) == index)
        if kept:
            response_clusters.append(kept)

    shared: dict[tuple[int, int], list[Hashable]] = {}
    for index, cluster in enumerate(key_clusters):
        for span in cluster:
            if span in holder:
                shared.setdefault((index, holder[span]), []).append(span)
    owned = Counter((owner[span], index) for span, index in holder.items())
    return Alignment(tuple(key_clusters), tuple(response_clusters), shared, owned)


def _clusters(clustering: Clustering, smallest: int) -> list[tuple[Hashable, ...]]:
    """The clusters with at least `least` distinct spans, in their order, each span once."""
    distinct = (tuple(dict.fromkeys(cluster)) for cluster in clustering)
    return [cluster for cluster in distinct if len(cluster) >= smallest]


def total(clusters: Sequence[Collection[Hashable]]) -> int:
    """The number of mentions in the clusters."""
    return sum(map(len, clusters))
