"""Reading one whole document that is already cut into words: encode, propose, cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from longcoref.candidates import candidates_of
from longcoref.config import Config
from longcoref.document import Document
from longcoref.memory import MemoryPolicy, decode
from longcoref.memory.facts import document_facts
from longcoref.runtime.clusterer import Clusterer, Decision
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.mentions import select
from longcoref.runtime.pieces import Integers, Tokenizer
from longcoref.runtime.windows import Window, split
from longcoref.spans import WordSpan


class WindowEncoder(Protocol):
    """What reading asks of an encoder."""

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        """Vectors of the pieces that the windows keep, (pieces, width), in text order."""


@dataclass(frozen=True, slots=True)
class Model:
    """All that is needed to read: configuration, tokenizer, encoder and heads."""

    config: Config
    tokenizer: Tokenizer
    encoder: WindowEncoder
    heads: Heads


@dataclass(frozen=True, slots=True)
class Reading:
    """The proposed mentions of a document, with what was decided for each, and their vectors x."""

    spans: list[WordSpan]
    decisions: list[Decision]
    x: Floats

    def clusters(self) -> list[Sequence[WordSpan]]:
        """The entities that were found, in order of first mention."""
        return decode(self.spans, [decision.action for decision in self.decisions])


def read_document(document: Document, model: Model, policy: MemoryPolicy) -> Reading:
    """Finds the mentions of a document and clusters them under a memory policy."""
    config, tokenizer = model.config, model.tokenizer
    pieces = tokenizer(document.words)
    marks = len(tokenizer.opening) + len(tokenizer.closing)
    window, strategy = config.encoder.window - marks, config.encoder.strategy
    vectors = model.encoder.encode(
        pieces.ids, split(pieces.lengths, document.sentences, max_pieces=window, strategy=strategy)
    )
    candidates = candidates_of(
        pieces.first,
        pieces.end,
        document.sentences,
        max_width=config.model.max_width,
        unit=config.model.unit,
    )
    grid = model.heads.mention_scores(vectors, candidates)
    spans = select(grid, candidates, document.sentences, config.proposals)
    x = model.heads.span_vectors(vectors, candidates, spans)
    scores = grid[spans[:, 0], spans[:, 1] - spans[:, 0] - 1].astype(np.float32)
    facts = document_facts(document.words, document.sentences, spans.tolist())
    genres = config.model.genres
    genre = genres.index(document.genre) if document.genre in genres else 0
    loop = Clusterer(model.heads, policy, genre=genre)
    return Reading([WordSpan(*span) for span in spans.tolist()], list(loop.cluster(x, scores, facts)), x)
