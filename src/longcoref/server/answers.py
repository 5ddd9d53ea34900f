"""Resolving a text for a client that may disconnect: piece by piece in worker threads.

An answer takes the pieces of a text and gives what can be sent so far: nothing until the end (`WholeAnswer`, one JSON
object), or lines (`LineAnswer`, NDJSON).
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Collection
from time import monotonic
from typing import Protocol

from anyio import CapacityLimiter, fail_after, to_thread

from longcoref.cancellation import cancelled_by
from longcoref.mention import MentionRecord
from longcoref.render.html import outline
from longcoref.render.lines import MentionWriter, TraceWriter
from longcoref.render.outputs import write_results
from longcoref.resolver import Resolver
from longcoref.server.gate import Place
from longcoref.server.metrics import Metrics
from longcoref.text import tokenize

_PIECE = 2000
"""Characters read at a time: several windows, so that all threads have work, and well below a second of it."""


class OutOfTimeError(Exception):
    """A text was not resolved in the time it had."""


class _CancelledError(Exception):
    """Nobody is waiting for the text any more."""


class Stop:
    """Decides when work on a text ends, as `cancelled_by` expects it: calling it raises if the work should stop."""

    def __init__(self, seconds: float) -> None:
        self._deadline = monotonic() + seconds
        self._cancelled = False

    def __call__(self) -> None:
        """Raises if nobody is waiting for the text any more, or its time has run out."""
        if self._cancelled:
            raise _CancelledError
        if self.seconds_left <= 0:
            raise OutOfTimeError

    @property
    def seconds_left(self) -> float:
        """The time until the deadline."""
        return self._deadline - monotonic()

    def cancel(self) -> None:
        """Stops the thread at its next call."""
        self._cancelled = True


class Answer(Protocol):
    """What is built from the pieces of a text."""

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns what can be sent."""

    def finish(self) -> str:
        """Ends the text; returns the rest of the answer."""


class WholeAnswer:
    """The result in an output format, when the text has ended; as JSON, it is without the text."""

    def __init__(
        self, resolver: Resolver, *, id: str, types: Collection[str] | None, min_mentions: int, format: str = "json"
    ) -> None:
        self._reading, self._id = resolver.open(), id
        self._types, self._min_mentions, self._format = types, min_mentions, format

    def feed(self, piece: str) -> str:
        """Takes the next piece; there is nothing to send yet."""
        self._reading.feed(piece)
        return ""

    def finish(self) -> str:
        """Returns the whole answer."""
        result = self._reading.finish(id=self._id).select(types=self._types, min_mentions=self._min_mentions)
        if self._format == "json":
            return result.to_json(text=False)
        written = io.StringIO()
        write_results([result], written, self._format)
        return written.getvalue()


class LineAnswer:
    """Lines of the schema `longcoref-stream/1`, with progress after each piece and, if wanted, every decision.

    The lines are the decisions of the memory; those of every decision come with the outline of the text. The last one
    has the result after post-processing, which is the answer of `WholeAnswer`.
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
        self._mentions: list[MentionRecord] = []
        self._lines = io.StringIO()
        self._trace = TraceWriter(self._lines) if trace else None
        if self._trace is not None:
            self._trace.begin(id)
        self._writer = MentionWriter(
            self._lines, resolver.model, resolver.policy, types=types, min_mentions=min_mentions
        )
        self._writer.begin(id)

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns the lines of what was decided."""
        self._add(self._stream.feed(piece))
        self._read += len(piece)
        self._lines.write(json.dumps({"progress": {"characters": self._read, "of": len(self._text)}}) + "\n")
        return self._taken()

    def finish(self) -> str:
        """Returns the remaining lines."""
        self._add(self._stream.finish())
        self._writer.end()
        document = tokenize(self._text, id=self._id)
        if self._trace is not None:
            self._lines.write(json.dumps({"document": outline(document)}) + "\n")
        result = self._resolver.result(document, self._mentions)
        selected = result.select(types=self._types, min_mentions=self._min_mentions)
        self._lines.write(f'{{"result": {selected.to_json(text=False)}}}\n')
        return self._taken()

    def _add(self, mentions: list[MentionRecord]) -> None:
        for mention in mentions:
            if self._trace is not None:
                self._trace.add(mention)
            self._writer.add(mention)
            if mention.entity is not None:
                self._mentions.append(mention.without_decision())

    def _taken(self) -> str:
        lines = self._lines.getvalue()
        self._lines.seek(0)
        self._lines.truncate()
        return lines


async def parts_of(
    answer: Answer, text: str, *, place: Place, workers: CapacityLimiter, seconds: float, metrics: Metrics
) -> AsyncIterator[str]:
    """Resolves a text and yields the parts of the answer; `seconds` bounds the time this takes.

    Each text with a turn has a thread of its own, so that the operating system divides the processors between them, and
    a short text does not wait for the pieces of long ones. `workers` bounds the threads, including those of cancelled
    requests: cancellation does not wait for the thread at work, but tells it to stop.
    """
    stop = Stop(seconds)
    try:
        for start in range(0, len(text), _PIECE):
            await _turn(place, stop)
            piece = text[start : start + _PIECE]
            yield await to_thread.run_sync(answer.feed, piece, limiter=workers, abandon_on_cancel=True)
            metrics.characters.inc(len(piece))
        await _turn(place, stop)
        yield await to_thread.run_sync(_finished, answer, stop, limiter=workers, abandon_on_cancel=True)
    except OutOfTimeError:
        metrics.stopped.labels("time").inc()
        raise
    finally:
        stop.cancel()


def _finished(answer: Answer, stop: Stop) -> str:
    with cancelled_by(stop):
        return answer.finish()


async def _turn(place: Place, stop: Stop) -> None:
    stop()
    try:
        with fail_after(stop.seconds_left):
            await place.take_turn()
    except TimeoutError as error:
        raise OutOfTimeError from error
