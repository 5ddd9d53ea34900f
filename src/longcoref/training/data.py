"""Training examples: a document with its pieces, windows, candidates and gold entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longcoref.clusters import Mention, gold_entities
from longcoref.config import Config, ModelConfig
from longcoref.document import Document
from longcoref.english.grammar import POSSESSIVES, Case, case_of
from longcoref.english.lexicon import FUNCTION_WORDS
from longcoref.errors import ConfigError, unknown_name
from longcoref.features.candidates import Candidates, candidates_of
from longcoref.features.speech import PlacedFacts, document_facts
from longcoref.runtime.pieces import Pieces, Tokenizer
from longcoref.runtime.windows import Window, split
from longcoref.spans import WordSpan


@dataclass(frozen=True)
class Example:
    """A document ready to be encoded and taught. Gold clusters that share a span are one entity."""

    document: Document
    pieces: Pieces
    windows: Sequence[Window]
    candidates: Candidates
    genre: int
    known: str = "all"
    """What is known of the document (`ExtraConfig.known`)."""

    @cached_property
    def gold(self) -> dict[WordSpan, int]:
        """The entity of every gold span."""
        return gold_entities(self.document.clusters or ())

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The number of gold mentions of every entity."""
        entities = list(self.gold.values())
        return {entity: entities.count(entity) for entity in set(entities)}

    @cached_property
    def gold_grid(self) -> npt.NDArray[np.float32]:
        """Ones where a candidate is a gold mention; shape (words, max_width)."""
        grid = np.zeros((len(self.document.words), self.candidates.max_width), dtype=np.float32)
        for start, end in self.gold:
            if end - start <= self.candidates.widths[start]:
                grid[start, end - start - 1] = 1
        return grid

    @cached_property
    def labels(self) -> dict[WordSpan, tuple[str | None, str | None]]:
        """Kind and type of every gold span, None where the data does not say."""
        mentions = (mention for cluster in self.document.clusters or () for mention in cluster.mentions)
        return {mention.span: (mention.kind, mention.type) for mention in mentions}

    @cached_property
    def scores(self) -> dict[WordSpan, float]:
        """The probability that a gold span is in the right cluster, of the spans that a model put there."""
        mentions = (mention for cluster in self.document.clusters or () for mention in cluster.mentions)
        return {mention.span: mention.score for mention in mentions if mention.score is not None}

    def facts(self, spans: npt.NDArray[np.int64]) -> list[PlacedFacts]:
        """The facts of proposed spans, shape (spans, 2)."""
        return document_facts(self.document.words, self.document.sentences, spans.tolist())


def add_endings(document: Document) -> Document:
    """The document with possessors that include their ending, "Ann's" for "Ann"; in "it's" it is a verb."""
    words = document.words
    known = {span for cluster in document.clusters or () for span in cluster.spans}

    def extended(mention: Mention) -> Mention:
        longer = WordSpan(mention.span.start, mention.span.end + 1)
        if longer in known or not POSSESSIVES.intersection(words[longer.end - 1 : longer.end]):
            return mention
        if words[longer.end - 2].lower() in FUNCTION_WORDS:
            return mention
        case = case_of(words, mention.span, opens_sentence=False)
        return replace(mention, span=longer) if case is Case.POSSESSIVE else mention

    return document.with_clusters(
        [replace(cluster, mentions=tuple(map(extended, cluster.mentions))) for cluster in document.clusters or ()]
    )


def prepare(document: Document, tokenizer: Tokenizer, config: Config, overlap: float | None = None) -> Example:
    """Cuts a document into pieces, windows and candidates, as the config says; `overlap` may be another."""
    pieces = tokenizer(document.words)
    marks = len(tokenizer.opening) + len(tokenizer.closing)
    windows = split(
        pieces.lengths,
        document.sentences,
        max_pieces=config.encoder.window - marks,
        overlap=config.encoder.overlap if overlap is None else overlap,
    )
    model = config.model
    candidates = candidates_of(pieces.first, pieces.end, document.sentences, max_width=model.max_width, unit=model.unit)
    return Example(document, pieces, windows, candidates, genre_number(document, model))


def genre_number(document: Document, model: ModelConfig) -> int:
    """The row of a document's genre, 0 where the model knows no genres."""
    if not model.genres:
        return 0
    if document.genre not in model.genres:
        raise ConfigError(f"{document.id}: {unknown_name('genre', str(document.genre), model.genres)}")
    return model.genres.index(document.genre)


def crop(example: Example, tokenizer: Tokenizer, config: Config, *, first: int, count: int) -> Example:
    """The part of a document that `count` consecutive windows from `first` on cover; mentions that straddle go."""
    windows = example.windows[first : first + count]
    begin = int(np.searchsorted(example.pieces.first, windows[0].start))
    end = int(np.searchsorted(example.pieces.end, windows[-1].end, side="right"))
    part = example.document.crop(WordSpan(begin, end))
    return prepare(part, tokenizer, config, config.train.overlap)
