"""Annotated mentions and clusters, in word coordinates.

A cluster is the set of mentions of one entity. The annotation of a corpus is kept as written: a span may occur
twice, in one cluster or in two. Training needs every span in a single cluster and calls `merge_shared_spans`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from longcoref.spans import WordSpan

KINDS = ("PROP", "NOM", "PRON")
"""How a mention refers, the most informative first: by a name, a noun or a pronoun."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of words that refers to an entity, as annotated.

    `kind` is how it refers (PROP, NOM, PRON) and `type` what it refers to (PER, FAC, GPE, LOC, VEH, ORG, EVENT, TIME,
    THING); either is None if the data does not say. `score` is the probability that it belongs to its cluster, where a
    model put it there, and None where people did; two mentions that differ only in it are equal.
    """

    span: WordSpan
    kind: str | None = None
    type: str | None = None
    score: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Cluster:
    """All mentions of one entity, in text order; `id` is the label that the source file gave it."""

    mentions: tuple[Mention, ...]
    id: str | None = None

    @property
    def spans(self) -> tuple[WordSpan, ...]:
        """The spans of the mentions, in their order."""
        return tuple(mention.span for mention in self.mentions)


def cluster_of(spans: Iterable[tuple[int, int]], id: str | None = None) -> Cluster:
    """A cluster of bare spans, sorted into text order."""
    return Cluster(tuple(Mention(WordSpan(*span)) for span in sorted(spans)), id)


def spans_of(clusters: Iterable[Cluster]) -> list[tuple[WordSpan, ...]]:
    """The clusters as plain tuples of spans: what the metrics compare."""
    return [cluster.spans for cluster in clusters]


def without_singletons(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """The clusters with at least two mentions."""
    return tuple(cluster for cluster in clusters if len(cluster.mentions) > 1)


def merge_shared_spans(clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """Merges clusters that share a span, and drops repeated spans, so that every span has one entity.

    A merged cluster keeps the id of its first part; clusters stay in the order of their first parts.
    """
    parent = list(range(len(clusters)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    owner: dict[WordSpan, int] = {}
    for index, cluster in enumerate(clusters):
        for span in cluster.spans:
            first, second = sorted((root(owner.setdefault(span, index)), root(index)))
            parent[second] = first
    mentions: dict[int, dict[WordSpan, Mention]] = {}
    for index, cluster in enumerate(clusters):
        group = mentions.setdefault(root(index), {})
        for mention in cluster.mentions:
            group.setdefault(mention.span, mention)
    return tuple(
        replace(clusters[index], mentions=tuple(group[span] for span in sorted(group)))
        for index, group in mentions.items()
    )


def gold_entities(clusters: Sequence[Cluster]) -> dict[WordSpan, int]:
    """The entity of every span, numbered from 0; clusters that share a span are one entity."""
    return {span: entity for entity, cluster in enumerate(merge_shared_spans(clusters)) for span in cluster.spans}
