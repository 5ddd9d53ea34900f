"""Weights of a linear layer as 8-bit integers that keep the layer's output, given a sample of its inputs.

Three measures keep the error of rounding small. The few inputs that are far larger than all others, in their values or
their weights, are left in float (as in LLM.int8(), Dettmers et al. 2022). The sizes of the others, and of their
weights, are brought closer together (as in SmoothQuant, Xiao et al. 2023). And each column's rounding error is
compensated by the columns not yet rounded, as far as their inputs correlate (GPTQ, Frantar et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LARGEST = 127
"""The largest weight."""


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
    """A quantised matrix: inputs divided by `smooth`, times `weight`, times `scale`."""

    weight: Tensor  # (inputs, outputs) int8
    scale: Tensor  # (outputs,)
    smooth: Tensor  # (inputs,)

    def outputs(self, columns: Tensor) -> IntegerWeights:
        """The part that computes these outputs."""
        return IntegerWeights(self.weight[:, columns], self.scale[columns], self.smooth)

    def inputs(self, rows: Tensor) -> IntegerWeights:
        """The part that multiplies these inputs."""
        return IntegerWeights(self.weight[rows], self.scale, self.smooth[rows])

    def floats(self) -> Tensor:
        """What the inputs are multiplied by, (inputs, outputs)."""
        return self.weight.float() * self.scale / self.smooth[:, None]


def smoothing(weights: Sequence[Tensor], sample: InputSample) -> Tensor:
    """The divisor of each input, (inputs,), before it is multiplied by these matrices, (outputs, inputs), in 8 bits.

    Half of the way to weights of equal size, and a quarter of the way to inputs of equal size: nothing else that was
    tried rounds the weights better, and the inputs, if they are rounded, gain as well.
    """
    largest = torch.cat([weight.detach() for weight in weights]).abs().amax(0).clamp_min(1e-5)
    return (sample.largest.clamp_min(1e-5).sqrt() / largest).sqrt()


def extreme_inputs(weight: Tensor, sample: InputSample, count: int) -> Tensor:
    """The inputs of a matrix, (outputs, inputs), whose values or weights are the farthest above the usual; sorted."""
    sizes = [sample.largest, weight.detach().abs().amax(0)]
    excess = torch.stack([size / size.median().clamp_min(1e-12) for size in sizes]).amax(0)
    return excess.topk(count).indices.sort().values


def integer_weights(weight: Tensor, sample: InputSample, smooth: Tensor) -> IntegerWeights:
    """Rounds a weight matrix, (outputs, inputs), for inputs like those of the sample, divided by `smooth`."""
    weight = weight.detach() * smooth
    products = sample.products / smooth / smooth[:, None] / max(1, sample.count)
    scale = (weight.abs().amax(1) / LARGEST).clamp_min(1e-12)
    return IntegerWeights(_rounded(weight / scale[:, None], products).T.to(torch.int8), scale, smooth)


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
            whole[:, column] = weight[:, column].round().clamp(-LARGEST, LARGEST)
            error = (weight[:, column] - whole[:, column]) / spread[column, column]
            weight[:, column:end] -= error[:, None] * spread[column, column:end]
            errors[:, column - start] = error
        weight[:, end:] -= errors @ spread[start:end, end:]
    return whole
