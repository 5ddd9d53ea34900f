"""Scores a model on documents with gold clusters, under any memory policy; needs no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longcoref.book.revision import NOTHING, BookPolicy
from longcoref.calibration import Judged, judge, reliability
from longcoref.clusters import Cluster, cluster_of, gold_entities, merge_shared_spans, spans_of
from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.memory import ActionKind, MemoryPolicy
from longcoref.metrics import Scores, score_documents
from longcoref.outcome import post_processed
from longcoref.runtime.confidence import Calibration
from longcoref.runtime.model import Model
from longcoref.runtime.reading import Block, read_document
from longcoref.spans import WordSpan


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """Counts and scores of one document: enough for every analysis of the paper."""

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
    """The number of mentions that were linked, new, evicting, recalled, ignored and invalid."""
    scores: Scores
    labels: dict[str, tuple[int, int]]
    """For kind and type: how many are right, and how many of the gold mentions found have one."""

    def as_json(self) -> dict[str, Any]:
        """The record as JSON, with `ignored` repeated next to the decisions for convenience."""
        table = {name: getattr(self, name) for name in self.__slots__ if name not in ("scores", "labels")}
        return {**table, "ignored": self.decisions.get("ignore", 0), **self.scores.as_json()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of a corpus, a record and the predicted clusters of each document, and the judged decisions."""

    scores: Scores
    records: Sequence[DocumentRecord]
    responses: Sequence[Document]
    judged: Sequence[Judged]
    calibration: Calibration

    def as_json(self) -> dict[str, Any]:
        """Corpus scores in percent under the keys of `score`, with counts and label accuracies."""
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
    book: BookPolicy = NOTHING,
    keep_singletons: bool = True,
) -> Evaluation:
    """Reads every document, and scores its clusters against the gold clusters as they were written.

    The clusters are those of the memory, post-processed as `book` says.
    """
    judged: list[Judged] = []
    records: list[DocumentRecord] = []
    responses: list[Document] = []

    def pairs() -> Iterator[tuple[list[tuple[WordSpan, ...]], list[tuple[WordSpan, ...]]]]:
        for document in documents:
            if document.clusters is None:
                raise InputError("has no gold clusters to score against", document.id)
            read = read_document(document, model, policy)
            clusters = post_processed(document, read.mentions, book).clusters
            response = [cluster_of(mention.words for mention in cluster) for cluster in clusters]
            records.append(_record(document, read, response, model, keep_singletons))
            responses.append(document.with_clusters(response))
            judged.extend(judge(read.mentions, gold_entities(document.clusters)))
            yield spans_of(document.clusters), spans_of(response)

    scores = score_documents(pairs(), keep_singletons=keep_singletons)
    return Evaluation(scores, records, responses, judged, model.calibration)


def _record(
    document: Document, read: Block, response: Sequence[Cluster], model: Model, keep_singletons: bool
) -> DocumentRecord:
    gold = document.clusters or ()
    gold_spans = {span for cluster in gold for span in cluster.spans}
    kinds = Counter(mention.decided.action.kind for mention in read.mentions)
    return DocumentRecord(
        id=document.id,
        part=document.part,
        words=len(document.words),
        gold_entities=len(merge_shared_spans(gold)),
        gold_mentions=len(gold_spans),
        predicted_entities=len(response),
        proposed=len(read.mentions),
        recalled=len(gold_spans.intersection(mention.words for mention in read.mentions)),
        most_in_memory=kinds[ActionKind.NEW],  # a cell is never emptied
        decisions={kind.value: kinds[kind] for kind in ActionKind},
        scores=score_documents([(spans_of(gold), spans_of(response))], keep_singletons=keep_singletons),
        labels=_labels(document, read, model),
    )


def _labels(document: Document, read: Block, model: Model) -> dict[str, tuple[int, int]]:
    """Counts of right and of known labels among the gold mentions that are in a predicted cluster."""
    mentions = {m.span: m for cluster in document.clusters or () for m in cluster.mentions}
    found = [
        (row, mentions[mention.words])
        for row, mention in enumerate(read.mentions)
        if mention.entity is not None and mention.words in mentions
    ]
    counts = {}
    for name, choices in (("kind", model.config.model.kinds), ("type", model.config.model.types)):
        known = [(row, getattr(mention, name)) for row, mention in found if getattr(mention, name) is not None]
        if not choices or not known:
            counts[name] = (0, 0)
            continue
        best = model.heads.labels(name, read.x[[row for row, _ in known]]).argmax(1)
        right = sum(choices[number] == label for number, (_, label) in zip(best, known, strict=True))
        counts[name] = (right, len(known))
    return counts
