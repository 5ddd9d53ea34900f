"""Error analysis: the transformation-based classification of Kummerfeld and Klein (2013).

*Error-Driven Analysis of Challenges in Coreference Resolution*, EMNLP 2013. The response is turned into the key by five
steps: spans are altered, entities are split, mentions are removed, mentions are introduced, entities are merged. The
steps are then read as errors:

    span error          a mention of the response becomes one of the key that has the same head
    conflated entities  mentions of another entity of the key are split off an entity of the response
    extra mention       a mention that the key does not have is taken from an entity that is in the key
    extra entity        an entity none of whose mentions the key has is removed
    missing mention     a mention is introduced and merged into an entity that the response has
    missing entity      an entity none of whose mentions the response has is introduced
    divided entity      parts of one entity of the key are merged

Of an entity of the response, the largest part stays and the others are split off; of an entity of the key, the other
parts are merged into the largest one. The corpora come without parse trees, so a head is found from the words, as for
the features of the model (`features.facts`). Clusters that share a span count as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from longcoref.clusters import Cluster, merge_shared_spans, without_singletons
from longcoref.document import Document
from longcoref.features.facts import mention_facts
from longcoref.metrics.corpus import pair_documents
from longcoref.spans import WordSpan

Spans = tuple[WordSpan, ...]


class ErrorType(str, Enum):
    """The kinds of error, in the order of the paper's table."""

    CONFLATED_ENTITIES = "conflated entities"
    DIVIDED_ENTITY = "divided entity"
    EXTRA_MENTION = "extra mention"
    EXTRA_ENTITY = "extra entity"
    MISSING_MENTION = "missing mention"
    MISSING_ENTITY = "missing entity"
    SPAN_ERROR = "span error"

    @property
    def initials(self) -> str:
        """The abbreviation in the paper's table: CE, DE and so on."""
        return "".join(word[0].upper() for word in self.value.split())


class Step(IntEnum):
    """The steps from the response to the key, in their order."""

    ALTER = 1
    SPLIT = 2
    REMOVE = 3
    INTRODUCE = 4
    MERGE = 5


@dataclass(frozen=True, slots=True)
class Correction:
    """One step. `spans` is what is altered, split off, removed, introduced or merged; `other` is the span that an
    altered one becomes, the mentions that a part is split from, or those that it is merged with.
    """

    step: Step
    spans: Spans
    other: Spans = ()


@dataclass(frozen=True, slots=True)
class Error:
    """One error, and the corrections that undo it."""

    type: ErrorType
    corrections: tuple[Correction, ...]

    @property
    def spans(self) -> Spans:
        """The mentions that are wrong or missing."""
        return tuple(sorted({span for correction in self.corrections for span in correction.spans}))

    @property
    def other(self) -> Spans:
        """The mentions that they are split from or merged with."""
        found = {span for correction in self.corrections for span in correction.other}
        return tuple(sorted(found.difference(self.spans)))


@dataclass(frozen=True, slots=True)
class DocumentErrors:
    """The errors of one document, and the document itself."""

    document: Document
    errors: tuple[Error, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many errors there are of each kind."""
        found = Counter(error.type for error in self.errors)
        return {kind.value: found[kind] for kind in ErrorType}


@dataclass(frozen=True, slots=True)
class CorpusErrors:
    """The errors of a corpus, document by document."""

    documents: tuple[DocumentErrors, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many errors there are of each kind."""
        return {kind.value: sum(document.counts[kind.value] for document in self.documents) for kind in ErrorType}

    def worst(self, count: int) -> list[tuple[DocumentErrors, Error]]:
        """The errors that move the most mentions, taking the kinds in turn."""
        ranked: dict[ErrorType, list[tuple[DocumentErrors, Error]]] = {kind: [] for kind in ErrorType}
        for document in self.documents:
            for error in document.errors:
                ranked[error.type].append((document, error))
        for pairs in ranked.values():
            pairs.sort(key=lambda pair: -len(pair[1].spans))
        longest = max((len(pairs) for pairs in ranked.values()), default=0)
        turns = (pairs[turn] for turn in range(longest) for pairs in ranked.values() if turn < len(pairs))
        return [pair for pair, _ in zip(turns, range(count), strict=False)]

    def as_json(self) -> dict[str, Any]:
        """The counts of the corpus and of each document."""
        rows = [
            {"id": entry.document.id, "part": entry.document.part, "errors": entry.counts} for entry in self.documents
        ]
        return {"documents": len(rows), "errors": self.counts, "per_document": rows}


def analyze_errors(
    keys: Iterable[Document], responses: Iterable[Document], *, keep_singletons: bool = True
) -> CorpusErrors:
    """The errors of responses against keys of the same id and part; OntoNotes' protocol drops singletons of both."""
    return CorpusErrors(
        tuple(
            DocumentErrors(key, tuple(document_errors(key, response, keep_singletons=keep_singletons)))
            for key, response in pair_documents(keys, responses)
        )
    )


def document_errors(key: Document, response: Document, *, keep_singletons: bool = True) -> list[Error]:
    """The errors of one response, whose corrections together turn it into the key."""
    gold, system = (entities(document.clusters or (), keep_singletons=keep_singletons) for document in (key, response))
    entity_of = {span: number for number, spans in enumerate(gold) for span in spans}
    altered = _altered(key, entity_of, {span for spans in system for span in spans})
    errors = [Error(ErrorType.SPAN_ERROR, (Correction(Step.ALTER, (old,), (new,)),)) for old, new in altered.items()]
    parts: dict[int, list[Spans]] = {number: [] for number in range(len(gold))}
    for spans in system:
        groups: dict[int | None, list[WordSpan]] = {}
        for span in sorted(altered.get(span, span) for span in spans):
            groups.setdefault(entity_of.get(span), []).append(span)
        extra = groups.pop(None, [])
        known = _by_size(groups.items())
        errors += _extra(extra, known[0][1] if known else ())
        for number, part in known:
            parts[number].append(part)
        for _, part in known[1:]:
            errors.append(Error(ErrorType.CONFLATED_ENTITIES, (Correction(Step.SPLIT, part, known[0][1]),)))
    for number, spans in enumerate(gold):
        found = [part for _, part in _by_size(enumerate(parts[number]))]
        seen = {span for part in found for span in part}
        errors += _missing([span for span in sorted(spans) if span not in seen], found[0] if found else ())
        for part in found[1:]:
            errors.append(Error(ErrorType.DIVIDED_ENTITY, (Correction(Step.MERGE, part, found[0]),)))
    return errors


def _extra(spans: Sequence[WordSpan], stays: Spans) -> Iterator[Error]:
    """The errors of mentions that the key does not have, next to the part of their entity that stays."""
    removals = [Correction(Step.REMOVE, (span,), stays) for span in spans]
    if stays:
        yield from (Error(ErrorType.EXTRA_MENTION, (removal,)) for removal in removals)
    elif removals:
        yield Error(ErrorType.EXTRA_ENTITY, tuple(removals))


def _missing(spans: Sequence[WordSpan], found: Spans) -> Iterator[Error]:
    """The errors of mentions that the response does not have, next to the part of their entity that it has."""
    if not spans:
        return
    introduced = [Correction(Step.INTRODUCE, (span,)) for span in spans]
    if found:
        for span, introduction in zip(spans, introduced, strict=True):
            yield Error(ErrorType.MISSING_MENTION, (introduction, Correction(Step.MERGE, (span,), found)))
    else:
        merged = [Correction(Step.MERGE, (span,), (spans[0],)) for span in spans[1:]]
        yield Error(ErrorType.MISSING_ENTITY, (*introduced, *merged))


def entities(clusters: Sequence[Cluster], *, keep_singletons: bool) -> list[frozenset[WordSpan]]:
    """The entities that are compared: each span in one of them only."""
    merged = merge_shared_spans(clusters)
    return [frozenset(cluster.spans) for cluster in (merged if keep_singletons else without_singletons(merged))]


def _by_size(groups: Iterable[tuple[Any, Sequence[WordSpan]]]) -> list[tuple[Any, Spans]]:
    """Groups of spans, the largest first, then in text order."""
    return sorted(((name, tuple(spans)) for name, spans in groups), key=lambda group: (-len(group[1]), group[1]))


def _altered(document: Document, gold: Iterable[WordSpan], system: set[WordSpan]) -> dict[WordSpan, WordSpan]:
    """Spans of the response that become spans of the key with the same head, the nearest of them, each only once."""
    free: dict[int, list[WordSpan]] = {}
    wrong = sorted(system.difference(gold))
    for span in sorted(set(gold) - system):
        free.setdefault(_head(document, span), []).append(span)
    altered = {}
    for span in wrong:
        choices = free.get(_head(document, span), [])
        if choices:
            nearest = min(choices, key=lambda other: abs(other.start - span.start) + abs(other.end - span.end))
            choices.remove(nearest)
            altered[span] = nearest
    return altered


def _head(document: Document, span: WordSpan) -> int:
    """The place of a mention's main word in the document."""
    words = document.words[span.start : span.end]
    head = mention_facts(words).head
    return span.start + [word.lower() for word in words].index(head) if head else span.start


def apply_corrections(
    clusters: Iterable[Iterable[WordSpan]], corrections: Iterable[Correction]
) -> set[frozenset[WordSpan]]:
    """The entities after all corrections, in the order of their steps: with those of `document_errors`, the key's."""
    current = [set(spans) for spans in clusters]

    def home(span: WordSpan) -> set[WordSpan]:
        return next(spans for spans in current if span in spans)

    for step, spans, other in sorted((c.step, c.spans, c.other) for c in corrections):
        if step is Step.ALTER:
            home(spans[0]).symmetric_difference_update((spans[0], other[0]))
        elif step is Step.SPLIT:
            home(spans[0]).difference_update(spans)
            current.append(set(spans))
        elif step is Step.REMOVE:
            home(spans[0]).remove(spans[0])
        elif step is Step.INTRODUCE:
            current.append(set(spans))
        else:
            part, whole = home(spans[0]), home(other[0])
            whole |= part
            current = [entity for entity in current if entity is not part]
    return {frozenset(spans) for spans in current if spans}
