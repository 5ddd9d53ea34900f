"""The whole model in torch: encoder and heads, and the losses of one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from longcoref.config import Config
from longcoref.memory import MemoryPolicy, oracle_actions
from longcoref.nn.encoder import Encoder
from longcoref.nn.heads import Heads
from longcoref.nn.losses import label_loss, link_loss, mention_loss, option_loss
from longcoref.nn.teacher import unroll
from longcoref.runtime.mentions import select
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


class CorefModel(nn.Module):
    """Encoder and heads, trained together."""

    def __init__(self, config: Config, encoder: Encoder) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.heads = Heads(config.model, encoder.width)

    def mention_grid(self, example: Example, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all candidates, and the mention loss against the gold ones."""
        grid = self.heads.mention_scores(vectors, example.candidates)
        return grid, mention_loss(grid, torch.from_numpy(example.gold_grid).to(grid.dtype))

    def losses(self, example: Example, vectors: Tensor, policy: MemoryPolicy, random: np.random.Generator) -> Losses:
        """All losses of one document under a memory policy; invalid mentions are sampled with `random`."""
        grid, mention = self.mention_grid(example, vectors)
        spans = select(grid.detach().numpy(), example.candidates, example.document.sentences, self.config.proposals)
        entities = [example.gold.get(WordSpan(*span)) for span in spans.tolist()]
        kept = np.array([e is not None for e in entities], dtype=bool)
        kept |= random.random(len(entities)) < self.config.train.keep_invalid
        index = np.flatnonzero(kept)  # distances go on counting the proposals that were left out
        spans, entities = spans[index], [entities[i] for i in index]
        x = self.heads.span_vectors(vectors, example.candidates, torch.from_numpy(spans))
        link, option = self._clustering(example, x, grid, spans, entities, index, policy)
        return Losses(mention, link, option, self._labels(example, x, spans))

    def _clustering(
        self,
        example: Example,
        x: Tensor,
        grid: Tensor,
        spans: Spans,
        entities: Sequence[int | None],
        index: npt.NDArray[np.int64],
        policy: MemoryPolicy,
    ) -> tuple[Tensor, Tensor]:
        actions = oracle_actions(entities, example.sizes, policy)
        model = self.config.model
        unrolled = unroll(actions, example.facts(spans), index, policy, features=model.features, genre=example.genre)
        s_m = grid[torch.from_numpy(spans[:, 0]), torch.from_numpy(spans[:, 1] - spans[:, 0] - 1)]
        scores = self.heads.score(x, s_m, unrolled)
        return link_loss(scores, unrolled, self.config.train), option_loss(scores, unrolled, model)

    def _labels(self, example: Example, x: Tensor, spans: Spans) -> Tensor:
        loss = x.new_zeros(())
        known = [example.labels.get(WordSpan(*span), (None, None)) for span in spans.tolist()]
        heads = ((self.heads.kind_head, self.config.model.kinds), (self.heads.type_head, self.config.model.types))
        for column, (head, names) in enumerate(heads):
            if head is not None:
                numbers = [names.index(label[column]) if label[column] in names else -1 for label in known]
                loss = loss + label_loss(head(x), torch.tensor(numbers))
        return loss


def numpy_weights(state: Mapping[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
    """The heads' weights as the numpy runtime reads them."""
    return {name: value.detach().float().numpy() for name, value in state.items()}
