"""The numpy twin of `nn/heads.py`: the same weights under the same names, for running only.

First layers are factored as in training, and at run time the feature embeddings become tables of what they add to the
hidden layer, so that features cost a few lookups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.config import ModelConfig
from longcoref.errors import ModelError
from longcoref.features.candidates import Candidates
from longcoref.features.pairs import feature_rows
from longcoref.runtime.packed import PackedWeights
from longcoref.runtime.tables import Layout

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]

CLOSED = -1e9
_STARTS_AT_ONCE = 100
"""Words whose candidates are scored together: more would cost memory, and all of them need the cache."""
_MANY_MENTIONS = 8
"""From which on weights are packed to project them: a process that reads only a short text need not do it."""
PRODUCT = "link.product.weight"
"""The name of the first factor, (rank, span), of the matrix that f_c multiplies x⊙e by, if it was exported as two.

The second is then in the place of the matrix in the weights of the hidden layer.
"""
START, START_BIAS = "start.weight", "start.bias"
"""The names of linear scores of words, (scores, width) and (scores,), if they were exported.

If score i is below 0, no mention of `REACHES[i]` or more words starts there.
"""
REACHES = (1, 5, 9)
END, END_BIAS = "end.weight", "end.bias"
"""The names of a linear score of words, (1, width) and (1,), if it was exported: below 0, no mention ends there."""
GATES = (START, START_BIAS, END, END_BIAS)


@dataclass(frozen=True, slots=True)
class Layer:
    """One hidden layer whose input was cut into parts: `parts[i]` is (width of part i, hidden)."""

    parts: tuple[Floats, ...]
    bias: Floats
    output: Floats
    output_bias: float
    zeros: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeros", np.zeros_like(self.bias))

    def finish(self, hidden: Floats, more: float = 0.0) -> Floats:
        """Scores of shape (...,), plus `more`, from the sum that goes into the hidden layer, which is overwritten."""
        np.maximum(hidden, self.zeros, out=hidden)  # with a plain 0, numpy takes twice as long
        return np.asarray(hidden @ self.output + (self.output_bias + more))


class Heads:
    """Every weight above the encoder, ready to be multiplied."""

    def __init__(self, weights: Mapping[str, Floats], config: ModelConfig, width: int) -> None:
        self.config, self.width = config, width
        self.span_width = 3 * width + config.feature_size
        self.weights = _checked(weights, config, width)
        size = config.feature_size
        self._attention = self.weights["attention.weight"][0]
        self._attention_bias = self.weights["attention.bias"][0]
        self._start, self._start_bias = self.weights.get(START), self.weights.get(START_BIAS)
        self._end, self._end_bias = self.weights.get(END), self.weights.get(END_BIAS)
        self._widths = self.weights["span_width_embedding.weight"]
        self._mention = self._layer("mention", width, width, size, width)
        start, end, of_width, head = self._mention.parts
        self._mention_parts = [PackedWeights(part.T) for part in (start, end, head)]
        genres = max(1, len(config.genres))
        self._mention_bias = np.tile(self._mention.bias, (genres, 1))
        if config.genre_mentions:
            self._mention_bias += self.weights["mention_genre.weight"]
        prior = self._layer("width_prior", size)
        self._prior = prior.finish(self.weights["width_prior_embedding.weight"] @ prior.parts[0] + prior.bias)
        self._width_part = self._widths @ of_width
        s, rows = self.span_width, feature_rows(config.features, len(config.genres))
        narrow = self.weights.get(PRODUCT)
        self.link = self._layer("link", s, s, s if narrow is None else len(narrow), *[size] * len(rows))
        factors = [self.link.parts[2].T] if narrow is None else [narrow, self.link.parts[2].T]
        self._products = [PackedWeights(factor) for factor in factors]
        self.fertility = self._layer("fertility", s, *[size] * len(rows)) if config.fertility else None
        self.layout = Layout(rows)
        self.link_table = self._table(self.link.parts[3:])
        self.fertility_table = self._table(self.fertility.parts[1:]) if self.fertility else self.link_table[:0]
        of_entities = (self.fertility or self.link).parts[0 if self.fertility else 1]
        self._projected = [part.T for part in (*self.link.parts[:2], of_entities)]
        self._projection = PackedWeights(*self._projected)

    def _layer(self, name: str, *sizes: int) -> Layer:
        weight = self.weights[f"{name}.hidden.weight"].T
        parts = tuple(np.split(weight, np.cumsum(sizes)[:-1]))  # not copied: few of them are multiplied while reading
        output = self.weights[f"{name}.output.weight"][0]
        bias, output_bias = self.weights[f"{name}.hidden.bias"], float(self.weights[f"{name}.output.bias"][0])
        return Layer(parts, bias, output, output_bias)

    def _table(self, parts: tuple[Floats, ...]) -> Floats:
        """What features add to the hidden layer, in the rows of `layout`."""
        added = [self.weights[f"feature_embeddings.{i}.weight"] @ part for i, part in enumerate(parts)]
        return self.layout.stacked(added, self.config.hidden)

    def mention_scores(self, vectors: Floats, candidates: Candidates, genre: int = 0) -> Floats:
        """s_m of every candidate, as a grid (words, max_width); CLOSED where there is no candidate.

        It is CLOSED, too, where the model knows that no mention so long starts, or that none ends.
        """
        start_part, end_part, head_part = self._mention_parts
        first, last = candidates.first, candidates.last
        widths, may_end = self._opened(vectors, candidates)
        inside, row_of = _inside(widths)
        words, weights = self._pool(vectors, first[inside], last[inside])
        heads = head_part.times(words)
        closing = inside[may_end[inside]]
        ends = end_part.times(vectors[last[closing]])
        # Sorted by their number of candidates, the starts that reach a width are always the first ones.
        order = np.argsort(-widths, kind="stable")[: np.count_nonzero(widths)]
        starts = start_part.times(vectors[first[order]]) + self._mention_bias[genre]
        grid = np.full((len(first), candidates.max_width), CLOSED, dtype=vectors.dtype)
        for begin in range(0, len(order), _STARTS_AT_ONCE):
            block = order[begin : begin + _STARTS_AT_ONCE]
            hidden, column, place = _pooled(heads, weights, row_of[block], widths[block])
            chosen = np.flatnonzero(may_end[block[place] + column])
            if len(chosen) < len(hidden):
                hidden, column, place = hidden[chosen], column[chosen], place[chosen]
            begins = block[place]
            hidden += ends[np.searchsorted(closing, begins + column)]
            hidden += starts[begin + place]
            width = column if candidates.unit == "words" else last[begins + column] - first[begins]
            hidden += self._width_part[width]
            grid[begins, column] = self._mention.finish(hidden) + self._prior[width]
        return grid

    def _opened(self, vectors: Floats, candidates: Candidates) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """How many candidates to score at each word, up to the last that may end, and which words may end one."""
        widths = candidates.widths
        if self._start is not None:
            opened = (vectors @ self._start.T + self._start_bias >= 0)[candidates.first]
            for may_start, reach in zip(opened.T, REACHES, strict=False):
                widths = np.where(may_start, widths, np.minimum(widths, reach - 1))
        if self._end is None:
            return widths, np.ones(len(widths), dtype=bool)
        may_end = (vectors @ self._end[0] + self._end_bias >= 0)[candidates.last]
        words: Integers = np.arange(len(widths))
        latest = np.concatenate([[-1], np.maximum.accumulate(np.where(may_end, words, -1))])
        return np.maximum(latest[words + widths] + 1 - words, 0), may_end

    def _pool(self, vectors: Floats, first: Integers, last: Integers) -> tuple[Floats, Floats]:
        """Attention-weighted means over pieces `first` to `last`, and the logarithms of their total weights."""
        logits = np.asarray(vectors @ self._attention + self._attention_bias)
        # Most words have one piece, whose vector is the mean.
        means, weights = vectors[first], logits[first]
        several = np.flatnonzero(last > first)
        if len(several):
            lengths = (last - first + 1)[several]
            begin = np.cumsum(lengths) - lengths
            pieces = np.arange(lengths.sum()) + np.repeat(first[several] - begin, lengths)
            top = np.maximum.reduceat(logits[pieces], begin)
            share = np.exp(logits[pieces] - np.repeat(top, lengths))
            total = np.add.reduceat(share, begin)
            share /= np.repeat(total, lengths)
            means[several] = np.add.reduceat(vectors[pieces] * share[:, None], begin, axis=0)
            weights[several] = np.log(total) + top
        return means, weights

    def span_vectors(self, vectors: Floats, candidates: Candidates, spans: Integers) -> Floats:
        """Vectors x of chosen spans (starts and ends in words, shape (spans, 2)): [start; end; width; head]."""
        start, end = candidates.first[spans[:, 0]], candidates.last[spans[:, 1] - 1]
        width = spans[:, 1] - spans[:, 0] if candidates.unit == "words" else end - start + 1
        heads, _ = self._pool(vectors, start, end)
        return np.concatenate([vectors[start], vectors[end], self._widths[width - 1], heads], axis=1)

    def projections(self, x: Floats) -> Floats:
        """What mentions, (mentions, span), add to hidden layers by themselves: shape (mentions, 3, hidden).

        These are those of f_c as a mention and as an entity, and of f_r as an entity (without f_r, of f_c again).
        """
        size = self.width
        start, end, head = x[:, :size], x[:, size : 2 * size], x[:, -size:]
        layers = np.empty((len(x), 3, self.config.hidden), dtype=x.dtype)
        projected = layers.reshape(len(x), 3 * self.config.hidden)
        if len(x) < _MANY_MENTIONS:
            np.concatenate([x @ weights.T for weights in self._projected], axis=1, out=projected)
        else:
            # Most are a single piece, which is their start, end and head, so that one product gives those of all.
            pieces = (start == end).all(1) & (start == head).all(1)
            projected[pieces] = self._projection_of_pieces.times(x[pieces, 2 * size :])
            projected[~pieces] = self._projection.times(x[~pieces])
        layers[:, 0] += self.link.bias
        if self.fertility:
            layers[:, 2] += self.fertility.bias
        return layers

    @cached_property
    def _projection_of_pieces(self) -> PackedWeights:
        """The weights for mentions of a single piece, given as their width and their vector."""
        edges = np.cumsum([self.width, self.width, self.config.feature_size])
        parts = (np.split(weights, edges, axis=1) for weights in self._projected)
        return PackedWeights(
            *(np.concatenate([of_width, start + end + head], axis=1) for start, end, of_width, head in parts)
        )

    def products(self, pairs: Floats) -> Floats:
        """What the products x⊙e of pairs, (pairs, span), add to the hidden layer of f_c; shape (pairs, hidden)."""
        for factor in self._products:
            pairs = factor.times(pairs)
        return pairs

    def entity_weights(self, x: Floats) -> Floats:
        """How much each mention counts in its entity's vector; shape (mentions,)."""
        if self.config.entity == "mean":
            return np.ones(len(x), dtype=x.dtype)
        scores = x @ self.weights["weight.weight"][0] + self.weights["weight.bias"][0]
        return np.asarray(np.logaddexp(0, scores) + 1e-3)

    def labels(self, head: str, x: Floats) -> Floats:
        """Logits of the kinds (`head="kind"`) or types (`head="type"`); shape (mentions, labels)."""
        return np.asarray(x @ self.weights[f"{head}_head.weight"].T + self.weights[f"{head}_head.bias"])


def expected_shapes(
    config: ModelConfig, width: int, *, rank: int | None = None, starts: int = 0, ends: bool = False
) -> dict[str, tuple[int, ...]]:
    """The name and shape of every weight of such a model.

    `rank` is that of the products, if they are factored; `starts` is how many scores of words as starts it has, `ends`
    whether it has one of words as ends.
    """
    size, hidden = config.feature_size, config.hidden
    span, rows = 3 * width + size, feature_rows(config.features, len(config.genres))
    product = span if rank is None else rank
    layers = {"mention": span, "width_prior": size, "link": 2 * span + product + size * len(rows)}
    if config.fertility:
        layers["fertility"] = span + size * len(rows)
    linear = {"attention": (width, 1)}
    if config.entity == "weighted":
        linear["weight"] = (span, 1)
    linear |= {f"{name}_head": (span, len(labels)) for name, labels in _label_sets(config) if labels}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in linear.items():
        shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    for name, inputs in layers.items():
        shapes |= {f"{name}.hidden.weight": (hidden, inputs), f"{name}.hidden.bias": (hidden,)}
        shapes |= {f"{name}.output.weight": (1, hidden), f"{name}.output.bias": (1,)}
    tables = ("span_width_embedding.weight", "width_prior_embedding.weight")
    shapes |= dict.fromkeys(tables, (config.max_width, size))
    if rank is not None:
        shapes[PRODUCT] = (rank, span)
    if starts:
        shapes |= {START: (starts, width), START_BIAS: (starts,)}
    if ends:
        shapes |= {END: (1, width), END_BIAS: (1,)}
    if config.genre_mentions:
        shapes["mention_genre.weight"] = (len(config.genres), hidden)
    return shapes | {f"feature_embeddings.{i}.weight": (count, size) for i, count in enumerate(rows)}


def _inside(widths: Integers) -> tuple[Integers, Integers]:
    """The words that are in any candidate, given how many start at each word, and for those their number among them."""
    count = len(widths)
    edges = np.ones(count + 1, dtype=np.int64)
    edges -= np.bincount(np.arange(count) + widths, minlength=count + 1)
    inside = np.cumsum(edges)[:count] > 0
    return np.flatnonzero(inside), np.cumsum(inside) - 1


def _pooled(heads: Floats, weights: Floats, begin: Integers, widths: Integers) -> tuple[Floats, Integers, Integers]:
    """The means over the words of candidates: of all of one word, of all of two, and so on.

    Candidates of up to `widths[i]` words, which do not increase, start at row `begin[i]` of `heads`, what words add to
    the hidden layer; `weights` are the logarithms of their weights. The other results say for each candidate how many
    words follow the first, and its i.
    """
    reaching = np.searchsorted(-widths, -np.arange(1, widths[0] + 1), side="right")
    stops = np.cumsum(reaching)
    pooled = np.empty((stops[-1], heads.shape[1]), dtype=heads.dtype)
    before, total = pooled[: len(begin)], weights[begin]
    heads.take(begin, axis=0, out=before, mode="clip")
    for column in range(1, len(reaching)):
        count, stop = reaching[column], stops[column]
        rows, before, longer = begin[:count] + column, before[:count], pooled[stop - count : stop]
        added = weights[rows]
        total = np.logaddexp(total[:count], added)
        heads.take(rows, axis=0, out=longer, mode="clip")
        longer -= before
        longer *= np.exp(added - total)[:, None]
        longer += before
        before = longer
    columns = np.repeat(np.arange(len(reaching)), reaching)
    return pooled, columns, np.arange(len(pooled)) - np.repeat(stops - reaching, reaching)


def _label_sets(config: ModelConfig) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("kind", config.kinds), ("type", config.types)


def _checked(weights: Mapping[str, Floats], config: ModelConfig, width: int) -> dict[str, Floats]:
    rank = len(weights[PRODUCT]) if PRODUCT in weights else None
    starts = min(len(weights[START]), len(REACHES)) if START in weights else 0
    expected = expected_shapes(config, width, rank=rank, starts=starts, ends=END in weights)
    for name, shape in expected.items():
        if name not in weights:
            raise ModelError(f"the weights lack {name}, which model.toml requires: they belong to another model")
        if weights[name].shape != shape:
            raise ModelError(f"weight {name} has shape {weights[name].shape}, but model.toml requires {shape}")
        if not np.isfinite(weights[name]).all():
            raise ModelError(f"weight {name} has values that are not finite: the file is damaged; get the model again")
    return {name: weights[name] for name in expected}
