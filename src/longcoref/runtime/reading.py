"""Reading: sentences in, decided mentions out, in constant memory.

A window is encoded once a piece beyond it is known. Sentences whose vectors are then all final are searched for
mentions, clustered and dropped. What is computed together depends on the text alone, not on how it was fed, so reading
a document whole and feeding the same text in pieces give bit-identical results.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from threadpoolctl import ThreadpoolController

from longcoref.document import Document, Sentence
from longcoref.features.speech import PlacedFacts, Speech, SpeechScanner
from longcoref.memory import MemoryPolicy
from longcoref.mention import MentionRecord
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.confidence import confidences
from longcoref.runtime.heads import Floats
from longcoref.runtime.mentions import mention_labels, propose
from longcoref.runtime.model import Model
from longcoref.runtime.pieces import Integers as PieceIds
from longcoref.runtime.windows import Window, WindowSplitter
from longcoref.spans import WordSpan

_WINDOWS_PER_THREAD, _WINDOWS_AT_ONCE = 4, 16
"""Windows encoded at a time, and the most of them: enough work for all threads, few enough to bound the memory."""


@dataclass(frozen=True, slots=True)
class Block:
    """Proposed mentions that were decided together, with their decisions and what these were made from.

    `x` are their vectors, (mentions, span), and `scores` their scores s_m, (mentions,); `facts` has one entry for each.
    The text is read up to word `end`.
    """

    mentions: Sequence[MentionRecord]
    x: Floats
    scores: Floats
    facts: Sequence[PlacedFacts]
    end: int


@dataclass(frozen=True, slots=True)
class _Batch:
    """Windows to be encoded together, in pieces of the text and in pieces of `ids`; `last` if they end the text."""

    windows: list[Window]
    shifted: list[Window]
    ids: PieceIds
    last: bool


@dataclass(frozen=True, slots=True)
class _Source:
    """What mentions are taken from: the text from character `begin` on, and the given mentions, if any."""

    text: str
    begin: int
    given: Mapping[int, Sequence[WordSpan]] | None


class Reader:
    """Reads one text, sentence by sentence, under a memory policy. Undecided sentences are kept between calls."""

    def __init__(self, model: Model, policy: MemoryPolicy, *, genre: str | None = None) -> None:
        config = model.config
        self._model, self._calibration = model, model.calibration
        self._genre = model.genre_number(genre)
        self._threads: int = getattr(model.encoder, "threads", 1)
        self.clusterer = Clusterer(model.heads, policy, genre=self._genre)
        marks = len(model.tokenizer.opening) + len(model.tokenizer.closing)
        self.splitter = WindowSplitter(config.encoder.window - marks, config.encoder.overlap)
        self.speech = SpeechScanner()
        self.open: deque[Sentence] = deque()  # sentences whose vectors are not all final
        self.lengths: deque[list[int]] = deque()  # pieces of each of their words
        self.vectors: Floats = np.zeros((0, model.heads.width), np.float32)  # of their pieces, as far as they are final
        self.ids: list[int] = []  # pieces that later windows may read; `first_id` is the number of the first
        self.first_id = 0
        self.sentences = 0  # decided so far
        self.words = 0

    def read(
        self,
        sentences: Iterable[Sentence],
        *,
        text: str,
        begin: int = 0,
        last: bool = False,
        given: Mapping[int, Sequence[WordSpan]] | None = None,
    ) -> Iterator[Block]:
        """Takes the next sentences and yields the blocks that they complete; with `last`, everything that is left.

        `text` is the text from character `begin` on; it contains these sentences and all that are still open. `given`
        has the mentions to cluster instead of proposals, by sentence number and in words of that sentence.
        """
        source = _Source(text, begin, given)
        with ThreadPoolExecutor(1) if self._threads > 1 else nullcontext() as ahead:
            encoded: tuple[_Batch, Future[Floats] | None] | None = None
            for batch in self._batches(sentences, last=last):
                # Other threads encode the next windows while this one clusters, which is sequential.
                future = ahead.submit(self._model.encoder.encode, batch.ids, batch.shifted) if ahead else None
                if encoded is not None:
                    yield from self._decide_all(*encoded, source)
                encoded = batch, future
            if encoded is not None:
                yield from self._decide_all(*encoded, source)

    def _batches(self, sentences: Iterable[Sentence], *, last: bool) -> Iterator[_Batch]:
        """The windows that the sentences complete, a few at a time."""
        size = min(_WINDOWS_PER_THREAD * self._threads, _WINDOWS_AT_ONCE)
        windows: list[Window] = []
        for sentence in sentences:
            windows += self._add(sentence)
            if len(windows) >= size:
                yield self._batch(windows, last=False)
                windows = []
        if last:
            windows += self.splitter.finish()
        if windows:
            yield self._batch(windows, last=last)

    def _add(self, sentence: Sentence) -> list[Window]:
        pieces = self._model.tokenizer.words(sentence.words)
        lengths = [len(piece) for piece in pieces]
        self.ids += chain.from_iterable(pieces)
        self.open.append(sentence)
        self.lengths.append(lengths)
        return self.splitter.feed(lengths)

    def _batch(self, windows: list[Window], *, last: bool) -> _Batch:
        base = self.first_id
        batch = _Batch(
            windows,
            [Window(*(edge - base for edge in window)) for window in windows],
            np.array(self.ids, np.int32),
            last,
        )
        self.first_id = self.splitter.start
        del self.ids[: self.first_id - base]
        return batch

    def _decide_all(self, batch: _Batch, future: Future[Floats] | None, source: _Source) -> Iterator[Block]:
        vectors = self._model.encoder.encode(batch.ids, batch.shifted) if future is None else future.result()
        for ready in self._cut(batch.windows, vectors, last=batch.last):
            # The encoder uses the other processors, which threads for products this small would only slow down.
            with _libraries().limit(limits=1, user_api="blas"):
                block = self._decide(*ready, source)
            yield block

    def _cut(
        self, windows: Sequence[Window], vectors: Floats, *, last: bool
    ) -> Iterator[tuple[list[Sentence], list[int], Floats]]:
        """The sentences that each window completes, the pieces of their words, and the vectors of those."""
        position = 0
        for number, window in enumerate(windows, 1):
            kept = window.keep_end - window.keep_start
            fresh = vectors[position : position + kept]
            # Most windows end with a sentence, so that nothing is carried over.
            self.vectors = np.concatenate([self.vectors, fresh]) if len(self.vectors) else fresh
            position += kept
            if self._model.config.proposals.rule == "top" and not (last and number == len(windows)):
                continue  # the best candidates of a document are known only at its end
            sentences: list[Sentence] = []
            lengths: list[int] = []
            done = 0
            while self.open and done + (size := sum(self.lengths[0])) <= len(self.vectors):
                sentences.append(self.open.popleft())
                lengths += self.lengths.popleft()
                done += size
            if sentences:
                ready, self.vectors = self.vectors[:done], self.vectors[done:].copy()
                yield sentences, lengths, ready

    def _decide(self, sentences: list[Sentence], lengths: list[int], vectors: Floats, source: _Source) -> Block:
        edges = np.cumsum([0, *(len(sentence.words) for sentence in sentences)])
        given = None
        if source.given is not None:
            given = [source.given.get(self.sentences + number, ()) for number in range(len(sentences))]
        words = [word for sentence in sentences for word in sentence.words]
        spans, x, scores = propose(self._model, vectors, words, lengths, edges.tolist(), genre=self._genre, given=given)
        owners = (np.searchsorted(edges, spans[:, 0], side="right") - 1).tolist()
        first_sentence, first_word = self.sentences, self.words
        speech, begins = self._pass(sentences), edges.tolist()
        numbers = list(range(first_sentence, self.sentences))  # the mentions of a sentence share one object
        facts = [
            speech[owner].placed(start - begins[owner], stop - begins[owner], numbers[owner])
            for (start, stop), owner in zip(spans.tolist(), owners, strict=True)
        ]
        decisions = list(self.clusterer.cluster(x, scores, facts))
        probabilities = confidences(decisions, self._calibration)
        labels = mention_labels(self._model, x, [placed.facts for placed in facts])
        mentions = []
        columns = spans.tolist(), owners, facts, labels, decisions, probabilities
        for (first, stop), owner, placed, label, decision, probability in zip(*columns, strict=True):
            offsets, begin = sentences[owner].offsets, begins[owner]
            start, end = offsets[first - begin].start, offsets[stop - 1 - begin].end
            mentions.append(
                MentionRecord(
                    words=WordSpan(first_word + first, first_word + stop),
                    start=start,
                    end=end,
                    text=sys.intern(source.text[start - source.begin : end - source.begin]),  # most recur
                    sentence=placed.sentence,
                    kind=label[0],
                    type=label[1],
                    facts=placed.facts,
                    entity=decision.entity,
                    score=probability,
                    rivals=decision.rivals,
                    decision=decision,
                )
            )
        return Block(mentions, x, scores, facts, self.words)

    def skip(self, sentences: Iterable[Sentence]) -> None:
        """Passes over the next sentences without encoding or clustering them, to continue a text.

        `vectors` and the clusterer then have to be set to what they were after these sentences.
        """
        for batch in self._batches(sentences, last=False):
            pieces = sum(window.keep_end - window.keep_start for window in batch.windows)
            blank = np.zeros((pieces, self.vectors.shape[1]), np.float32)
            for done, _, _ in self._cut(batch.windows, blank, last=False):
                self._pass(done)

    def _pass(self, sentences: Sequence[Sentence]) -> list[Speech]:
        """Counts decided sentences; returns the speech in them."""
        self.sentences += len(sentences)
        self.words += sum(len(sentence.words) for sentence in sentences)
        return [self.speech.scan(sentence.words) for sentence in sentences]


@cache
def _libraries() -> ThreadpoolController:
    """The libraries of this process that run threads of their own."""
    return ThreadpoolController()


def read_document(document: Document, model: Model, policy: MemoryPolicy) -> Block:
    """The mentions of a whole document, clustered under a memory policy, as one block."""
    reader = Reader(model, policy, genre=document.genre)
    blocks = list(reader.read(document.read(), text=document.text, last=True))
    return Block(
        [mention for block in blocks for mention in block.mentions],
        np.concatenate([np.zeros((0, model.heads.span_width), np.float32), *(block.x for block in blocks)]),
        np.concatenate([np.zeros(0, np.float32), *(block.scores for block in blocks)]),
        [placed for block in blocks for placed in block.facts],
        len(document.words),
    )
