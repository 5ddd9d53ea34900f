"""The losses: plain sums over mentions (design, section 10)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from longcoref.config import ModelConfig, TrainConfig
from longcoref.nn.heads import CLOSED, Scores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, INVALID_COLUMN, NONE, Integers, Unrolled


def link_loss(scores: Scores, unrolled: Unrolled, config: TrainConfig) -> Tensor:
    """Cross-entropy over [cells, none] of the mentions that meet at least one entity, and the same in the archive."""
    loss = _entity_loss(scores.links, unrolled.target, config)
    if scores.recalls is None or unrolled.recalls is None:
        return loss
    return loss + _entity_loss(scores.recalls, unrolled.recalls.target, config)


def _entity_loss(scores: Tensor, targets: Integers, config: TrainConfig) -> Tensor:
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
    weight = torch.where(target == none, config.none_weight, 1.0)
    return (loss * weight)[open_cells.sum(1) > 1].sum()


def option_loss(scores: Scores, unrolled: Unrolled, model: ModelConfig) -> Tensor:
    """Cross-entropy of the second step: over all options (flat), or valid first, then who if any goes (staged)."""
    target = torch.from_numpy(unrolled.option_target)
    if model.options == "flat":
        return functional.cross_entropy(scores.options, target, reduction="sum")
    is_valid = target != INVALID_COLUMN
    loss = functional.binary_cross_entropy_with_logits(scores.valid, is_valid.to(scores.valid.dtype), reduction="sum")
    who = torch.from_numpy(unrolled.option_full) & is_valid
    if not bool(who.any()):
        return loss
    # IGNORE and the evictions stand side by side, so the stage is a slice.
    assert EVICT_COLUMN == IGNORE_COLUMN + 1
    rows = scores.options[who][:, IGNORE_COLUMN:]
    return loss + functional.cross_entropy(rows, target[who] - IGNORE_COLUMN, reduction="sum")


def mention_loss(grid: Tensor, gold: Tensor) -> Tensor:
    """Binary cross-entropy of all candidates; `gold` is a grid of zeros and ones, `grid` CLOSED where nothing is."""
    candidates = grid > CLOSED / 2
    return functional.binary_cross_entropy_with_logits(grid[candidates], gold[candidates], reduction="sum")


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of kinds or types; a label of -1 is unknown and does not count."""
    return functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
