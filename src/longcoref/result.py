"""What was found in a text: clusters of mentions with names, types and probabilities; and how it becomes JSON.

A `Gathering` grows from the steps of reading; with `keep=False` it holds no mentions but only what a cluster's name and
type need, and forgets a cluster that is closed.
"""

from __future__ import annotations

import importlib
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from longcoref.book.naming import NameChooser
from longcoref.book.persons import Seen
from longcoref.book.second_look import look_again
from longcoref.book.speakers import Turn
from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.errors import MissingExtraError
from longcoref.features.facts import mention_facts
from longcoref.memory.decision import Rivals
from longcoref.runtime.stream import Step
from longcoref.spans import WordSpan

SCHEMA = "longcoref/1"


@dataclass(frozen=True, slots=True)
class ResultMention:
    """A mention: `start` and `end` are code points of the text, `words` its words, `score` a probability.

    `kind` is PROP, NOM or PRON; `type` is what the mention by itself seems to be, None if the model has no types.
    """

    start: int
    end: int
    text: str
    kind: str
    type: str | None
    score: float
    sentence: int
    words: WordSpan

    def as_json(self, cluster_type: str | None) -> dict[str, Any]:
        """The mention as JSON values; its type is said where it is not the cluster's."""
        record: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text, "kind": self.kind}
        if self.type != cluster_type:
            record["type"] = self.type
        return {**record, "score": round(self.score, 4), "sentence": self.sentence}


@dataclass(frozen=True, slots=True)
class ResultCluster:
    """One entity: its name is the most informative mention, its type that of most mentions.

    `count` is the number of its mentions, also where these were not kept.
    """

    id: int
    name: str
    type: str | None
    count: int
    mentions: tuple[ResultMention, ...] = field(repr=False)

    def __iter__(self) -> Iterator[ResultMention]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return self.count

    def as_json(self) -> dict[str, Any]:
        """The cluster as JSON values."""
        mentions = [mention.as_json(self.type) for mention in self.mentions]
        return {"id": self.id, "name": self.name, "type": self.type, "mentions": mentions}


@dataclass(frozen=True, slots=True)
class ResultQuote:
    """Quoted speech, marks included: who speaks it and to whom, as ids of clusters, None where nobody was found.

    `score` is the probability of the speaker; `continues`: it is a further paragraph of the speech before it.
    """

    start: int
    end: int
    words: WordSpan
    speaker: int | None
    addressee: int | None
    score: float
    continues: bool = False

    def as_json(self) -> dict[str, Any]:
        """The quotation as JSON values."""
        record: dict[str, Any] = {"start": self.start, "end": self.end, "speaker": self.speaker}
        record |= {"addressee": self.addressee, "score": round(self.score, 4)}
        return {**record, "continues": True} if self.continues else record


@dataclass(frozen=True)
class Result:
    """The clusters of a text, in order of first mention. Iterating gives them.

    `quotes` is the quoted speech in text order. `document` has the words and sentences, with the clusters as its
    annotation; it is None where the text was read piece by piece and not kept.
    """

    clusters: tuple[ResultCluster, ...]
    model: str
    memory: str
    capacity: int | None
    id: str = ""
    document: Document | None = field(default=None, repr=False)
    quotes: tuple[ResultQuote, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[ResultCluster]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    @cached_property
    def mentions(self) -> tuple[tuple[ResultMention, ResultCluster], ...]:
        """All mentions in text order, each with its cluster."""
        pairs = ((mention, cluster) for cluster in self.clusters for mention in cluster.mentions)
        return tuple(sorted(pairs, key=lambda pair: (pair[0].start, pair[0].end)))

    @cached_property
    def _starts(self) -> list[int]:
        return [mention.start for mention, _ in self.mentions]

    @cached_property
    def _longest(self) -> int:
        return max((mention.end - mention.start for mention, _ in self.mentions), default=0)

    def at(self, offset: int) -> list[tuple[ResultMention, ResultCluster]]:
        """The mentions that hold the character at `offset`, the innermost first."""
        found = []
        for index in range(bisect_right(self._starts, offset) - 1, -1, -1):
            mention, cluster = self.mentions[index]
            if mention.start <= offset - self._longest:
                break
            if offset < mention.end:
                found.append((mention, cluster))
        return sorted(found, key=lambda pair: pair[0].end - pair[0].start)

    def select(self, *, types: Collection[str] | None = None, min_mentions: int = 1) -> Result:
        """Only the clusters of some types, or with so many mentions; they keep their ids. All quotes stay."""
        kept = tuple(cluster for cluster in self.clusters if is_wanted(cluster, types, min_mentions))
        ids = {None, *(cluster.id for cluster in kept)}
        quotes = tuple(
            replace(
                quote,
                speaker=quote.speaker if quote.speaker in ids else None,
                addressee=quote.addressee if quote.addressee in ids else None,
            )
            for quote in self.quotes
        )
        document = None if self.document is None else replace(self.document, clusters=_annotation(kept))
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
        """A pandas frame with one row per mention, in text order."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise MissingExtraError("frames need pandas, which is not installed: pip install pandas") from error
        columns = ("start", "end", "text", "kind", "type", "score", "sentence")
        rows = [
            (cluster.id, cluster.name, *(getattr(mention, name) for name in columns))
            for mention, cluster in self.mentions
        ]
        return pandas.DataFrame(rows, columns=["cluster", "name", *columns])


def is_wanted(cluster: ResultCluster, types: Collection[str] | None, min_mentions: int) -> bool:
    """Whether a cluster passes the filters."""
    return cluster.count >= min_mentions and (types is None or cluster.type in types)


def _annotation(clusters: Iterable[ResultCluster]) -> tuple[Cluster, ...]:
    return tuple(
        Cluster(tuple(Mention(m.words, m.kind, m.type) for m in cluster.mentions), str(cluster.id))
        for cluster in clusters
    )


def quotes_of(document: Document, turns: Iterable[Turn]) -> tuple[ResultQuote, ...]:
    """The quotations of a document with their speakers."""
    return tuple(
        ResultQuote(
            *document.characters(turn.quotation.span),
            turn.quotation.span,
            turn.speaker,
            turn.addressee,
            turn.probability,
            turn.quotation.continues,
        )
        for turn in turns
    )


def with_clusters(document: Document, clusters: Iterable[ResultCluster]) -> Document:
    """The document with these clusters as its annotation."""
    return replace(document, clusters=_annotation(clusters))


@dataclass(slots=True)
class _Growing:
    """A cluster that may still get mentions."""

    names: NameChooser = field(default_factory=NameChooser)
    types: Counter[str] = field(default_factory=Counter)
    count: int = 0
    mentions: list[ResultMention] = field(default_factory=list)
    rivals: list[Rivals] = field(default_factory=list)


class Gathering:
    """Clusters under construction."""

    def __init__(self, *, keep: bool = True) -> None:
        self._keep = keep
        self._growing: dict[int, _Growing] = {}

    def add(self, step: Step) -> ResultMention | None:
        """Takes the next step; gives its mention if it went into a cluster."""
        entity = step.decision.entity
        if entity is None:
            return None
        mention = ResultMention(
            step.start, step.end, step.text, step.kind, step.type, step.score, step.sentence, step.words
        )
        self._put(entity, mention, step.decision.rivals)
        return mention

    def _put(self, entity: int, mention: ResultMention, rivals: Rivals = (), *, named: bool = True) -> None:
        growing = self._growing.setdefault(entity, _Growing())
        if named:
            growing.names.add(mention.text, mention.kind)
        if mention.type is not None:
            growing.types[mention.type] += 1
        growing.count += 1
        if self._keep:
            growing.mentions.append(mention)
            growing.rivals.append(rivals)

    def looked_again(self, document: Document, *, names: bool, speech: bool) -> tuple[Gathering, list[Turn]]:
        """What a second look at the whole document makes of the mentions, and who speaks its quotations."""
        mentions = sorted(
            (
                (mention, entity, rivals)
                for entity, growing in self._growing.items()
                for mention, rivals in zip(growing.mentions, growing.rivals, strict=True)
            ),
            key=lambda item: item[0].words,
        )
        seen = [
            Seen(
                mention.words,
                entity,
                mention.kind,
                mention.type,
                mention_facts(document.words[slice(*mention.words)], sentence=mention.sentence, quoted=False),
                rivals,
            )
            for mention, entity, rivals in mentions
        ]
        look = look_again(document, seen, names=names, speech=speech)
        again = Gathering()
        for (mention, *_), place, entity in zip(mentions, seen, look.entities, strict=True):
            # A narrator without a name is called "I", not what somebody once called them.
            again._put(entity, mention, named=entity != look.narrator or mention.kind == "PRON" or bool(place.name))
        return again, look.turns

    def close(self, entity: int) -> ResultCluster:
        """The cluster of an entity that gets no more mentions; it is forgotten here."""
        return _cluster(entity, self._growing.pop(entity))

    def state(self) -> list[Any]:
        """Everything gathered, as JSON values."""
        return [
            {
                "entity": entity,
                "rank": growing.names.rank,
                "names": growing.names.counts,
                "types": growing.types,
                "count": growing.count,
                "mentions": [asdict(mention) for mention in growing.mentions],
                "rivals": growing.rivals,
            }
            for entity, growing in self._growing.items()
        ]

    def restore(self, state: list[Any]) -> None:
        """Goes back to where `state` was called."""
        for item in state:
            names = NameChooser(item["rank"], Counter(item["names"]))
            mentions = [ResultMention(**{**values, "words": WordSpan(*values["words"])}) for values in item["mentions"]]
            rivals = [tuple((entity, score) for entity, score in row) for row in item["rivals"]]
            self._growing[item["entity"]] = _Growing(names, Counter(item["types"]), item["count"], mentions, rivals)

    def clusters(self) -> tuple[ResultCluster, ...]:
        """All clusters so far, in order of first mention."""
        return tuple(_cluster(entity, growing) for entity, growing in sorted(self._growing.items()))


def _cluster(entity: int, growing: _Growing) -> ResultCluster:
    best = growing.types.most_common(1)
    type = best[0][0] if best else None
    return ResultCluster(entity, growing.names.best(), type, growing.count, tuple(growing.mentions))
