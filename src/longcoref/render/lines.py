"""Output that is written line by line while a text is being read: JSONL of mentions, and the trace.

docs/formats.md has both schemas.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import IO, Any

from longcoref.memory import Action, ActionKind, MemoryPolicy
from longcoref.mention import MentionRecord
from longcoref.result import is_wanted
from longcoref.runtime.model import Model
from longcoref.summary import Summary
from longcoref.temporary import TemporaryDatabase

SCHEMA = "longcoref-stream/1"
_BEST = 3  # scores in a trace


def _write(stream: IO[str], record: dict[str, Any]) -> None:
    stream.write(json.dumps(record, ensure_ascii=False) + "\n")


class MentionWriter:
    """Writes each mention when it is decided, and each cluster when it is closed: evicted, or at the end of the text.

    If evicted entities can return, all clusters are closed at the end; until then, those that are in no cell are on
    disk.

    Without filters no memory grows with the text except what unbounded memories track. With a filter, the mentions of a
    cluster are held back until it is closed, because only then is it known whether the cluster passes.
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
        """Starts a text with this id."""
        _write(self._stream, {"schema": SCHEMA, "id": id, **self._header})
        self._open: dict[int, Summary] = {}
        self._away = TemporaryDatabase("away (entity integer primary key, summary text)")
        self._held: dict[int, list[MentionRecord]] = {}
        self._mentions = self._clusters = 0

    def add(self, mention: MentionRecord) -> None:
        """Takes the next mention, with its decision."""
        evicted = mention.decided.evicted
        if evicted is not None:
            self._leave(evicted)
        if mention.entity is None:
            return
        if mention.decided.action.kind is ActionKind.RECALL:
            self._return(mention.entity)
        self._open.setdefault(mention.entity, Summary()).add(mention)
        if self._filtered:
            self._held.setdefault(mention.entity, []).append(mention.without_decision())
        else:
            self._write_mention(mention, mention.entity)

    def end(self) -> None:
        """Ends the text."""
        for entity in sorted(self._open):
            self._leave(entity)
        for entity, summary in self._away.rows("select entity, summary from away order by entity"):
            self._close(entity, Summary.of(json.loads(summary)))
        _write(self._stream, {"end": {"mentions": self._mentions, "clusters": self._clusters}})

    def _leave(self, entity: int) -> None:
        """An entity has no cell any more; it may return."""
        summary = self._open.pop(entity)
        if self._recalls:
            self._away.execute("insert into away values (?, ?)", entity, json.dumps(summary.as_json()))
        else:
            self._close(entity, summary)

    def _return(self, entity: int) -> None:
        row = self._away.row("select summary from away where entity = ?", entity)
        assert row is not None  # whoever returns has left
        self._away.execute("delete from away where entity = ?", entity)
        self._open[entity] = Summary.of(json.loads(row[0]))

    def _close(self, entity: int, summary: Summary) -> None:
        held = self._held.pop(entity, ())
        if not is_wanted(summary.type, summary.count, self._types, self._min_mentions):
            return
        for mention in held:
            self._write_mention(mention, entity)
        self._clusters += 1
        closed = {"id": entity, "name": summary.name, "type": summary.type, "mentions": summary.count}
        _write(self._stream, {"closed": closed})

    def _write_mention(self, mention: MentionRecord, entity: int) -> None:
        self._mentions += 1
        _write(self._stream, {"mention": mention.as_json(None), "cluster": entity})


class TraceWriter:
    """Writes every decision with its best raw scores."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def begin(self, id: str) -> None:
        """Starts a text with this id."""
        self._id, self._count = id, 0
        self._held: dict[int, int | None] = {}  # the entity in each cell

    def add(self, mention: MentionRecord) -> None:
        """Takes the next mention, with its decision."""
        decision = mention.decided
        action = decision.action
        links = decision.links
        best = sorted(range(len(links)), key=lambda cell: -links[cell])[:_BEST]
        record: dict[str, Any] = {
            "id": self._id,
            "index": self._count,
            "start": mention.start,
            "end": mention.end,
            "text": mention.text,
            "sentence": mention.sentence,
            "action": action.kind.value,
            "cell": action.cell,
            "cluster": decision.entity,
            "evicted": decision.evicted,
            "score": round(mention.score, 4),
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
        self._count += 1
        if action.cell is not None and action.kind is not ActionKind.LINK:
            self._held[action.cell] = decision.entity


def _rounded(score: float) -> float:
    return round(float(score), 4)
