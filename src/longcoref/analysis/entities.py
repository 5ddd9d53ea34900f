"""The number of entities that are active at once: spread and active entities (section 2 of the paper).

The spread of an entity reaches from the first word of its first mention to the last word of its last one. At each
word, the active entities are those whose spread covers it, singletons included, which gives the paper's 199 and 18
for LitBank (without singletons it would be 17). Clusters are taken as they are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from statistics import mean, median
from typing import Any

from longcoref.clusters import Cluster
from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.spans import WordSpan


def spread(cluster: Cluster) -> WordSpan:
    """From the first word of an entity to the one after its last."""
    return WordSpan(min(span.start for span in cluster.spans), max(span.end for span in cluster.spans))


def active_entities(document: Document) -> list[int]:
    """For each word, how many entities' spread covers it."""
    change = [0] * (len(document.words) + 1)
    for cluster in document.clusters or ():
        start, end = spread(cluster)
        change[start] += 1
        change[end] -= 1
    return list(accumulate(change))[:-1]


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """The entity counts of one document. `spreads` has the length of each entity's spread in words, as a part of the
    document's length, for entities of two mentions or more.
    """

    id: str
    part: int
    words: int
    mentions: int
    total_entities: int
    singletons: int
    max_active_entities: int
    mean_active_entities: float
    spreads: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The counts, with the spreads as their mean and median."""
        return {
            "id": self.id,
            "part": self.part,
            "words": self.words,
            "mentions": self.mentions,
            "total_entities": self.total_entities,
            "singletons": self.singletons,
            "max_active_entities": self.max_active_entities,
            "mean_active_entities": self.mean_active_entities,
            **_spread_summary(self.spreads),
        }


@dataclass(frozen=True, slots=True)
class CorpusEntities:
    """The entity counts of a corpus; maxima are over documents."""

    documents: tuple[DocumentEntities, ...]

    @property
    def max_total_entities(self) -> int:
        """The largest number of entities in one document."""
        return max((document.total_entities for document in self.documents), default=0)

    @property
    def max_active_entities(self) -> int:
        """The largest number of entities active at one word."""
        return max((document.max_active_entities for document in self.documents), default=0)

    @property
    def spreads(self) -> tuple[float, ...]:
        """The spreads of all entities of two mentions or more, as parts of their documents' lengths."""
        return tuple(value for document in self.documents for value in document.spreads)

    def as_json(self) -> dict[str, Any]:
        """Totals, maxima and means of the corpus, and the counts of each document under `per_document`."""
        documents = self.documents
        return {
            "documents": len(documents),
            "words": sum(document.words for document in documents),
            "mentions": sum(document.mentions for document in documents),
            "entities": sum(document.total_entities for document in documents),
            "singletons": sum(document.singletons for document in documents),
            "max_total_entities": self.max_total_entities,
            "max_active_entities": self.max_active_entities,
            "mean_total_entities": mean([document.total_entities for document in documents] or [0]),
            "mean_max_active_entities": mean([document.max_active_entities for document in documents] or [0]),
            **_spread_summary(self.spreads),
            "per_document": [document.as_json() for document in documents],
        }


def _spread_summary(spreads: tuple[float, ...]) -> dict[str, float | None]:
    """Mean and median; None where no entity has two mentions."""
    return {"mean_spread": mean(spreads) if spreads else None, "median_spread": median(spreads) if spreads else None}


def count_entities(document: Document) -> DocumentEntities:
    """The entity counts of one annotated document."""
    if document.clusters is None:
        raise InputError(f"{document.id} part {document.part} has no coreference annotation: give annotated documents")
    active = active_entities(document)
    words = len(document.words)
    lengths = [end - start for start, end in map(spread, document.clusters)]
    sizes = [len(cluster.mentions) for cluster in document.clusters]
    return DocumentEntities(
        id=document.id,
        part=document.part,
        words=words,
        mentions=sum(sizes),
        total_entities=len(sizes),
        singletons=sizes.count(1),
        max_active_entities=max(active, default=0),
        mean_active_entities=sum(active) / words if words else 0.0,
        spreads=tuple(length / words for length, size in zip(lengths, sizes, strict=True) if size > 1),
    )


def analyze_entities(documents: Iterable[Document]) -> CorpusEntities:
    """The entity counts of a corpus, one document at a time."""
    return CorpusEntities(tuple(map(count_entities, documents)))
