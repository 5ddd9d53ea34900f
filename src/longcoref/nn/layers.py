"""The layers of an encoder as they are exported: their matrices, in 8 bits where a sample of their inputs is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from longcoref.nn.encoder import Encoder
from longcoref.nn.quantize import InputSample, IntegerWeights, extreme_inputs, integer_weights, smoothing
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window

INPUT_BYTES: Mapping[str, int] = {
    "query": 1, "key": 2, "value": 2, "output": 1, "up": 2, "down_from_large": 2, "down": 1
}  # fmt: skip
"""How many bytes an input of each matrix of a layer has; the second one holds what rounding to the first leaves.

One is enough where rounding moves the vectors least for the time that it saves; docs/encoder.md has the figures.
"""

_NEURONS_PER_EXTREME = 16
"""One in this many neurons of a feed-forward layer stays in float: those whose values or weights are extreme."""

_NEURONS_PER_LARGE = 3
"""One in this many of the other neurons counts as large: the rest has smaller values, and its own scale."""

Sample = Sequence[tuple[Integers, Sequence[Window]]]
"""Documents: their pieces, and some of their windows."""


@dataclass(frozen=True)
class Linear:
    """A linear layer, or a part of one; `integers` are its weights in 8 bits, and `bytes` what an input has there."""

    weight: Tensor  # (outputs, inputs)
    bias: Tensor  # (outputs,)
    integers: IntegerWeights | None = None
    bytes: int = 0

    def outputs(self, rows: Tensor) -> Linear:
        """The part that computes these outputs."""
        integers = self.integers and self.integers.outputs(rows)
        return replace(self, weight=self.weight[rows], bias=self.bias[rows], integers=integers)

    def inputs(self, columns: Tensor) -> Linear:
        """The part that depends on these inputs; it has no bias."""
        integers = self.integers and self.integers.inputs(columns)
        return replace(self, weight=self.weight[:, columns], bias=torch.zeros_like(self.bias), integers=integers)


@dataclass(frozen=True)
class Layer:
    """A layer of the encoder: attention, then groups of neurons, each with the matrices around it, and two norms."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    neurons: Sequence[tuple[Linear, Linear]]
    bias: Tensor  # of the sum over the neurons
    norms: tuple[Any, Any]


def layers_of(
    encoder: Encoder, samples: Mapping[nn.Module, InputSample] | None, input_bytes: Mapping[str, int]
) -> list[Layer]:
    """The layers of an encoder; given samples of their inputs, in 8 bits."""

    def plain(module: Any) -> Linear:
        return Linear(module.weight.detach(), module.bias.detach())

    def rounded(sample: InputSample, **layers: Linear) -> Iterator[Linear]:
        smooth = smoothing([layer.weight for layer in layers.values()], sample)
        for name, layer in layers.items():
            yield Linear(layer.weight, layer.bias, integer_weights(layer.weight, sample, smooth), input_bytes[name])

    def groups(sample: InputSample, up: Linear, inner: InputSample, down: Linear) -> list[tuple[Linear, Linear]]:
        """The extreme neurons in float, the large ones, and the others."""
        size = len(up.weight)
        extreme = extreme_inputs(down.weight, inner, size // _NEURONS_PER_EXTREME)
        usual = torch.tensor(sorted({*range(size)} - {*extreme.tolist()}))
        (usual_up,) = rounded(sample, up=up.outputs(usual))
        (usual_down,) = rounded(inner.of(usual), down=down.inputs(usual))
        assert usual_down.integers is not None
        order = (inner.largest[usual] / usual_down.integers.smooth).argsort(descending=True)
        large, others = order.tensor_split([len(usual) // _NEURONS_PER_LARGE])
        from_large = replace(usual_down.inputs(large), bytes=input_bytes["down_from_large"])
        found = [
            (up.outputs(extreme), down.inputs(extreme)),
            (usual_up.outputs(large), from_large),
            (usual_up.outputs(others), usual_down.inputs(others)),
        ]
        return [(up, down) for up, down in found if len(up.bias)]

    found = []
    for layer in encoder.model.encoder.layer:
        own, mixing = layer.attention.self, layer.attention.output
        query, key, value, output = map(plain, (own.query, own.key, own.value, mixing.dense))
        up, down = plain(layer.intermediate.dense), plain(layer.output.dense)
        neurons = [(up, replace(down, bias=torch.zeros_like(down.bias)))]
        if samples is not None:
            query, key, value = rounded(samples[own.query], query=query, key=key, value=value)
            (output,) = rounded(samples[mixing.dense], output=output)
            neurons = groups(samples[layer.intermediate.dense], up, samples[layer.output.dense], down)
        norms = (mixing.LayerNorm, layer.output.LayerNorm)
        found.append(Layer(query, key, value, output, neurons, down.bias, norms))
    return found


def input_samples(encoder: Encoder, sample: Sample) -> dict[nn.Module, InputSample]:
    """Statistics of the inputs of every linear layer on the sample."""
    layers = [module for module in encoder.model.modules() if isinstance(module, nn.Linear)]
    gathered: dict[nn.Module, InputSample] = {layer: InputSample(layer.in_features) for layer in layers}
    hooks = [layer.register_forward_pre_hook(lambda layer, inputs: gathered[layer].add(inputs[0])) for layer in layers]
    training = encoder.training
    encoder.eval()
    try:
        with torch.no_grad():
            for ids, windows in sample:
                for window in windows:  # one at a time, because padding would distort the statistics
                    encoder.encode(ids, [window])
    finally:
        encoder.train(training)
        for hook in hooks:
            hook.remove()
    return gathered
