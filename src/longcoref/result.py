"""What was found in a text: clusters of mentions with names, types and probabilities, and quotations with speakers."""

from __future__ import annotations

import importlib
import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from longcoref.book.revision import BookPolicy, revise
from longcoref.cancellation import cancellable
from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.errors import MissingExtraError, UsageError
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.summary import Summary
from longcoref.text.quotations import Quotation

SCHEMA = "longcoref/1"


@dataclass(frozen=True, slots=True)
class ResultCluster:
    """One entity with its mentions in text order: named after the most informative one, typed by the majority."""

    id: int
    name: str
    type: str | None
    mentions: tuple[MentionRecord, ...] = field(repr=False)

    def __iter__(self) -> Iterator[MentionRecord]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return len(self.mentions)

    def as_json(self) -> dict[str, Any]:
        """The cluster as JSON values."""
        mentions = [mention.as_json(self.type) for mention in cancellable(self.mentions)]
        return {"id": self.id, "name": self.name, "type": self.type, "mentions": mentions}


@dataclass(frozen=True)
class Result:
    """The clusters of a text, in order of first mention. Iterating yields them.

    `quotes` is the quoted speech in text order. `document` has the words and sentences, with the clusters as its
    annotation; it is None while a text is still being read.
    """

    clusters: tuple[ResultCluster, ...]
    model: str
    memory: str
    capacity: int | None
    id: str = ""
    document: Document | None = field(default=None, repr=False)
    quotes: tuple[Quotation, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[ResultCluster]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def known_document(self) -> Document:
        """The document, for outputs that need the text."""
        if self.document is None:
            raise UsageError("this output needs the text, but the result is provisional and has none: finish reading")
        return self.document

    @cached_property
    def mentions(self) -> tuple[tuple[MentionRecord, ResultCluster], ...]:
        """All mentions in text order, each with its cluster."""
        pairs = ((mention, cluster) for cluster in self.clusters for mention in cluster.mentions)
        return tuple(sorted(pairs, key=lambda pair: (pair[0].start, pair[0].end)))

    @cached_property
    def _starts(self) -> list[int]:
        return [mention.start for mention, _ in self.mentions]

    @cached_property
    def _longest(self) -> int:
        return max((mention.end - mention.start for mention, _ in self.mentions), default=0)

    def at(self, offset: int) -> list[tuple[MentionRecord, ResultCluster]]:
        """The mentions that contain the character at `offset`, the innermost first."""
        found = []
        for index in range(bisect_right(self._starts, offset) - 1, -1, -1):
            mention, cluster = self.mentions[index]
            if mention.start <= offset - self._longest:
                break
            if offset < mention.end:
                found.append((mention, cluster))
        return sorted(found, key=lambda pair: pair[0].end - pair[0].start)

    @cached_property
    def _by_words(self) -> dict[WordSpan, ResultCluster]:
        return {mention.words: cluster for mention, cluster in self.mentions}

    def cluster_of(self, mention: MentionRecord) -> ResultCluster | None:
        """The cluster of a mention that `Reading.feed` returned earlier, None if it is in no cluster."""
        return self._by_words.get(mention.words)

    def select(self, *, types: Collection[str] | None = None, min_mentions: int = 1) -> Result:
        """The clusters of these types with at least `min_mentions` mentions, with the same ids. All quotes are kept."""
        kept = tuple(cluster for cluster in self.clusters if is_wanted(cluster.type, len(cluster), types, min_mentions))
        ids = {None, *(cluster.id for cluster in kept)}
        quotes = tuple(
            replace(
                quote,
                speaker=quote.speaker if quote.speaker in ids else None,
                addressee=quote.addressee if quote.addressee in ids else None,
            )
            for quote in self.quotes
        )
        document = None if self.document is None else self.document.with_clusters(annotation(kept))
        return replace(self, clusters=kept, document=document, quotes=quotes)

    def as_json(self) -> dict[str, Any]:
        """The result as JSON values, schema `longcoref/1`."""
        return {
            "schema": SCHEMA,
            **({"id": self.id} if self.id else {}),
            "model": self.model,
            "memory": {"policy": self.memory, "capacity": self.capacity},
            "clusters": [cluster.as_json() for cluster in self.clusters],
            **({"quotes": [quote.as_json() for quote in self.quotes]} if self.quotes else {}),
        }

    def to_json(self) -> str:
        """The result as JSON text."""
        return json.dumps(self.as_json(), ensure_ascii=False)

    def to_frame(self) -> Any:
        """A pandas data frame with one row per mention, in text order."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise MissingExtraError("data frames need pandas, which is not installed: pip install pandas") from error
        columns = ("start", "end", "text", "kind", "type", "score", "sentence")
        rows = [
            (cluster.id, cluster.name, *(getattr(mention, name) for name in columns))
            for mention, cluster in self.mentions
        ]
        return pandas.DataFrame(rows, columns=["cluster", "name", *columns])


def is_wanted(type: str | None, count: int, types: Collection[str] | None, min_mentions: int) -> bool:
    """Whether a cluster of this type, with this many mentions, passes the filters."""
    return count >= min_mentions and (types is None or type in types)


def annotation(clusters: Iterable[ResultCluster]) -> tuple[Cluster, ...]:
    """The clusters as a document carries them."""
    return tuple(
        Cluster(tuple(Mention(m.words, m.kind, m.type) for m in cluster.mentions), str(cluster.id))
        for cluster in clusters
    )


def post_processed(
    document: Document, mentions: Sequence[MentionRecord], book: BookPolicy
) -> tuple[tuple[ResultCluster, ...], tuple[Quotation, ...]]:
    """The clusters and quotations of a document, given the mentions in text order as the memory decided them."""
    revision = revise(document, mentions, book)
    # Data that only post-processing needs would be most of what a result stores for a pronoun.
    settled = (replace(mention, rivals=(), revised_from=None, decision=None) for mention in revision.mentions)
    return collect(settled, narrator=revision.narrator), revision.quotations


def collect(mentions: Iterable[MentionRecord], *, narrator: int | None = None) -> tuple[ResultCluster, ...]:
    """The clusters of mentions in text order, by entity number; mentions without an entity are left out.

    A narrator without a name is called "I", whatever others call them.
    """
    found: dict[int, list[MentionRecord]] = {}
    for mention in cancellable(mentions):
        if mention.entity is not None:
            found.setdefault(mention.entity, []).append(mention)
    return tuple(_cluster(entity, members, entity == narrator) for entity, members in sorted(found.items()))


def _cluster(entity: int, mentions: Sequence[MentionRecord], narrates: bool) -> ResultCluster:
    summary = Summary()
    for mention in cancellable(mentions):
        summary.add(mention, naming=not narrates or mention.kind == "PRON" or mention.name is not None)
    return ResultCluster(entity, summary.name, summary.type, tuple(mentions))
