"""What was found in a text: clusters of mentions with names, types and probabilities, and quotations with speakers."""

from __future__ import annotations

import importlib
import io
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longcoref.clusters import KINDS, Mention
from longcoref.document import Document
from longcoref.errors import InputError, MissingExtraError, UsageError, quoted
from longcoref.formats.json import (
    RECORD_READERS,
    SCHEMA,
    document_fields,
    document_of_record,
    object_parts,
    settled,
    words_at_record,
)
from longcoref.formats.records import Record, read_records
from longcoref.formats.source import Source
from longcoref.mention import MentionRecord
from longcoref.outcome import Outcome, ResultCluster, annotation, cluster_of_mentions, corrected, guessed_kind
from longcoref.spans import WordsAt, WordSpan
from longcoref.text.likeness import warning_about
from longcoref.text.quotations import ROLES, Quotation

if TYPE_CHECKING:
    from longcoref.corrections import Correction
    from longcoref.render.resolved import ResolvedText


@dataclass(frozen=True)
class Result:
    """The clusters of a text, in order of first mention. Iterating yields them.

    `quotes` is the quoted speech in text order, `narrator` the id of the cluster that tells the story as "I", and
    `corrections` what a person decided. `document` has the words and sentences, with the clusters as its annotation; it
    is None while a text is still being read, and if the result was read from JSON without the text.
    """

    clusters: tuple[ResultCluster, ...]
    model: str
    memory: str
    capacity: int | None
    id: str = ""
    document: Document | None = field(default=None, repr=False)
    quotes: tuple[Quotation, ...] = field(default=(), repr=False)
    narrator: int | None = None
    corrections: tuple[Correction, ...] = field(default=(), repr=False)

    @classmethod
    def from_json(cls, source: str | bytes, *, text: str | None = None) -> Result:
        """The result that `to_json` wrote, or one that was corrected in the reader page.

        `text` is for JSON without it, such as an answer of the server.
        """
        data = source.encode() if isinstance(source, str) else source
        records = list(read_records(Source("result.json", io.BytesIO(data))))
        if len(records) != 1:
            raise InputError(f"expected the JSON of one result, got {len(records)}")
        (record,) = records
        return cls.from_record(replace(record, values={"text": text, **record.values}))

    @classmethod
    def from_record(cls, record: Record, document: Document | None = None) -> Result:
        """The result of an object of the schema `longcoref/1`; `document` saves reading the document again."""
        document = document_of_record(record) if document is None else document
        if document.clusters is None:
            raise record.error("has no clusters: resolve the text first, with longcoref resolve")
        return _result_of_record(record, document)

    @classmethod
    def from_document(cls, document: Document) -> Result:
        """The result that an annotated document describes; kinds that it does not give are guessed from the words."""
        clusters = tuple(
            cluster_of_mentions(number, [_mention_of(document, mention, number) for mention in cluster.mentions])
            for number, cluster in enumerate(document.clusters or ())
        )
        annotated = document.with_clusters(annotation(clusters))
        return cls(clusters, "", "", None, id=document.id, document=annotated)

    def __iter__(self) -> Iterator[ResultCluster]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def known_document(self) -> Document:
        """The document, for outputs that need the text."""
        if self.document is None:
            raise UsageError(
                "this output needs the text, but the result has none: it is provisional (finish reading), or its JSON "
                "was written without the text"
            )
        return self.document

    @cached_property
    def warning(self) -> str | None:
        """Why the result is unreliable: the text does not look like English prose. None if it does."""
        return None if self.document is None else warning_about(self.document.words)

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
        if types is None and min_mentions <= 1:
            return self
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
        narrator = self.narrator if self.narrator in ids else None
        return replace(self, clusters=kept, document=document, quotes=quotes, narrator=narrator)

    def with_corrections(self, corrections: Iterable[Correction]) -> Result:
        """The result after more corrections; those made before are kept unless a new one contradicts them."""
        decisions = (*self.corrections, *corrections)
        outcome = corrected(self.known_document, Outcome(self.clusters, self.quotes, self.narrator), decisions)
        return replace(
            self,
            clusters=outcome.clusters,
            document=self.known_document.with_clusters(annotation(outcome.clusters)),
            quotes=outcome.quotes,
            narrator=outcome.narrator,
            corrections=decisions,
        )

    def get_clusters(self, *, as_strings: bool = True) -> list[list[Any]]:
        """The clusters as lists of strings or, with `as_strings=False`, of pairs (start, end)."""
        return [[m.text if as_strings else (m.start, m.end) for m in cluster] for cluster in self.clusters]

    def as_json(self, *, text: bool = False) -> dict[str, Any]:
        """The result as JSON values, schema `longcoref/1`; with `text`, also the text, its words and sentences."""
        return settled(self.json_fields(text=text))

    def to_json(self, *, text: bool = True) -> str:
        """The result as JSON text, from which `from_json` makes it again; `text=False` leaves out the text."""
        return "".join(self.json_parts(text=text))

    def json_parts(self, *, text: bool = True) -> Iterator[str]:
        """What `to_json` returns, in parts: most of it need not be in memory at once."""
        return object_parts(self.json_fields(text=text))

    def json_fields(self, *, text: bool = True) -> dict[str, Any]:
        """What `as_json` returns, with iterators in the place of long lists."""
        document = document_fields(self.document) if text and self.document is not None else {}
        document.pop("id", None)
        return {
            "schema": SCHEMA,
            **({"id": self.id} if self.id else {}),
            "model": self.model,
            "memory": {"policy": self.memory, "capacity": self.capacity},
            **document,
            "clusters": (cluster.as_json() for cluster in self.clusters),
            **({"quotes": (quote.as_json() for quote in self.quotes)} if self.quotes else {}),
            **({} if self.narrator is None else {"narrator": self.narrator}),
            **({} if self.warning is None else {"warning": self.warning}),
            **({"corrections": [one.as_json() for one in self.corrections]} if self.corrections else {}),
        }

    def to_html(self, *, title: str = "") -> str:
        """The reader page, a single HTML file; without a title it has the one that the text states, or else the id."""
        from longcoref.render.html import page

        return page(self, self.known_document.text, title=title)

    def resolved(
        self,
        *,
        pronouns_only: bool = False,
        types: Collection[str] | None = None,
        min_score: float = 0.0,
        max_distance: int | None = None,
    ) -> ResolvedText:
        """The text with mentions replaced by names, and where each part of it comes from.

        `pronouns_only` leaves nouns and names as they are. Only mentions of entities of these `types` are replaced,
        with a probability of at least `min_score`, and at most `max_distance` words after the entity was last named.
        """
        from longcoref.render.resolved import Replacing, resolved

        return resolved(self, Replacing(pronouns_only, types, min_score, max_distance))

    def resolved_text(self, **options: Any) -> str:
        """The text with mentions replaced by names; the options are those of `resolved`."""
        return self.resolved(**options).text

    def to_frame(self) -> Any:
        """A pandas data frame with one row per mention, in text order; those of several texts can be concatenated."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise MissingExtraError("data frames need pandas, which is not installed: pip install pandas") from error
        columns = ("start", "end", "text", "kind", "type", "score", "sentence")
        rows = [
            (self.id, cluster.id, cluster.name, *(getattr(mention, name) for name in columns))
            for mention, cluster in self.mentions
        ]
        return pandas.DataFrame(rows, columns=["document", "cluster", "name", *columns])


def read_results(
    path: str | Path,
    *,
    format: str | None = None,
    fold: int | None = None,
    part: str | None = None,
    types: str | Path | None = None,
    lenient: bool = False,
) -> Iterator[Result]:
    """The results of a file or folder in our JSON, or those that the documents of a corpus describe.

    The arguments are those of `formats.read_corpus`.
    """
    # Not needed by a result that was just made, and slow to import.
    from longcoref.formats.corpus import open_corpus, read_sources

    chosen, sources = open_corpus(path, format=format, fold=fold, part=part)
    if chosen.name in RECORD_READERS:
        read = RECORD_READERS[chosen.name]
        return (Result.from_record(record) for source in sources for record in read(source))
    return map(Result.from_document, read_sources(chosen, sources, types=types, lenient=lenient))


def is_wanted(type: str | None, count: int, types: Collection[str] | None, min_mentions: int) -> bool:
    """Whether a cluster of this type, with this many mentions, passes the filters."""
    return count >= min_mentions and (types is None or type in types)


def _mention_of(document: Document, mention: Mention, entity: int) -> MentionRecord:
    """The record of an annotated mention."""
    record = MentionRecord.of(
        document, mention.span, kind=mention.kind or "", type=mention.type, entity=entity, score=1.0
    )
    return record if record.kind in KINDS else replace(record, kind=guessed_kind(record.facts))


def _result_of_record(record: Record, document: Document) -> Result:
    """The result of an object whose document has been read from it."""
    from longcoref.corrections import read_corrections  # not at the top: a new text has none, and it takes time

    words_at = WordsAt(document.offsets)
    numbers: dict[Any, int] = {}
    clusters = []
    for item in record.records("clusters"):
        id = item.get("id")
        number = id if type(id) is int else len(numbers)
        while number in numbers.values():
            number += 1
        numbers[len(numbers) if id is None else id] = number
        mentions = []
        for place in item.records("mentions"):
            own = place if "type" in place.values else item
            annotated = Mention(words_at_record(place, words_at), place.string("kind"), own.string("type"))
            score = place.get("score")
            mention = _mention_of(document, annotated, number)
            if score is not None:
                mention = replace(mention, score=place.number("score"))
            if record.get("text") is None and place.get("sentence") is not None:
                mention = replace(mention, sentence=place.integer("sentence"))
            mentions.append(mention)
        summary = cluster_of_mentions(number, sorted(mentions, key=lambda mention: mention.words))
        name = item.string("name") or summary.name
        typed = item.string("type") if "type" in item.values else summary.type
        clusters.append(replace(summary, name=name, type=typed))
    clusters.sort(key=lambda cluster: [mention.words for mention in cluster])
    memory = record.get("memory") if isinstance(record.get("memory"), dict) else {}
    return Result(
        tuple(clusters),
        record.string("model") or "",
        str(memory.get("policy") or ""),
        memory.get("capacity"),
        id=document.id,
        document=document.with_clusters(annotation(clusters)) if record.get("text") is not None else None,
        quotes=tuple(sorted(_quotes_of(record, document, words_at, numbers), key=lambda quote: quote.start)),
        narrator=numbers.get(record.get("narrator")) if isinstance(record.get("narrator"), int | str) else None,
        corrections=read_corrections(record),
    )


def _quotes_of(record: Record, document: Document, words_at: WordsAt, numbers: dict[Any, int]) -> Iterator[Quotation]:
    def words_of(quote: Record) -> WordSpan:
        if record.get("text") is not None:
            return words_at_record(quote, words_at)
        # Without its text, only the words of the mentions are known.
        first = bisect_left(document.offsets, (quote.integer("start"), 0))
        return WordSpan(first, max(first, bisect_left(document.offsets, (quote.integer("end"), 0))))

    for quote in record.records("quotes") if record.get("quotes") is not None else ():
        speaker, addressee = (None if quote.get(role) is None else _number_of(quote, role, numbers) for role in ROLES)
        yield Quotation(
            words_of(quote),
            quote.integer("start"),
            quote.integer("end"),
            continues=bool(quote.get("continues")),
            speaker=speaker,
            addressee=addressee,
            score=0.0 if quote.get("score") is None else quote.number("score"),
        )


def _number_of(quote: Record, role: str, numbers: dict[Any, int]) -> int:
    id = quote.get(role)
    if not isinstance(id, int | str) or id not in numbers:
        raise quote.error(f"{quote.path}{role}: expected the id of a cluster, got {quoted(id)}")
    return numbers[id]
