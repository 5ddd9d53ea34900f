"""Weights of a linear layer as 8-bit integers that keep the layer's output, given a sample of its inputs.

Four measures keep the accuracy that plain rounding loses. Input channels with large values are scaled down and their
weights up (SmoothQuant, Xiao et al. 2023). The few inputs that are far larger than all others, in their values or their
weights, can be found and left in float (as in LLM.int8(), Dettmers et al. 2022). Each column's rounding error is
compensated by the columns not yet rounded, as far as their inputs correlate (GPTQ, Frantar et al. 2023). And no two
neighbouring weights can overflow the 16-bit sums with which processors without dot-product instructions multiply bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LARGEST = 127
LARGEST_PAIR = 128  # 255 * 128 is the most that fits in 16 bits


class InputSample:
    """Statistics of the inputs of a layer, accumulated over any number of calls."""

    def __init__(self, width: int) -> None:
        self.largest = torch.zeros(width)
        self.products = torch.zeros(width, width)  # sum over inputs x of x xᵀ
        self.count = 0

    def add(self, inputs: Tensor) -> None:
        """Takes inputs, (..., width), into account."""
        rows = inputs.detach().reshape(-1, inputs.shape[-1])
        self.largest = torch.maximum(self.largest, rows.abs().amax(0))
        self.products += rows.T @ rows
        self.count += len(rows)

    def of(self, channels: Tensor) -> InputSample:
        """The statistics of some of the inputs."""
        part = InputSample(0)
        part.largest, part.products = self.largest[channels], self.products[channels][:, channels]
        part.count = self.count
        return part


@dataclass(frozen=True)
class IntegerWeights:
    """A quantised matrix: `weight * scale` approximates what a layer multiplies its smoothed inputs by."""

    weight: Tensor  # (inputs, outputs) int8
    scale: Tensor  # (outputs,)


def smoothing(weights: Sequence[Tensor], sample: InputSample) -> Tensor:
    """The divisor of each input, (inputs,), before it is multiplied by these matrices, (outputs, inputs), in 8 bits."""
    largest = torch.cat([weight.detach() for weight in weights]).abs().amax(0)
    return (sample.largest.clamp_min(1e-5) / largest.clamp_min(1e-5)).sqrt()


def extreme_inputs(weight: Tensor, sample: InputSample, count: int) -> Tensor:
    """The inputs of a matrix, (outputs, inputs), whose values or weights are the farthest above the usual; sorted."""
    sizes = [sample.largest, weight.detach().abs().amax(0)]
    excess = torch.stack([size / size.median().clamp_min(1e-12) for size in sizes]).amax(0)
    return excess.topk(count).indices.sort().values


def integer_weights(weight: Tensor, sample: InputSample, smooth: Tensor) -> IntegerWeights:
    """Rounds a weight matrix, (outputs, inputs), for inputs like those of the sample, divided by `smooth`."""
    weight = weight.detach() * smooth
    products = sample.products / smooth / smooth[:, None] / max(1, sample.count)
    pairs = torch.nn.functional.pad(weight, (0, weight.shape[1] % 2)).reshape(len(weight), -1, 2).sum(2)
    scale = torch.maximum(weight.abs().amax(1) / LARGEST, pairs.abs().amax(1) / LARGEST_PAIR).clamp_min(1e-12)
    return IntegerWeights(_rounded(weight / scale[:, None], products).T.to(torch.int8), scale)


def _rounded(weight: Tensor, products: Tensor, *, block: int = 128) -> Tensor:
    """The weights as integers; later columns compensate for the rounding errors of earlier ones."""
    weight = weight.clone()
    whole = torch.zeros_like(weight)
    damped = products + torch.eye(len(products)) * (0.01 * products.diagonal().mean() + 1e-9)
    spread = torch.linalg.cholesky(torch.linalg.inv(damped), upper=True)
    for start in range(0, weight.shape[1], block):
        end = min(start + block, weight.shape[1])
        errors = torch.zeros(len(weight), end - start)
        for column in range(start, end):
            before = whole[:, column - 1] if column % 2 else torch.zeros(len(weight))
            highest = (LARGEST_PAIR - before.clamp_min(0)).clamp_max(LARGEST)
            lowest = (-LARGEST_PAIR - before.clamp_max(0)).clamp_min(-LARGEST)
            whole[:, column] = weight[:, column].round().clamp(lowest, highest)
            error = (weight[:, column] - whole[:, column]) / spread[column, column]
            weight[:, column:end] -= error[:, None] * spread[column, column:end]
            errors[:, column - start] = error
        weight[:, end:] -= errors @ spread[start:end, end:]
    return whole
