"""The losses: plain sums over mentions (docs/design.md, section 5)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from longcoref.config import ModelConfig, TrainConfig
from longcoref.memory.second_step import second_step
from longcoref.nn.heads import CLOSED, Scores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, INVALID_COLUMN, NONE, Integers, Unrolled


def link_loss(scores: Scores, unrolled: Unrolled, config: TrainConfig, weights: Tensor) -> Tensor:
    """Cross-entropy over [cells, none] of the mentions that meet at least one entity, and the same in the archive.

    `weights` says how much the label of each mention counts: a teacher's as much as it is likely.
    """
    loss = _entity_loss(scores.links, unrolled.target, config, weights)
    recalls = unrolled.recalls
    if scores.recalls is None or recalls is None:
        return loss
    return loss + _entity_loss(scores.recalls, recalls.target, config, weights[recalls.mentions])


def _entity_loss(scores: Tensor, targets: Integers, config: TrainConfig, weights: Tensor) -> Tensor:
    none = scores.shape[1] - 1
    target = torch.from_numpy(targets)
    target = torch.where(target == NONE, none, target)
    open_cells = scores > CLOSED / 2
    likelihood = scores.log_softmax(1)
    loss = -likelihood.gather(1, target[:, None]).squeeze(1)
    if config.label_smoothing:
        # The smoothing mass goes to what was offered: a closed cell would add a constant without gradient.
        others = torch.where(open_cells, -likelihood, 0.0).sum(1) - loss
        share = config.label_smoothing / (open_cells.sum(1) - 1).clamp(min=1)
        loss = (1 - config.label_smoothing) * loss + share * others
    weight = weights * torch.where(target == none, config.none_weight, 1.0)
    return (loss * weight)[open_cells.sum(1) > 1].sum()


def option_loss(scores: Scores, unrolled: Unrolled, model: ModelConfig) -> Tensor:
    """The loss of the second step, as the model's rule for it says."""
    loss: Tensor = second_step(model.options).loss(_OptionTerms(scores, unrolled))
    return loss


class _OptionTerms:
    """The losses of which the rules of `memory.second_step` are made."""

    def __init__(self, scores: Scores, unrolled: Unrolled) -> None:
        self._scores, self._target = scores, torch.from_numpy(unrolled.option_target)
        self._valid, self._full = self._target != INVALID_COLUMN, torch.from_numpy(unrolled.option_full)

    def joint(self) -> Tensor:
        """Cross-entropy over all options at once."""
        return functional.cross_entropy(self._scores.options, self._target, reduction="sum")

    def validity(self) -> Tensor:
        """Binary cross-entropy of whether the mention is valid, by its mention score."""
        scores = self._scores.valid
        return functional.binary_cross_entropy_with_logits(scores, self._valid.to(scores.dtype), reduction="sum")

    def eviction(self) -> Tensor:
        """Cross-entropy over IGNORE and the evictions, for valid mentions that find the memory full."""
        # IGNORE and the evictions are neighbouring columns, so the stage is a slice.
        assert EVICT_COLUMN == IGNORE_COLUMN + 1
        rows = self._full & self._valid
        options, target = self._scores.options[rows][:, IGNORE_COLUMN:], self._target[rows] - IGNORE_COLUMN
        return functional.cross_entropy(options, target, reduction="sum")


def mention_loss(grid: Tensor, gold: Tensor) -> Tensor:
    """Binary cross-entropy of all candidates; `gold` is a grid of zeros and ones, `grid` is CLOSED elsewhere."""
    candidates = grid > CLOSED / 2
    return functional.binary_cross_entropy_with_logits(grid[candidates], gold[candidates], reduction="sum")


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of kinds or types; a label of -1 is unknown and does not count."""
    return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
