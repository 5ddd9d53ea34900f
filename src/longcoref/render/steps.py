"""What is written while a text is being read, so that it need not stay in memory: JSONL of mentions, and the trace.

docs/formats.md has both schemas.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import IO, Any

from longcoref.memory import Action, ActionKind, MemoryPolicy
from longcoref.result import Gathering, ResultCluster, is_wanted
from longcoref.runtime.reading import Model
from longcoref.runtime.stream import Step

SCHEMA = "longcoref-stream/1"
_BEST = 3  # scores that a trace shows


def _write(stream: IO[str], record: dict[str, Any]) -> None:
    stream.write(json.dumps(record, ensure_ascii=False) + "\n")


class StepWriter:
    """Writes each mention when it is decided, and each cluster when it is over: evicted, or at the end of the text.

    Where evicted entities can return, all clusters are over at the end.

    Without filters nothing grows with the text but what unbounded memories track. With a filter, the mentions of a
    cluster are held back until it is over, for only then it is known whether it is wanted.
    """

    def __init__(
        self,
        stream: IO[str],
        model: Model,
        policy: MemoryPolicy,
        *,
        types: Collection[str] | None = None,
        min_mentions: int = 1,
    ) -> None:
        self._stream = stream
        self._header = {
            "model": model.name,
            "memory": {"policy": policy.name, "capacity": policy.capacity},
        }
        self._recalls = policy.recalls
        self._types, self._min_mentions = types, min_mentions
        self._filtered = types is not None or min_mentions > 1

    def begin(self, id: str) -> None:
        """A text of this id begins."""
        _write(self._stream, {"schema": SCHEMA, "id": id, **self._header})
        self._gathering = Gathering(keep=self._filtered)
        self._mentions = self._clusters = 0

    def add(self, step: Step) -> None:
        """Takes the next step."""
        if step.decision.evicted is not None and not self._recalls:
            self._close(self._gathering.close(step.decision.evicted))
        mention = self._gathering.add(step)
        if mention is not None and not self._filtered:
            self._mentions += 1
            _write(self._stream, {"mention": mention.as_json(None), "cluster": step.decision.entity})

    def end(self) -> None:
        """The text is over."""
        for cluster in self._gathering.clusters():
            self._close(cluster)
        _write(self._stream, {"end": {"mentions": self._mentions, "clusters": self._clusters}})

    def _close(self, cluster: ResultCluster) -> None:
        if not is_wanted(cluster, self._types, self._min_mentions):
            return
        for mention in cluster.mentions:
            self._mentions += 1
            _write(self._stream, {"mention": mention.as_json(None), "cluster": cluster.id})
        self._clusters += 1
        summary = {"id": cluster.id, "name": cluster.name, "type": cluster.type, "mentions": cluster.count}
        _write(self._stream, {"closed": summary})


class TraceWriter:
    """Writes every decision with its best raw scores."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def begin(self, id: str) -> None:
        """A text of this id begins."""
        self._id = id
        self._held: dict[int, int | None] = {}  # the entity in each cell

    def add(self, step: Step) -> None:
        """Takes the next step."""
        decision, action = step.decision, step.decision.action
        links = decision.links
        best = sorted(range(len(links)), key=lambda cell: -links[cell])[:_BEST]
        record: dict[str, Any] = {
            "id": self._id,
            "index": step.index,
            "start": step.start,
            "end": step.end,
            "text": step.text,
            "sentence": step.sentence,
            "action": action.kind.value,
            "cell": action.cell,
            "cluster": decision.entity,
            "evicted": decision.evicted,
            "score": round(step.score, 4),
            "mention_score": _rounded(decision.mention_score),
            "links": [{"cell": c, "cluster": self._held.get(c), "score": _rounded(links[c])} for c in best],
        }
        if decision.offered is not None:
            offered: list[Action] = decision.offered.actions()
            ranked = sorted(zip(offered, decision.options.tolist(), strict=True), key=lambda pair: -pair[1])[:_BEST]
            record["options"] = [{"action": a.kind.value, "cell": a.cell, "score": _rounded(s)} for a, s in ranked]
        if decision.recalled:
            ranked_archive = sorted(decision.recalled, key=lambda pair: -pair[1])[:_BEST]
            record["archive"] = [{"cluster": entity, "score": _rounded(score)} for entity, score in ranked_archive]
        _write(self._stream, record)
        if action.cell is not None and action.kind is not ActionKind.LINK:
            self._held[action.cell] = decision.entity


def _rounded(score: float) -> float:
    return round(float(score), 4)
