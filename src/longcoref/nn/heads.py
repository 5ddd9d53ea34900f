"""The scoring functions of the paper in torch: mention score, link score, fertility, kinds and types.

All first layers are factored (docs/design.md, section 5): a layer over a concatenation is the sum of layers over its
parts, so no vector of the many candidate spans is ever built. `runtime/heads.py` is the numpy twin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from longcoref.config import ModelConfig
from longcoref.features.candidates import Candidates
from longcoref.features.pairs import feature_rows
from longcoref.nn.dropout import dropout
from longcoref.nn.pairs import PairScores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, INVALID_COLUMN, NEW_COLUMN, Integers, Recalls, Unrolled

CLOSED = -1e9  # the score of an option that is not offered


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one unrolled document.

    `links` has shape (mentions, cells + 1): the cells, then none, whose score is 0. `options` has shape
    (choices, columns), the columns of `teacher`; `valid` is s_m of each choice. `recalls`, where there are any, has
    shape (steps, candidates + 1) and is like `links`. What is not offered is CLOSED.
    """

    links: Tensor
    options: Tensor
    valid: Tensor
    recalls: Tensor | None = None


class FeedForward(nn.Module):
    """One hidden layer: Linear, ReLU, Dropout, Linear to a single score."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden)
        self.output = nn.Linear(hidden, 1)
        self.dropout = dropout

    def forward(self, inputs: Tensor) -> Tensor:
        """Scores of shape (...,) for inputs of shape (..., width)."""
        return self.finish(self.hidden(inputs))

    def finish(self, before: Tensor, output: nn.Linear | None = None) -> Tensor:
        """Scores from the sum that goes into the hidden layer, by its own last layer or another."""
        active = dropout(before.relu(), self.dropout, self.training)
        score: Tensor = (output or self.output)(active).squeeze(-1)
        return score


class Heads(nn.Module):
    """Every weight above the encoder."""

    def __init__(self, config: ModelConfig, width: int) -> None:
        super().__init__()
        self.config, self.width = config, width
        size, hidden, drop = config.feature_size, config.hidden, config.dropout
        self.span_width = 3 * width + size
        self.attention = nn.Linear(width, 1)
        self.span_width_embedding = nn.Embedding(config.max_width, size)
        self.mention = FeedForward(self.span_width, hidden, drop)
        self.width_prior_embedding = nn.Embedding(config.max_width, size)
        self.width_prior = FeedForward(size, hidden, drop)
        self.mention_genre = nn.Embedding(len(config.genres), hidden) if config.genre_mentions else None
        if self.mention_genre is not None:
            nn.init.zeros_(self.mention_genre.weight)
        rows = feature_rows(config.features, len(config.genres))
        self.feature_embeddings = nn.ModuleList(nn.Embedding(count, size) for count in rows)
        self.link = FeedForward(3 * self.span_width + size * len(rows), hidden, drop)
        self.fertility = FeedForward(self.span_width + size * len(rows), hidden, drop) if config.fertility else None
        self.weight = nn.Linear(self.span_width, 1) if config.entity == "weighted" else None
        self.kind_head = nn.Linear(self.span_width, len(config.kinds)) if config.kinds else None
        self.type_head = nn.Linear(self.span_width, len(config.types)) if config.types else None

    def mention_scores(
        self, vectors: Tensor, candidates: Candidates, genre: int = 0, output: nn.Linear | None = None
    ) -> Tensor:
        """s_m of every candidate, as a grid (words, max_width); CLOSED where there is no candidate.

        With another last layer than that of mentions, `output`, the scores are those of another task.

        A span's head part is an attention-weighted mean of its pieces, so it is pooled from the projected pieces, one
        word at a time: the mean over one word more lies between the old mean and the new word.
        """
        width, size = self.width, self.config.feature_size
        start_part, end_part, width_part, head_part = self.mention.hidden.weight.split_with_sizes(
            [width, width, size, width], 1
        )
        first, last = torch.from_numpy(candidates.first), torch.from_numpy(candidates.last)
        bias: Tensor = self.mention.hidden.bias
        if self.mention_genre is not None:
            bias = bias + self.mention_genre.weight[genre]
        starts = functional.linear(vectors[first], start_part, bias)
        ends = functional.linear(vectors[last], end_part)
        heads, weights = self._pool_words(functional.linear(vectors, head_part), vectors, first, last)
        widths = functional.linear(self._dropped(self.span_width_embedding.weight), width_part)
        prior = self.width_prior(self.width_prior_embedding.weight)

        # Sorted by their number of candidates, the starts that reach a width are always the first ones.
        available = torch.from_numpy(candidates.widths)
        order = torch.argsort(available, descending=True, stable=True)
        reaching = (available[order][None, :] >= torch.arange(1, candidates.max_width + 1)[:, None]).sum(1).tolist()
        starts, grid = starts[order], []
        pooled, total = heads[order], weights[order]
        for column, count in enumerate(reaching):
            if not count:
                break
            rows = order[:count]
            if column:
                added = weights[rows + column]
                total = torch.logaddexp(total[:count], added)
                pooled = torch.lerp(pooled[:count], heads[rows + column], (added - total).exp()[:, None])
            table_rows = torch.from_numpy(candidates.width_rows(rows.numpy(), column + 1))
            before = starts[:count] + ends[rows + column] + pooled[:count] + widths[table_rows]
            scores = self.mention.finish(before, output)
            grid.append(scores if output is not None else scores + prior[table_rows])
        fields = torch.cat([order[:count] * candidates.max_width + c for c, count in enumerate(reaching)])
        scores = vectors.new_full((len(first) * candidates.max_width,), CLOSED)
        scores = scores.index_put((fields,), torch.cat(grid)) if grid else scores
        return scores.view(len(first), candidates.max_width)

    def _pool_words(self, projected: Tensor, vectors: Tensor, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Attention-weighted means over the pieces of each word, and the logarithms of their total weights."""
        logits = self.attention(vectors).squeeze(-1)
        lengths = last - first + 1
        word = torch.repeat_interleave(torch.arange(len(first)), lengths)
        padded = logits.new_full((len(first), int(lengths.max()) if len(first) else 1), CLOSED)
        place = torch.arange(len(word)) - torch.repeat_interleave(first - first[:1], lengths)
        pieces = torch.repeat_interleave(first, lengths) + place
        padded = padded.index_put((word, place), logits[pieces])
        total = torch.logsumexp(padded, 1)
        weighted = projected[pieces] * (logits[pieces] - total[word]).exp()[:, None]
        return projected.new_zeros((len(first), projected.shape[1])).index_add(0, word, weighted), total

    def span_vectors(self, vectors: Tensor, candidates: Candidates, spans: Tensor) -> Tensor:
        """Vectors x of chosen spans (starts and ends in words, shape (spans, 2)): [start; end; width; head]."""
        first, last = torch.from_numpy(candidates.first), torch.from_numpy(candidates.last)
        start, end = first[spans[:, 0]], last[spans[:, 1] - 1]
        logits = self.attention(vectors).squeeze(-1)
        piece = torch.arange(len(vectors))
        inside = (piece >= start[:, None]) & (piece <= end[:, None])
        attention = logits.masked_fill(~inside, CLOSED).softmax(1)
        length = spans[:, 1] - spans[:, 0] if candidates.unit == "words" else end - start + 1
        widths = self._dropped(self.span_width_embedding.weight[length - 1])
        return torch.cat([vectors[start], vectors[end], widths, attention @ vectors], 1)

    def states(self, x: Tensor, unrolled: Unrolled) -> Tensor:
        """The vector of every entity state: the (weighted) mean of the mentions behind it; shape (states, span)."""
        members = torch.from_numpy(unrolled.members[unrolled.sequence])
        offsets = torch.from_numpy(unrolled.offsets)
        lengths = torch.diff(offsets, append=torch.tensor([len(members)]))
        place = torch.empty_like(members)
        place[torch.from_numpy(unrolled.sequence)] = torch.arange(len(members))
        begin, end = torch.repeat_interleave(offsets, lengths)[place], place + 1
        # Sums over entities are differences of running sums over the document: in doubles, to keep their digits.
        values = x.index_select(0, members).double()
        weights = values.new_ones(len(members))
        if self.weight is not None:
            weights = self._weights(x)[members].double()
            values = values * weights[:, None]
        sums, totals = functional.pad(values.cumsum(0), (0, 0, 1, 0)), functional.pad(weights.cumsum(0), (1, 0))
        means = (sums.index_select(0, end) - sums.index_select(0, begin)) / (totals[end] - totals[begin])[:, None]
        return means.to(x.dtype)

    def _weights(self, x: Tensor) -> Tensor:
        assert self.weight is not None
        return functional.softplus(self.weight(x).squeeze(-1)) + 1e-3

    def score(self, x: Tensor, mention_scores: Tensor, unrolled: Unrolled) -> Scores:
        """All link and option scores of a teacher-forced document, in one graph."""
        features = self.features(torch.from_numpy(unrolled.pair_codes))
        e = self.states(x, unrolled)
        s = self.span_width
        part_x, part_e, pair_part = self.link.hidden.weight.split_with_sizes([s, s, s + features.shape[1]], 1)
        px = functional.linear(x, part_x, self.link.hidden.bias)
        pe = functional.linear(e, part_e)

        def links(pairs: Unrolled | Recalls, features: Tensor, row: Integers, column: Integers, rows: int) -> Tensor:
            mention, state = torch.from_numpy(pairs.pair_mention), torch.from_numpy(pairs.pair_state)
            scores = self._pair_scores(self.link, x, e, px, pe, features, pair_part, mention, state)
            none = int(column.max(initial=-1)) + 1
            table = x.new_full((rows, none + 1), CLOSED)
            table[:, none] = 0.0
            places = torch.from_numpy(row), torch.from_numpy(column)
            return table.index_put(places, scores + mention_scores[mention])

        found = links(unrolled, features, unrolled.pair_mention, unrolled.pair_cell, unrolled.mentions)
        valid = mention_scores[torch.from_numpy(unrolled.option_mention)]
        scores = Scores(found, self._options(x, e, features, valid, unrolled), valid)
        if (recalls := unrolled.recalls) is None:
            return scores
        features = self.features(torch.from_numpy(recalls.pair_codes))
        back = links(recalls, features, recalls.pair_step, recalls.pair_column, len(recalls.target))
        return replace(scores, recalls=back)

    def _options(self, x: Tensor, e: Tensor, features: Tensor, valid: Tensor, unrolled: Unrolled) -> Tensor:
        """The second step: NEW scores 0, INVALID −s_m, IGNORE −f_r(x), EVICT −f_r(e); shape (choices, columns)."""
        columns = EVICT_COLUMN + int(unrolled.evict_column.max(initial=-1)) + 1
        options = x.new_full((len(valid), columns), CLOSED)
        full = torch.from_numpy(unrolled.option_full)
        options[~full, NEW_COLUMN] = 0.0
        options[:, INVALID_COLUMN] = -valid
        if self.fertility is None or not bool(full.any()):
            return options
        # A mention that may be ignored is scored like one more entity that may be evicted.
        own = torch.from_numpy(unrolled.option_mention)[full]
        pairs, states = torch.from_numpy(unrolled.evict_pair), torch.from_numpy(unrolled.pair_state)
        part_e, feature = self.fertility.hidden.weight.split_with_sizes([self.span_width, features.shape[1]], 1)
        projected = functional.linear(torch.cat([e, x[own]]), part_e)
        own_features = self.features(torch.from_numpy(unrolled.self_codes)[own])
        scores = self._pair_scores(
            self.fertility,
            x.new_empty((1, 0)),
            x.new_empty((len(projected), 0)),
            self.fertility.hidden.bias[None],
            projected,
            torch.cat([features.index_select(0, pairs), own_features]),
            feature,
            torch.zeros(len(pairs) + len(own), dtype=torch.long),
            torch.cat([states[pairs], torch.arange(len(e), len(projected))]),
        )
        evict, ignore = scores.split_with_sizes([len(pairs), len(own)])
        options[full, IGNORE_COLUMN] = -ignore
        choice, column = torch.from_numpy(unrolled.evict_option), torch.from_numpy(unrolled.evict_column)
        return options.index_put((choice, column + EVICT_COLUMN), -evict)

    def _pair_scores(self, layers: FeedForward, *parts: Tensor) -> Tensor:
        """The scores of `PairScores`, with the output layer and the dropout of `layers`; `parts` are its inputs."""
        *floats, mention, state = parts
        drop = layers.dropout if self.training else 0.0
        scores: Tensor = PairScores.apply(*floats, layers.output.weight.squeeze(0), mention, state, drop)  # type: ignore[no-untyped-call]
        return scores + layers.output.bias

    def features(self, codes: Tensor) -> Tensor:
        """g: the concatenated feature embeddings, with dropout; shape (pairs, features × size)."""
        if not self.feature_embeddings:
            return self.attention.weight.new_zeros((len(codes), 0))
        tables: list[Tensor] = [*self.feature_embeddings.parameters()]
        offsets = torch.tensor([0, *map(len, tables[:-1])]).cumsum(0)
        return self._dropped(functional.embedding(codes + offsets, torch.cat(tables)).flatten(1))

    def _dropped(self, values: Tensor) -> Tensor:
        return dropout(values, self.config.dropout, self.training)
