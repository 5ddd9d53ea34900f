"""The whole model in torch: encoder and heads, and the losses of one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from longcoref.config import Config
from longcoref.features.speech import PlacedFacts
from longcoref.memory import Action, MemoryPolicy, oracle_actions
from longcoref.nn.encoder import Encoder
from longcoref.nn.heads import Heads
from longcoref.nn.losses import label_loss, link_loss, mention_loss, option_loss
from longcoref.nn.teacher import unroll
from longcoref.runtime import heads as runtime_heads
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.mentions import best_of_heads, select
from longcoref.spans import WordSpan
from longcoref.training.data import Example

Spans = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Losses:
    """The parts of one document's loss: sums over its mentions and candidates."""

    mention: Tensor
    link: Tensor
    option: Tensor
    label: Tensor

    def total(self, mention_weight: float, label_weight: float) -> Tensor:
        """What is minimised."""
        return self.link + self.option + mention_weight * self.mention + label_weight * self.label


@dataclass(frozen=True, slots=True)
class Proposals:
    """Mentions that are trained on: spans in words, gold entities, and places among all that were proposed."""

    spans: Spans
    entities: Sequence[int | None]
    index: npt.NDArray[np.int64]
    """Distances go on counting the proposals that were left out."""

    def fields(self) -> npt.NDArray[np.int64]:
        """Where the spans stand in the grid of candidates: rows and columns, shape (2, mentions)."""
        return np.stack([self.spans[:, 0], self.spans[:, 1] - self.spans[:, 0] - 1])


class CorefModel(nn.Module):
    """Encoder and heads, trained together."""

    def __init__(self, config: Config, encoder: Encoder) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.heads = Heads(config.model, encoder.width)
        phrases = any(extra.known == "phrases" for extra in config.data.extra)
        self.phrases = nn.Linear(config.model.hidden, 1) if phrases else None

    def mention_grid(self, example: Example, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all candidates, and the mention loss against the gold ones, be these mentions or noun phrases."""
        output = self.phrases if example.known == "phrases" else None
        grid = self.heads.mention_scores(vectors, example.candidates, example.genre, output)
        gold = torch.from_numpy(example.gold_grid).to(grid.dtype)
        return grid, mention_loss(grid, gold)

    def propose(self, example: Example, grid: Tensor, random: np.random.Generator) -> Proposals:
        """The proposed mentions that are trained on: all gold ones, and a random share of the invalid ones.

        A gold mention is among them even if another span with its head word has a higher score.
        """
        scores = grid.detach().numpy()
        spans = select(scores, example.candidates, example.document.sentences, self.config.proposals)
        if self.config.proposals.one_per_head:
            proposed = example.gold_grid[spans[:, 0], spans[:, 1] - spans[:, 0] - 1] > 0
            proposed[best_of_heads(spans, scores, example.document.words)] = True
            spans = spans[proposed]
        entities = [example.gold.get(WordSpan(*span)) for span in spans.tolist()]
        kept = np.array([entity is not None for entity in entities], dtype=bool)
        kept |= random.random(len(entities)) < self.config.train.keep_invalid
        index = np.flatnonzero(kept)
        return Proposals(spans[index], [entities[i] for i in index], index)

    def losses(self, example: Example, vectors: Tensor, policy: MemoryPolicy, random: np.random.Generator) -> Losses:
        """All losses of one document under a memory policy; invalid mentions are sampled with `random`."""
        grid, mention = self.mention_grid(example, vectors)
        nothing = mention.new_zeros(())
        if example.known == "phrases":
            return Losses(mention, nothing, nothing, nothing)
        proposals = known_mentions(example) if example.known == "links" else self.propose(example, grid, random)
        x = self.heads.span_vectors(vectors, example.candidates, torch.from_numpy(proposals.spans))
        model = self.config.model
        facts = example.facts(proposals.spans)
        valid = grid[tuple(torch.from_numpy(proposals.fields()))]
        share = self.config.train.own_decisions
        own = share > 0 and random.random() < share
        taken = self._decisions(x, valid, facts, policy, example.genre) if own else None
        right = oracle_actions(proposals.entities, example.sizes, policy, taken)
        unrolled = unroll(
            taken or right, facts, proposals.index, policy, features=model.features, genre=example.genre, right=right
        )
        scores = self.heads.score(x, valid, unrolled)
        weights = torch.tensor([example.scores.get(WordSpan(*span), 1.0) for span in proposals.spans.tolist()])
        link = link_loss(scores, unrolled, self.config.train, weights)
        option = option_loss(scores, unrolled, model)
        if example.known == "links":
            return Losses(functional.softplus(-valid).sum(), link, nothing, nothing)
        return Losses(mention, link, option, self._labels(example, x, proposals.spans))

    def _decisions(
        self, x: Tensor, valid: Tensor, facts: Sequence[PlacedFacts], policy: MemoryPolicy, genre: int
    ) -> list[Action]:
        """The actions that the model itself takes, as it is now."""
        heads = runtime_heads.Heads(numpy_weights(self.heads.state_dict()), self.config.model, self.encoder.width)
        clusterer = Clusterer(heads, policy, genre=genre)
        return [one.action for one in clusterer.cluster(x.detach().numpy(), valid.detach().numpy(), facts)]

    def _labels(self, example: Example, x: Tensor, spans: Spans) -> Tensor:
        loss = x.new_zeros(())
        known = [example.labels.get(WordSpan(*span), (None, None)) for span in spans.tolist()]
        heads = ((self.heads.kind_head, self.config.model.kinds), (self.heads.type_head, self.config.model.types))
        for column, (head, names) in enumerate(heads):
            if head is not None:
                numbers = [names.index(label[column]) if label[column] in names else -1 for label in known]
                loss = loss + label_loss(head(x), torch.tensor(numbers, dtype=torch.long))
        return loss


def known_mentions(example: Example) -> Proposals:
    """The annotated mentions of a document of which nothing else is known, as far as they are candidates."""
    widths = example.candidates.widths
    known = sorted(span for span in example.gold if span.end - span.start <= widths[span.start])
    spans = np.array(known, dtype=np.int64).reshape(-1, 2)
    return Proposals(spans, [example.gold[span] for span in known], np.arange(len(known)))


def numpy_weights(state: Mapping[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
    """The heads' weights as the numpy runtime reads them."""
    return {name: value.detach().float().numpy() for name, value in state.items()}
