"""From vectors to the mentions that are clustered: which spans are proposed, and their kinds and types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.config import ProposalConfig
from longcoref.errors import UsageError
from longcoref.features.candidates import Candidates, candidates_of, head_words
from longcoref.features.facts import MentionFacts, is_pronoun
from longcoref.runtime.heads import Floats
from longcoref.runtime.model import Model
from longcoref.spans import WordSpan

Integers = npt.NDArray[np.int64]


def propose(
    model: Model,
    vectors: Floats,
    words: Sequence[str],
    lengths: Sequence[int],
    edges: Sequence[int],
    *,
    genre: int = 0,
    given: Sequence[Sequence[WordSpan]] | None = None,
) -> tuple[Integers, Floats, Floats]:
    """The spans to cluster, in words, their vectors x, and their scores s_m.

    `vectors` are those of the pieces of `words`, `lengths` has the number of pieces of each word, `edges` the words
    where sentences begin and the last one ends. `given` has the mentions of each sentence, in words of the sentence, if
    they are not to be proposed.
    """
    config, heads = model.config, model.heads
    sentences = [WordSpan(*span) for span in pairwise(edges)]
    end = np.cumsum(lengths)
    candidates = candidates_of(end - lengths, end, sentences, max_width=config.model.max_width, unit=config.model.unit)
    grid = heads.mention_scores(vectors, candidates, genre)
    if given is None:
        spans = select(grid, candidates, sentences, config.proposals)
        if config.proposals.one_per_head:
            spans = spans[best_of_heads(spans, grid, words)]
    else:
        spans = _given(given, sentences, candidates)
        np.maximum(grid, 0, out=grid)  # given mentions are never rejected
    x = heads.span_vectors(vectors, candidates, spans)
    if given is None and config.proposals.one_per_head and "PER" in config.model.types:
        people = heads.labels("type", x).argmax(1) == config.model.types.index("PER")
        whole = ~are_first_names(spans, people, words)
        spans, x = spans[whole], x[whole]
    return spans, x, _scores(grid, spans).astype(np.float32)


def _scores(grid: Floats, spans: Integers) -> Floats:
    return np.asarray(grid[spans[:, 0], spans[:, 1] - spans[:, 0] - 1])


def best_of_heads(spans: Integers, grid: Floats, words: Sequence[str]) -> Integers:
    """Of the spans with the same head word, which has the highest score; in text order."""
    heads = head_words(words, spans[:, 0], spans[:, 1])
    order = np.lexsort((-_scores(grid, spans), heads))
    return np.sort(order[np.flatnonzero(np.diff(heads[order], prepend=-1))])


def are_first_names(spans: Integers, people: npt.NDArray[np.bool_], words: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which spans, in text order, are only the first words of a person's name that is proposed, too ("Malcolm" X)."""
    (start, end), after = spans.T, np.append(spans[1:], [[-1, -1]], axis=0)
    begun = np.flatnonzero((start == after[:, 0]) & people & np.append(people[1:], False))
    first = np.zeros(len(spans), dtype=bool)
    for row in begun.tolist():
        name = words[start[row] : after[row, 1]]
        first[row] = all(word[:1].isupper() for word in name) and not is_pronoun(words[end[row] - 1])
    return first


def _given(given: Sequence[Sequence[WordSpan]], sentences: Sequence[WordSpan], candidates: Candidates) -> Integers:
    spans = []
    for mentions, sentence in zip(given, sentences, strict=True):
        for start, end in sorted(mentions):
            if end - start > candidates.widths[sentence.start + start]:
                raise UsageError(
                    f"a given mention of {end - start} words is too long: this model reads mentions of at most "
                    f"{candidates.max_width} {candidates.unit}"
                )
            spans.append((sentence.start + start, sentence.start + end))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def select(
    scores: npt.NDArray[np.floating[Any]], candidates: Candidates, sentences: Iterable[WordSpan], config: ProposalConfig
) -> Integers:
    """The proposed spans in text order: by start, then by end; shape (mentions, 2), in words.

    With the rule `threshold`, each sentence is decided by itself, so a text can be streamed; with `top`, the best of
    the whole document are taken, as in the paper.
    """
    mask = candidates.mask
    if config.rule == "top":
        return _spans(_best(scores, mask, _allowed(candidates, slice(0, len(mask)), config.ratio)))
    chosen = mask & (scores > config.threshold)
    for start, end in sentences:
        rows = slice(start, end)
        allowed = _allowed(candidates, rows, config.ratio)
        if np.count_nonzero(chosen[rows]) > allowed:
            chosen[rows] = _best(scores[rows], chosen[rows], allowed)
    return _spans(chosen)


def _allowed(candidates: Candidates, rows: slice, ratio: float) -> int:
    """The largest number of proposals in these rows: rounded down for pieces, as in the paper, and up for words."""
    first, last = candidates.first[rows], candidates.last[rows]
    if candidates.unit == "pieces":
        return int(ratio * (last[-1] - first[0] + 1)) if len(first) else 0
    return math.ceil(ratio * len(first))


def _best(scores: npt.NDArray[np.floating[Any]], mask: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """The `count` highest scores under the mask; ties go to the first in text order."""
    fields = np.flatnonzero(mask)
    ranked = fields[np.argsort(-scores.ravel()[fields], kind="stable")[:count]]
    chosen = np.zeros(mask.size, dtype=bool)
    chosen[ranked] = True
    return chosen.reshape(mask.shape)


def _spans(chosen: npt.NDArray[np.bool_]) -> Integers:
    start, column = np.nonzero(chosen)
    return np.stack([start, start + column + 1], axis=1)


def mention_labels(model: Model, x: Floats, facts: Sequence[MentionFacts]) -> list[tuple[str, str | None]]:
    """Kind and type of mentions. Pronouns are recognised by their words, and so are names if kinds were not learned."""
    config, rows = model.config.model, range(len(facts))
    kinds = [config.kinds[number] for number in model.heads.labels("kind", x).argmax(1)] if config.kinds else []
    types = [config.types[number] for number in model.heads.labels("type", x).argmax(1)] if config.types else []

    def kind(row: int) -> str:
        if facts[row].pronoun:
            return "PRON"
        return kinds[row] if kinds else "PROP" if facts[row].named else "NOM"

    return [(kind(row), types[row] if types else None) for row in rows]
