"""The public entry point: a model and a memory, ready for texts.

resolver = longcoref.load()
for cluster in resolver("Mr. Hale sold the mill. He had never liked it."):
    print(cluster.name, [mention.text for mention in cluster])
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from pathlib import Path

from longcoref.document import Document, document_of_words
from longcoref.errors import InputError, UsageError
from longcoref.memory import GivenMentions, MemoryPolicy, memory_policy
from longcoref.mention import MentionRecord
from longcoref.result import Result, annotation, collect, revise
from longcoref.runtime.model import open_model
from longcoref.runtime.reading import Model, Reader
from longcoref.runtime.state import HalfRead, load_state, save_state
from longcoref.runtime.stream import TextStream
from longcoref.spans import WordSpan
from longcoref.text import tokenize


def load(
    model: str | Path | None = None,
    *,
    memory: str = "learned",
    cells: int | None = 20,
    threads: int | None = None,
    recall: bool = False,
    names: bool = True,
    speech: bool = True,
) -> Resolver:
    """Opens a model: a directory, the name of a shipped model, or None for the default.

    `memory` is learned, rule, unbounded or track-all; `cells` is the number of entities it holds at once, None for no
    limit (the last two never have one). `threads` is the number of windows encoded at once; None uses all processors.
    With `recall`, evicted entities are archived and can return; without, they are forgotten, as in the paper. `names`
    and `speech` switch on the two parts of post-processing: telling people apart by all their names, and finding who
    speaks and whom "I" and "you" refer to. Without them, the clusters are what the memory alone decides.
    """
    policy = memory_policy(memory, cells, recall=recall)
    return Resolver(open_model(model, threads=threads), policy, source=model, names=names, speech=speech)


class Resolver:
    """Resolves coreference in texts. It keeps no state between calls: open it once with `load`, use it for any number.

    Call it with a whole text, `open` a text that arrives piece by piece, or pass many texts to `pipe`.
    """

    def __init__(
        self,
        model: Model,
        policy: MemoryPolicy,
        *,
        source: str | Path | None = None,
        names: bool = True,
        speech: bool = True,
    ) -> None:
        self.model, self.policy = model, policy
        self.names, self.speech = names, speech
        self._source = source

    def __call__(self, text: str, *, id: str = "") -> Result:
        """The clusters of a text."""
        if not isinstance(text, str):
            raise UsageError(f"a text must be a string, got {type(text).__name__}")
        return self.document(tokenize(text, id=id))

    def words(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None,
        id: str = "",
    ) -> Result:
        """The clusters of a text that is already split into sentences and words.

        `mentions`, if given, are the spans to cluster, by sentence number and in words of that sentence: no others are
        proposed and none of them is rejected. Offsets count characters of the words joined by spaces, sentences by line
        breaks.
        """
        return self.document(document_of_words(id, sentences), mentions=mentions)

    def document(
        self,
        document: Document,
        *,
        mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    ) -> Result:
        """The clusters of a document with its own words and sentences; `mentions` as for `words`."""
        return self.result(document, self.mentions(document, mentions=mentions))

    def mentions(
        self, document: Document, *, mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None
    ) -> Iterator[MentionRecord]:
        """Every proposed mention of a document with its decision, in text order, rejected ones included.

        The entities are provisional: they are what the memory decides, before post-processing.
        """
        given = None if mentions is None else {n: [WordSpan(*span) for span in m] for n, m in mentions.items()}
        outside = [number for number in given or () if not 0 <= number < len(document.sentences)]
        if outside:
            raise UsageError(f"mentions in sentence {outside[0]}, but there are {len(document.sentences)} sentences")
        policy = self.policy if given is None else GivenMentions(self.policy)
        reader = Reader(self.model, policy, genre=document.genre)
        for block in reader.read(document.read(), text=document.text, last=True, given=given):
            yield from block.mentions

    def result(self, document: Document, mentions: Iterable[MentionRecord]) -> Result:
        """The result for the mentions of a document, post-processed: for callers who want to see the mentions, too."""
        kept = (mention.without_decision() for mention in mentions if mention.entity is not None)
        revised, quotes, narrator = revise(document, kept, names=self.names, speech=self.speech)
        clusters = collect(revised, narrator=narrator)
        annotated = document.with_clusters(annotation(clusters))
        return replace(self.provisional(()), clusters=clusters, id=document.id, document=annotated, quotes=quotes)

    def provisional(self, mentions: Iterable[MentionRecord]) -> Result:
        """The result for mentions of a text that goes on: as the memory decided, without post-processing."""
        return Result(collect(mentions), self.model.name, self.policy.name, self.policy.capacity)

    def open(self) -> Reading:
        """A reading of one text that arrives piece by piece."""
        return Reading(self)

    def resume(self, path: str | Path) -> Reading:
        """A reading that goes on where `Reading.save` left off, with the same model and memory."""
        return Reading(self, load_state(path, self.model, self.policy))

    def stream(self) -> TextStream:
        """A reading that keeps no result, for texts whose result must not stay in memory."""
        return TextStream(self.model, self.policy)

    def pipe(self, texts: Iterable[str], *, batch_size: int = 8, processes: int = 1) -> Iterator[Result | Exception]:
        """The results of many texts, in their order; if one fails, its error is its result.

        With several `processes`, each opens the model and takes `batch_size` texts at a time. If a text kills its
        process (by running out of memory), its result is an error as well, and the others are not affected.
        """
        if batch_size < 1 or processes < 1:
            raise UsageError(f"batch_size and processes must be at least 1, got {batch_size} and {processes}")
        if processes == 1:
            yield from map(self._outcome, texts)
            return
        remaining = iter(texts)
        waiting: deque[tuple[list[str], Future[list[Result | Exception]]]] = deque()
        pool = self._pool(processes)
        try:
            while True:
                # Stay a little ahead, so that no process waits, without taking in all of an endless input.
                while len(waiting) < 2 * processes and (batch := list(islice(remaining, batch_size))):
                    waiting.append((batch, _submitted(pool, batch)))
                if not waiting:
                    return
                batch, future = waiting.popleft()
                try:
                    outcomes = future.result()
                except BrokenProcessPool:
                    # A process died, and everything in progress with it. Reading one by one shows which text it was.
                    pool.shutdown()
                    outcomes = [self._outcome_alone(text) for text in batch]
                    pool = self._pool(processes)
                    waiting = deque(
                        (batch, done if done.done() and not done.exception() else _submitted(pool, batch))
                        for batch, done in waiting
                    )
                yield from outcomes
        finally:
            pool.shutdown(cancel_futures=True)

    def _pool(self, processes: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            processes,
            mp_context=multiprocessing.get_context("spawn"),  # a forked child would share the encoder's threads
            initializer=_open_in_worker,
            initargs=(self._source, self.policy, self.names, self.speech),
        )

    def _outcome_alone(self, text: str) -> Result | Exception:
        """The outcome of a text in a process of its own, which it may kill."""
        with self._pool(1) as pool:
            pool.submit(int).result()  # if a process cannot even start, the text is not at fault
            try:
                return _submitted(pool, [text]).result()[0]
            except BrokenProcessPool:
                return InputError(
                    "the process that read this text was killed, probably because it ran out of memory: use fewer "
                    "processes, or split the text"
                )

    def _outcome(self, text: str) -> Result | Exception:
        try:
            return self(text)
        except Exception as error:  # whatever it is, it must not affect the other texts
            return error


class Reading:
    """One text that is read piece by piece: `feed` it, look at the result `so_far`, `finish` it, or `save` it.

    The entity numbers of the mentions that `feed` returns are provisional: post-processing needs the whole text, moves
    mentions and numbers the clusters anew. `Result.cluster_of` says where a mention ended up.
    """

    def __init__(self, resolver: Resolver, half: HalfRead | None = None) -> None:
        """`half` is the part of the text that was read before."""
        self._resolver = resolver
        self._stream = resolver.stream() if half is None else half.stream
        self._pieces = [] if half is None else [half.text]
        self._mentions = [] if half is None else list(half.mentions)
        self._finished = False

    def feed(self, text: str) -> list[MentionRecord]:
        """Takes the next piece of the text; gives the mentions that are decided now, with provisional entities."""
        self._check_open()
        self._pieces.append(text)
        return self._keep(self._stream.feed(text))

    def so_far(self) -> Result:
        """The provisional clusters of what has been decided so far."""
        return self._resolver.provisional(self._mentions)

    def finish(self, *, id: str = "") -> Result:
        """Ends the text and gives its result."""
        self._check_open()
        self._keep(self._stream.finish())
        self._finished = True
        return self._resolver.result(tokenize("".join(self._pieces), id=id), self._mentions)

    def save(self, path: str | Path) -> None:
        """Writes the text and what was decided so far to a file, for `Resolver.resume` to go on from."""
        self._check_open()
        half = HalfRead("".join(self._pieces), self._mentions, self._stream)
        save_state(path, half, self._resolver.model, self._resolver.policy)

    def _check_open(self) -> None:
        if self._finished:
            raise UsageError("this reading is finished: open another for the next text")

    def _keep(self, mentions: Iterable[MentionRecord]) -> list[MentionRecord]:
        kept = [mention.without_decision() for mention in mentions if mention.entity is not None]
        self._mentions += kept
        return kept


_worker: Resolver


def _open_in_worker(source: str | Path | None, policy: MemoryPolicy, names: bool, speech: bool) -> None:
    global _worker
    _worker = Resolver(open_model(source, threads=1), policy, source=source, names=names, speech=speech)


def _outcomes_in_worker(texts: list[str]) -> list[Result | Exception]:
    return [_worker._outcome(text) for text in texts]


def _submitted(pool: ProcessPoolExecutor, texts: list[str]) -> Future[list[Result | Exception]]:
    """The future outcomes of some texts; if the pool is already broken, asking for them raises."""
    try:
        return pool.submit(_outcomes_in_worker, texts)
    except BrokenProcessPool as error:
        future: Future[list[Result | Exception]] = Future()
        future.set_exception(error)
        return future
