"""Scoring a model on documents with gold clusters, under any memory policy; needs no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longcoref.book.persons import Seen
from longcoref.book.second_look import look_again
from longcoref.calibration import Judged, judge, reliability
from longcoref.clusters import Cluster, cluster_of, gold_entities, merge_shared_spans, spans_of
from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.memory import ActionKind, MemoryPolicy
from longcoref.metrics import Scores, score_documents
from longcoref.runtime.confidence import Calibration
from longcoref.runtime.reading import Model, Reading, mention_labels, read_document
from longcoref.spans import WordSpan


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What happened in one document: enough for every analysis of the paper."""

    id: str
    part: int
    words: int
    gold_entities: int
    gold_mentions: int
    predicted_entities: int
    proposed: int
    recalled: int
    """Gold mentions among the proposals."""
    most_in_memory: int
    decisions: dict[str, int]
    """How many mentions were linked, new, evicting, ignored, invalid."""
    scores: Scores
    labels: dict[str, tuple[int, int]]
    """For kind and type: right ones, and gold mentions found that have one."""

    def as_json(self) -> dict[str, Any]:
        """The record as JSON, with `ignored` beside the decisions for convenience."""
        table = {name: getattr(self, name) for name in self.__slots__ if name not in ("scores", "labels")}
        return {**table, "ignored": self.decisions.get("ignore", 0), **self.scores.as_json()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of a corpus, its documents, what was predicted for them, and whether each decision was right."""

    scores: Scores
    records: Sequence[DocumentRecord]
    responses: Sequence[Document]
    judged: Sequence[Judged]
    calibration: Calibration

    def as_json(self) -> dict[str, Any]:
        """Corpus scores in per cent under the keys of `score`, with counts and label accuracies."""
        table: dict[str, Any] = {**self.scores.as_json(), "documents": len(self.records)}
        recalled, gold = sum(r.recalled for r in self.records), sum(r.gold_mentions for r in self.records)
        table["proposal_recall"] = 100 * recalled / max(gold, 1)
        table["max_entities_in_memory"] = max((r.most_in_memory for r in self.records), default=0)
        table["ignored_per_document"] = sum(r.decisions.get("ignore", 0) for r in self.records) / max(
            len(self.records), 1
        )
        for name in ("kind", "type"):
            right, known = (sum(r.labels[name][place] for r in self.records) for place in (0, 1))
            if known:
                table[f"{name}_accuracy"] = 100 * right / known
        table["calibration"] = reliability(self.judged, self.calibration).as_json()
        return table


def evaluate(
    documents: Iterable[Document],
    model: Model,
    policy: MemoryPolicy,
    *,
    keep_singletons: bool = True,
    names: bool = False,
    speech: bool = False,
) -> Evaluation:
    """Reads every document, and scores what was found against its gold clusters as they were written.

    What the memory decided is scored, and after a second look with `names` and `speech` what that makes of it.
    """
    judged: list[Judged] = []
    records: list[DocumentRecord] = []
    responses: list[Document] = []

    def pairs() -> Iterator[tuple[list[tuple[WordSpan, ...]], list[tuple[WordSpan, ...]]]]:
        for document in documents:
            if document.clusters is None:
                raise InputError("has no gold clusters to score against", document.id)
            reading = read_document(document, model, policy)
            response = [cluster_of(spans) for spans in _found(document, reading, model, names, speech)]
            pair = (spans_of(document.clusters), spans_of(response))
            records.append(_record(document, reading, response, model, keep_singletons))
            responses.append(replace(document, clusters=tuple(response)))
            judged.extend(judge(reading, gold_entities(document.clusters)))
            yield pair

    scores = score_documents(pairs(), keep_singletons=keep_singletons)
    return Evaluation(scores, records, responses, judged, model.calibration)


def _found(document: Document, reading: Reading, model: Model, names: bool, speech: bool) -> list[Sequence[WordSpan]]:
    if not (names or speech):
        return reading.clusters()
    labels = mention_labels(model, reading.x, reading.facts)
    seen = [
        Seen(span, decision.entity, *label, facts, decision.rivals)
        for span, decision, label, facts in zip(reading.spans, reading.decisions, labels, reading.facts, strict=True)
        if decision.entity is not None
    ]
    clusters: dict[int, list[WordSpan]] = {}
    for mention, entity in zip(seen, look_again(document, seen, names=names, speech=speech).entities, strict=True):
        clusters.setdefault(entity, []).append(mention.span)
    return list(clusters.values())


def _record(
    document: Document, reading: Reading, response: Sequence[Cluster], model: Model, keep_singletons: bool
) -> DocumentRecord:
    gold = document.clusters or ()
    gold_spans = {span for cluster in gold for span in cluster.spans}
    kinds = Counter(decision.action.kind for decision in reading.decisions)
    in_memory = 0
    most = 0
    for decision in reading.decisions:
        in_memory += decision.action.kind is ActionKind.NEW
        most = max(most, in_memory)
    return DocumentRecord(
        id=document.id,
        part=document.part,
        words=len(document.words),
        gold_entities=len(merge_shared_spans(gold)),
        gold_mentions=len(gold_spans),
        predicted_entities=len(response),
        proposed=len(reading.spans),
        recalled=len(gold_spans.intersection(reading.spans)),
        most_in_memory=most,
        decisions={kind.value: kinds[kind] for kind in ActionKind},
        scores=score_documents([(spans_of(gold), spans_of(response))], keep_singletons=keep_singletons),
        labels=_labels(document, reading, model),
    )


def _labels(document: Document, reading: Reading, model: Model) -> dict[str, tuple[int, int]]:
    """Right and known labels of the gold mentions that are in some predicted cluster."""
    mentions = {m.span: m for cluster in document.clusters or () for m in cluster.mentions}
    found = [
        (row, mentions[span])
        for row, (span, decision) in enumerate(zip(reading.spans, reading.decisions, strict=True))
        if decision.action.cell is not None and span in mentions
    ]
    counts = {}
    for name, choices in (("kind", model.config.model.kinds), ("type", model.config.model.types)):
        known = [(row, getattr(mention, name)) for row, mention in found if getattr(mention, name) is not None]
        if not choices or not known:
            counts[name] = (0, 0)
            continue
        best = model.heads.labels(name, reading.x[[row for row, _ in known]]).argmax(1)
        right = sum(choices[number] == label for number, (_, label) in zip(best, known, strict=True))
        counts[name] = (right, len(known))
    return counts
