"""Reading: sentences in, decided mentions out, in constant memory.

A window is encoded once a piece beyond it is known; the sentences whose vectors are then all final are proposed,
clustered and forgotten. What is computed together depends on the text alone, never on how it was fed, so a document
read whole and the same text fed in pieces agree to the bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from longcoref.config import Config
from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.features.candidates import Candidates, candidates_of
from longcoref.features.facts import MentionFacts, QuoteScanner, mention_facts
from longcoref.memory import MemoryPolicy, decode
from longcoref.memory.decision import Decision
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.confidence import Calibration
from longcoref.runtime.heads import Floats, Heads, Integers
from longcoref.runtime.mentions import select
from longcoref.runtime.pieces import Integers as PieceIds
from longcoref.runtime.pieces import Tokenizer
from longcoref.runtime.windows import Window, WindowSplitter
from longcoref.spans import CharSpan, WordSpan
from longcoref.text import Sentence

_WINDOWS_AT_ONCE = 16
"""Windows encoded at a time: enough work for all threads, few enough to bound the memory."""


class WindowEncoder(Protocol):
    """What reading asks of an encoder."""

    def encode(self, ids: PieceIds, windows: Sequence[Window]) -> Floats:
        """Vectors of the pieces that the windows keep, (pieces, width), in text order."""


@dataclass(frozen=True, slots=True)
class Model:
    """All that is needed to read: configuration, tokenizer, encoder and heads.

    A model that was opened from a directory also has its name, a fingerprint of all that its answers depend on, and
    the facts of model.toml (training, scores, calibration).
    """

    config: Config
    tokenizer: Tokenizer
    encoder: WindowEncoder
    heads: Heads
    name: str = ""
    fingerprint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calibration(self) -> Calibration:
        """What makes its scores into probabilities."""
        return Calibration.of(self.facts.get("calibration", {}))


@dataclass(frozen=True, slots=True)
class Block:
    """Sentences that were decided together.

    `spans` are the proposed mentions in words of the whole text, by start and end; `x`, `facts` and `decisions` have
    one entry for each. The first of the sentences begins with word `first_word` of the text.
    """

    sentences: Sequence[Sentence]
    first_word: int
    spans: Integers
    x: Floats
    facts: Sequence[MentionFacts]
    decisions: Sequence[Decision]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Windows to be encoded together, as they stand in the text and in `ids`; `last` if none comes after them."""

    windows: list[Window]
    shifted: list[Window]
    ids: PieceIds
    last: bool


class Reader:
    """Reads one text, sentence by sentence, under a memory policy. Keeps what is still open between calls."""

    def __init__(self, model: Model, policy: MemoryPolicy, *, genre: str | None = None) -> None:
        config = model.config
        self._model = model
        genres = config.model.genres
        self._genre = genres.index(genre) if genre in genres else 0
        self.clusterer = Clusterer(model.heads, policy, genre=self._genre)
        marks = len(model.tokenizer.opening) + len(model.tokenizer.closing)
        self.splitter = WindowSplitter(config.encoder.window - marks, config.encoder.overlap)
        self.quotes = QuoteScanner()
        self.open: deque[Sentence] = deque()  # sentences whose vectors are not all final
        self.lengths: deque[list[int]] = deque()  # pieces of each of their words
        self.vectors: Floats = np.zeros((0, model.heads.width), np.float32)  # of their pieces, so far as final
        self.ids: list[int] = []  # pieces that windows to come may read, from `first_id` of the text on
        self.first_id = 0
        self.sentences = 0  # that were decided
        self.words = 0

    def read(
        self,
        sentences: Iterable[Sentence],
        *,
        last: bool = False,
        given: Mapping[int, Sequence[WordSpan]] | None = None,
    ) -> Iterator[Block]:
        """Takes the next sentences and gives the blocks that they complete; with `last`, all that is left.

        `given` has the mentions to cluster, by number of sentence and in words of that sentence, instead of proposals.
        """
        threads = getattr(self._model.encoder, "threads", 1)
        with ThreadPoolExecutor(1) if threads > 1 else nullcontext() as ahead:
            encoded: tuple[_Batch, Future[Floats] | None] | None = None
            for batch in self._batches(sentences, last=last):
                # The next windows are encoded by other threads while the memory, which has to go step by step, is here.
                future = ahead.submit(self._model.encoder.encode, batch.ids, batch.shifted) if ahead else None
                if encoded is not None:
                    yield from self._decide_all(*encoded, given)
                encoded = batch, future
            if encoded is not None:
                yield from self._decide_all(*encoded, given)

    def _batches(self, sentences: Iterable[Sentence], *, last: bool) -> Iterator[_Batch]:
        """The windows that the sentences complete, some at a time."""
        windows: list[Window] = []
        for sentence in sentences:
            windows += self._add(sentence)
            if len(windows) >= _WINDOWS_AT_ONCE:
                yield self._batch(windows, last=False)
                windows = []
        if last:
            windows += self.splitter.finish()
        if windows:
            yield self._batch(windows, last=last)

    def _add(self, sentence: Sentence) -> list[Window]:
        pieces = [self._model.tokenizer.word(word) for word in sentence.words]
        lengths = [len(piece) for piece in pieces]
        for piece in pieces:
            self.ids += piece
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

    def _decide_all(
        self, batch: _Batch, future: Future[Floats] | None, given: Mapping[int, Sequence[WordSpan]] | None
    ) -> Iterator[Block]:
        vectors = self._model.encoder.encode(batch.ids, batch.shifted) if future is None else future.result()
        for ready in self._cut(batch.windows, vectors, last=batch.last):
            # The encoder has the other processors: threads for products this small would only be in its way.
            with _libraries().limit(limits=1, user_api="blas"):
                block = self._decide(*ready, given)
            yield block

    def _cut(
        self, windows: Sequence[Window], vectors: Floats, *, last: bool
    ) -> Iterator[tuple[list[Sentence], list[int], Floats]]:
        """The sentences that each window completes, the pieces of their words, and the vectors of those."""
        position = 0
        for number, window in enumerate(windows, 1):
            kept = window.keep_end - window.keep_start
            self.vectors = np.concatenate([self.vectors, vectors[position : position + kept]])
            position += kept
            if self._model.config.proposals.rule == "top" and not (last and number == len(windows)):
                continue  # the best of the whole document are known at its end
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

    def _decide(
        self,
        sentences: list[Sentence],
        lengths: list[int],
        vectors: Floats,
        given: Mapping[int, Sequence[WordSpan]] | None,
    ) -> Block:
        config, heads = self._model.config, self._model.heads
        edges = np.cumsum([0, *(len(sentence.words) for sentence in sentences)])
        places = [WordSpan(*span) for span in pairwise(edges.tolist())]
        end = np.cumsum(lengths)
        candidates = candidates_of(end - lengths, end, places, max_width=config.model.max_width, unit=config.model.unit)
        grid = heads.mention_scores(vectors, candidates, self._genre)
        if given is None:
            spans = select(grid, candidates, places, config.proposals)
        else:
            spans = self._given(given, places, candidates)
            np.maximum(grid, 0, out=grid)  # the caller says that they are mentions
        x = heads.span_vectors(vectors, candidates, spans)
        scores = grid[spans[:, 0], spans[:, 1] - spans[:, 0] - 1].astype(np.float32)
        owners = (np.searchsorted(edges, spans[:, 0], side="right") - 1).tolist()
        words = [word for sentence in sentences for word in sentence.words]
        quoted = self.quotes.scan(words)
        facts = [
            mention_facts(words[start:stop], sentence=self.sentences + owner, quoted=quoted[start])
            for (start, stop), owner in zip(spans.tolist(), owners, strict=True)
        ]
        decisions = list(self.clusterer.cluster(x, scores, facts))
        block = Block(sentences, self.words, spans + self.words, x, facts, decisions)
        self.sentences += len(sentences)
        self.words += len(words)
        return block

    def _given(
        self, given: Mapping[int, Sequence[WordSpan]], places: Sequence[WordSpan], candidates: Candidates
    ) -> Integers:
        spans = []
        for number, place in enumerate(places, self.sentences):
            for start, end in sorted(given.get(number, ())):
                if not 0 <= start < end <= place.end - place.start:
                    raise UsageError(f"mention {start}:{end} lies outside sentence {number}")
                if end - start > candidates.widths[place.start + start]:
                    raise UsageError(
                        f"mention {start}:{end} of sentence {number} is too long: this model reads mentions of at most "
                        f"{candidates.max_width} {candidates.unit}"
                    )
                spans.append((place.start + start, place.start + end))
        return np.array(spans, dtype=np.int64).reshape(-1, 2)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is kept between calls: JSON values, and arrays by name."""
        memory, arrays = self.clusterer.state()
        facts = {name: getattr(self, name) for name in ("ids", "first_id", "sentences", "words")}
        facts["lengths"] = list(self.lengths)
        facts["open"] = [(sentence.words, sentence.offsets, sentence.starts_paragraph) for sentence in self.open]
        facts |= {"windows": vars(self.splitter), "quote": self.quotes.open_for, "memory": memory}
        return facts, {"vectors": self.vectors, **arrays}

    def restore(self, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Goes back to where `state` was called."""
        for name in ("ids", "first_id", "sentences", "words"):
            setattr(self, name, facts[name])
        self.lengths = deque(facts["lengths"])
        self.open = deque(
            Sentence(tuple(words), tuple(CharSpan(*offset) for offset in offsets), starts)
            for words, offsets, starts in facts["open"]
        )
        vars(self.splitter).update(facts["windows"])
        self.quotes.open_for = facts["quote"]
        self.vectors = arrays["vectors"]
        self.clusterer.restore(facts["memory"], arrays)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries of this process that have threads of their own."""
    return ThreadpoolController()


@dataclass(frozen=True, slots=True)
class Reading:
    """The proposed mentions of a document, with what was decided for each, and their vectors x."""

    spans: list[WordSpan]
    decisions: list[Decision]
    x: Floats
    facts: list[MentionFacts]

    def clusters(self) -> list[Sequence[WordSpan]]:
        """The entities that were found, in order of first mention."""
        return decode(self.spans, [decision.action for decision in self.decisions])


def sentences_of(document: Document) -> list[Sentence]:
    """The sentences of a document as `Reader` takes them."""
    return [
        Sentence(document.words[start:end], document.offsets[start:end], False) for start, end in document.sentences
    ]


def read_document(document: Document, model: Model, policy: MemoryPolicy) -> Reading:
    """Finds the mentions of a document and clusters them under a memory policy."""
    reader = Reader(model, policy, genre=document.genre)
    blocks = list(reader.read(sentences_of(document), last=True))
    return Reading(
        [WordSpan(*span) for block in blocks for span in block.spans.tolist()],
        [decision for block in blocks for decision in block.decisions],
        np.concatenate([np.zeros((0, model.heads.span_width), np.float32), *(block.x for block in blocks)]),
        [facts for block in blocks for facts in block.facts],
    )


def mention_labels(model: Model, x: Floats, facts: Sequence[MentionFacts]) -> list[tuple[str, str | None]]:
    """Kind and type of mentions. A pronoun is known by its wording, and so is a name where kinds were not learned."""
    config, rows = model.config.model, range(len(facts))
    kinds = [config.kinds[number] for number in model.heads.labels("kind", x).argmax(1)] if config.kinds else []
    types = [config.types[number] for number in model.heads.labels("type", x).argmax(1)] if config.types else []

    def kind(row: int) -> str:
        if facts[row].pronoun:
            return "PRON"
        return kinds[row] if kinds else "PROP" if facts[row].named else "NOM"

    return [(kind(row), types[row] if types else None) for row in rows]
