"""Reading a text for somebody who may leave: piece by piece in worker threads, and between two pieces it can stop.

An answer takes pieces and gives what can be sent by then: nothing until the end (`WholeAnswer`, one JSON object), or
lines as they come (`LineAnswer`, NDJSON).
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from typing import Protocol

import numpy as np
from anyio import CapacityLimiter, current_time, to_thread

from longcoref.render.steps import StepWriter, TraceWriter
from longcoref.resolver import Resolver
from longcoref.runtime.stream import Step
from longcoref.server.metrics import Metrics
from longcoref.text import tokenize

_PIECE = 2000
"""Characters read at a time: some windows, so that all threads have work, and well below a second of it."""


_NO_SCORES = np.zeros(0, np.float32)


class OutOfTimeError(Exception):
    """A text was not read to the end in the time it had."""


class Answer(Protocol):
    """What grows from the pieces of a text."""

    def feed(self, piece: str) -> str:
        """Takes the next piece; gives what can be sent."""

    def finish(self) -> str:
        """The text is over; gives the rest of the answer."""


class WholeAnswer:
    """One JSON object of the schema `longcoref/1`, at the end."""

    def __init__(self, resolver: Resolver, *, id: str, types: Collection[str] | None, min_mentions: int) -> None:
        self._resolver, self._id = resolver, id
        self._types, self._min_mentions = types, min_mentions

    def feed(self, piece: str) -> str:
        """Reads."""
        self._resolver.feed(piece)
        return ""

    def finish(self) -> str:
        """The object."""
        result = replace(self._resolver.finish(), id=self._id)
        return result.select(types=self._types, min_mentions=self._min_mentions).to_json()


class LineAnswer:
    """Lines of the schema `longcoref-stream/1`, with progress after each piece and, if wanted, every decision.

    The lines have what the memory decides, as it decides it. The last one has the result, for which the whole text was
    looked at again: what `WholeAnswer` says.
    """

    def __init__(
        self,
        resolver: Resolver,
        *,
        id: str,
        types: Collection[str] | None,
        min_mentions: int,
        text: str,
        trace: bool,
    ) -> None:
        self._resolver, self._id = resolver, id
        self._types, self._min_mentions = types, min_mentions
        self._stream = resolver.stream()
        self._text, self._read = text, 0
        self._steps: list[Step] = []
        self._lines = io.StringIO()
        self._trace = TraceWriter(self._lines) if trace else None
        if self._trace is not None:
            self._trace.begin(id)
        self._writer = StepWriter(self._lines, resolver.model, resolver.policy, types=types, min_mentions=min_mentions)
        self._writer.begin(id)

    def feed(self, piece: str) -> str:
        """Reads; gives the lines of what was decided."""
        self._add(self._stream.feed(piece))
        self._read += len(piece)
        self._lines.write(json.dumps({"progress": {"characters": self._read, "of": len(self._text)}}) + "\n")
        return self._taken()

    def finish(self) -> str:
        """The lines of the rest."""
        self._add(self._stream.finish())
        self._writer.end()
        result = self._resolver.gather(tokenize(self._text, id=self._id), self._steps)
        selected = result.select(types=self._types, min_mentions=self._min_mentions)
        self._lines.write(f'{{"result": {selected.to_json()}}}\n')
        return self._taken()

    def _add(self, steps: list[Step]) -> None:
        for step in steps:
            if self._trace is not None:
                self._trace.add(step)
            self._writer.add(step)
            if step.decision.entity is not None:
                # Without its scores: they were sent, and are most of it.
                decision = replace(step.decision, links=_NO_SCORES, offered=None, options=_NO_SCORES)
                self._steps.append(replace(step, decision=decision))

    def _taken(self) -> str:
        lines = self._lines.getvalue()
        self._lines.seek(0)
        self._lines.truncate()
        return lines


async def parts_of(
    answer: Answer, text: str, *, workers: CapacityLimiter, seconds: float, metrics: Metrics
) -> AsyncIterator[str]:
    """Reads a text; gives the parts of the answer as they come. `workers` bounds the pieces read at once by anybody."""
    deadline = current_time() + seconds
    for start in range(0, len(text), _PIECE):
        if current_time() >= deadline:
            metrics.stopped.labels("time").inc()
            raise OutOfTimeError
        piece = text[start : start + _PIECE]
        yield await to_thread.run_sync(answer.feed, piece, limiter=workers)
        metrics.characters.inc(len(piece))
    yield await to_thread.run_sync(answer.finish, limiter=workers)
