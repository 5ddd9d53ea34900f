"""The door to everything: a model and a memory, ready for texts.

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
from longcoref.result import Gathering, Result, ResultMention, quotes_of, with_clusters
from longcoref.runtime.model import open_model
from longcoref.runtime.reading import Model, Reader, sentences_of
from longcoref.runtime.state import load_state, save_state
from longcoref.runtime.stream import Step, Stepper, TextStream
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
    """Opens a model: a directory, the name of a shipped one, or None for the default.

    `memory` is learned, rule, unbounded or track-all; `cells` is how many entities it holds at once, None for any
    number (the last two always hold all). `threads` is how many windows are encoded at once; None takes all processors.
    With `recall`, entities that were evicted are archived and can return; without, they are forgotten, as in the paper.
    `names` tells persons apart by all their names when the text is over, `speech` finds who speaks and whom "I"
    and "you" are; without both, the clusters are what the memory alone decides.
    """
    policy = memory_policy(memory, cells, recall=recall)
    return Resolver(open_model(model, threads=threads), policy, source=model, names=names, speech=speech)


class Resolver:
    """Finds who is who in texts. Opened once with `load`, it serves any number of them.

    Call it with a whole text; or `feed` it one text piece by piece and `finish`; or give it many with `pipe`.
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
        self._begin()

    def _begin(self) -> None:
        self._stream: TextStream | None = None
        self._gathering = Gathering()
        self._text: list[str] = []  # what was fed, for the second look

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
        """The clusters of a text that is already cut into sentences and words.

        `mentions`, if given, are the spans to cluster, by number of sentence and in words of that sentence: nothing
        else is proposed and none of them is rejected. Offsets count characters of the words joined by spaces, sentences
        by line ends.
        """
        return self.document(document_of_words(id, sentences), mentions=mentions)

    def document(
        self,
        document: Document,
        *,
        mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    ) -> Result:
        """The clusters of a document with the words and sentences that it has; `mentions` as for `words`."""
        return self.gather(document, self.steps(document, mentions=mentions))

    def gather(self, document: Document, steps: Iterable[Step]) -> Result:
        """The clusters that the steps of a document make up: for callers who want to see the steps, too."""
        gathering = Gathering()
        for step in steps:
            gathering.add(step)
        result = self._looked_again(gathering, document)
        return replace(result, document=with_clusters(document, result.clusters))

    def _looked_again(self, gathering: Gathering, document: Document) -> Result:
        if not (self.names or self.speech):
            return self._result(gathering, id=document.id)
        gathering, turns = gathering.looked_again(document, names=self.names, speech=self.speech)
        quotes = quotes_of(document, turns) if self.speech else ()
        return replace(self._result(gathering, id=document.id), quotes=quotes)

    def steps(
        self, document: Document, *, mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None
    ) -> Iterator[Step]:
        """Every decision on a document, in text order: those on rejected mentions too."""
        given = None if mentions is None else {n: [WordSpan(*span) for span in m] for n, m in mentions.items()}
        outside = [number for number in given or () if not 0 <= number < len(document.sentences)]
        if outside:
            raise UsageError(f"mentions in sentence {outside[0]}, but there are {len(document.sentences)} sentences")
        policy = self.policy if given is None else GivenMentions(self.policy)
        stepper = Stepper(self.model)
        reader = Reader(self.model, policy, genre=document.genre)
        for block in reader.read(sentences_of(document), last=True, given=given):
            yield from stepper.steps(block, document.text)

    def stream(self) -> TextStream:
        """A reading of its own that keeps no result: for texts whose result must not stay in memory."""
        return TextStream(self.model, self.policy)

    def feed(self, text: str) -> list[tuple[ResultMention, int]]:
        """Takes the next piece of a text; gives the mentions that are certain now, with the ids of their clusters.

        `so_far` has the clusters they make up.
        """
        if self._stream is None:
            self._stream = self.stream()
        self._text.append(text)
        return self._gather(self._stream.feed(text))

    def so_far(self) -> Result:
        """The clusters of the text that is being fed, as the memory decided them; names and speech need its end."""
        return self._result(self._gathering)

    def finish(self) -> Result:
        """The clusters of the text that was fed; the next piece begins a new one."""
        self._gather((self._stream or self.stream()).finish())
        result = self._looked_again(self._gathering, tokenize("".join(self._text)))
        self._begin()
        return result

    def save_state(self, path: str | Path) -> None:
        """Writes the text that is being fed, as far as it was read, to a file, for `load_state` to go on from."""
        extra = {"clusters": self._gathering.state(), "text": "".join(self._text)}
        save_state(path, self._stream or self.stream(), self.model, self.policy, extra)

    def load_state(self, path: str | Path) -> None:
        """Goes on from a saved state; it must be of the same model and memory."""
        stream, extra = load_state(path, self.model, self.policy)
        self._begin()
        self._stream, self._text = stream, [extra["text"]]
        self._gathering.restore(extra["clusters"])

    def pipe(self, texts: Iterable[str], *, batch_size: int = 8, processes: int = 1) -> Iterator[Result | Exception]:
        """The results of many texts, in their order; where one fails, its error is its result.

        With several `processes`, each opens the model and takes `batch_size` texts at a time. A text that kills its
        process (for want of memory) has an error as its result, too, and the others go on.
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
                # A little ahead, so that no process waits, but not the whole of an endless input.
                while len(waiting) < 2 * processes and (batch := list(islice(remaining, batch_size))):
                    waiting.append((batch, _submitted(pool, batch)))
                if not waiting:
                    return
                batch, future = waiting.popleft()
                try:
                    outcomes = future.result()
                except BrokenProcessPool:
                    # A process died, and with it all that was under way. Which text it died of shows one by one.
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
        """The outcome of a text in a process of its own, which may die of it."""
        with self._pool(1) as pool:
            pool.submit(int).result()  # a process that cannot even start is not the text's fault
            try:
                return _submitted(pool, [text]).result()[0]
            except BrokenProcessPool:
                return InputError(
                    "the process that read this text was killed, most often for want of memory: use fewer processes, "
                    "or cut the text into parts"
                )

    def _outcome(self, text: str) -> Result | Exception:
        try:
            return self(text)
        except Exception as error:  # whatever it is, it must not take the other texts with it
            return error

    def _gather(self, steps: Iterable[Step]) -> list[tuple[ResultMention, int]]:
        found = []
        for step in steps:
            mention = self._gathering.add(step)
            if mention is not None and step.decision.entity is not None:
                found.append((mention, step.decision.entity))
        return found

    def _result(self, gathering: Gathering, *, id: str = "") -> Result:
        return Result(gathering.clusters(), self.model.name, self.policy.name, self.policy.capacity, id)


_worker: Resolver


def _open_in_worker(source: str | Path | None, policy: MemoryPolicy, names: bool, speech: bool) -> None:
    global _worker
    _worker = Resolver(open_model(source, threads=1), policy, source=source, names=names, speech=speech)


def _outcomes_in_worker(texts: list[str]) -> list[Result | Exception]:
    return [_worker._outcome(text) for text in texts]


def _submitted(pool: ProcessPoolExecutor, texts: list[str]) -> Future[list[Result | Exception]]:
    """The outcomes to come of some texts; a pool that is broken already shows when they are asked for."""
    try:
        return pool.submit(_outcomes_in_worker, texts)
    except BrokenProcessPool as error:
        future: Future[list[Result | Exception]] = Future()
        future.set_exception(error)
        return future
