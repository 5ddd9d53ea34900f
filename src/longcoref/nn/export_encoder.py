"""The encoder as an ONNX file that the runtime reads without torch.

The graph is written node by node, with onnxruntime's fused operators, for encoders built like BERT. A window is one
run, so its vectors do not depend on other windows; 8-bit activations are scaled row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from longcoref.errors import ModelError, UsageError, unknown_name
from longcoref.files import atomic_path
from longcoref.nn.encoder import Encoder
from longcoref.nn.quantize import LARGEST, InputSample, extreme_inputs, integer_weights, smoothing
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window

WEIGHTS = ("float32", "float16", "compact", "int8")
"""How weights are stored: compact is float16 with an 8-bit embedding table, int8 has 8-bit matrices as well.

Activations between layers are float32 in all of them.
"""

_FAMILIES = ("bert", "camembert", "roberta", "xlm-roberta")
_FUSED = "com.microsoft"
_ACTIVATIONS = {"gelu": "BiasGelu", "gelu_new": "FastGelu", "gelu_fast": "FastGelu", "gelu_pytorch_tanh": "FastGelu"}
_MIDDLE = 64
"""The byte that represents 0."""

_NEURONS_PER_EXTREME = 16
"""One in this many neurons of a feed-forward layer stays in float: those whose values or weights are extreme."""

_FINER = 126
"""The second byte of an input has steps that are finer by this factor: 63 of them are half a step of the first."""

Sample = Sequence[tuple[Integers, Sequence[Window]]]


def export_encoder(encoder: Encoder, path: str | Path, *, weights: str = "float32", sample: Sample = ()) -> None:
    """Writes the encoder to an ONNX file.

    Its inputs are `ids`, (1, pieces with marks), and `keep_start` and `keep_end`, (1,), the part of them whose
    `vectors`, (1, kept, width), are returned.

    `sample` are documents (pieces and some of their windows) of the kind that will be read; int8 is
    calibrated on them, and about ten windows are enough.
    """
    if weights not in WEIGHTS:
        raise UsageError(unknown_name("weight format", weights, WEIGHTS))
    for option, choices in (("model_type", _FAMILIES), ("hidden_act", _ACTIVATIONS)):
        value = getattr(encoder.config, option, None)
        if value not in choices:
            raise ModelError(f"cannot export an encoder whose {option} is {value!r}: only {', '.join(choices)}")
    if weights == "int8" and not any(windows for _, windows in sample):
        raise UsageError("int8 weights need a sample of documents to be fitted to; give some windows of training text")
    model = _build(encoder, weights, _input_samples(encoder, sample) if weights == "int8" else {})
    with atomic_path(path) as temporary:
        onnx.save(model, str(temporary))


@dataclass(frozen=True)
class _Linear:
    """A linear layer, or a part of one; `sample` has the statistics of its inputs, if it will be in 8 bits."""

    weight: Tensor  # (outputs, inputs)
    bias: Tensor  # (outputs,)
    sample: InputSample | None

    def outputs(self, rows: Tensor) -> _Linear:
        """The part that computes these outputs."""
        return _Linear(self.weight[rows], self.bias[rows], self.sample)

    def inputs(self, columns: Tensor) -> _Linear:
        """The part that depends on these inputs."""
        return _Linear(self.weight[:, columns], self.bias, self.sample and self.sample.of(columns))


@dataclass
class _Graph:
    """An ONNX graph under construction; values are known by name."""

    weights: str
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """Appends a node; returns the name of its output, or a list of names if there are several."""
        names = [f"{operator}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: Tensor | np.ndarray[Any, Any], kind: type = np.float32) -> str:
        """Appends a constant."""
        name = f"constant_{len(self.constants)}"
        array = value.detach().numpy() if isinstance(value, Tensor) else value
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array.astype(kind)), name))
        return name

    def axis(self, number: int) -> str:
        """Appends a constant list of one axis."""
        return self.constant(np.array([number]), np.int64)

    def matrix(self, value: Tensor) -> str:
        """Appends a float matrix; stored as float16, it is widened once, when the model is opened."""
        if self.weights == "float32":
            return self.constant(value)
        widened: str = self.add("Cast", self.constant(value, np.float16), to=TensorProto.FLOAT)
        return widened

    def rows(self, table: Tensor, indices: str) -> str:
        """Looks up rows of a table and widens only those. An 8-bit table has a scale for each row."""
        if self.weights in ("compact", "int8"):
            scale = table.detach().abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            parts = (self.constant((table / scale).round(), np.int8), self.constant(scale))
            integers, scales = (self.add("Gather", part, indices) for part in parts)
            read: str = self.add("Mul", self.add("Cast", integers, to=TensorProto.FLOAT), scales)
        elif self.weights == "float16":
            read = self.add("Cast", self.add("Gather", self.constant(table, np.float16), indices), to=TensorProto.FLOAT)
        else:
            read = self.add("Gather", self.constant(table), indices)
        return read

    def normalise(self, value: str, norm: Any, epsilon: float) -> str:
        """Layer normalisation."""
        parts = [self.constant(part) for part in (norm.weight, norm.bias)]
        name: str = self.add("LayerNormalization", value, *parts, epsilon=epsilon)
        return name


def _build(encoder: Encoder, weights: str, samples: dict[nn.Module, InputSample]) -> Any:
    """The whole model."""
    graph = _Graph(weights)
    fused = partial(graph.add, domain=_FUSED)
    epsilon = float(encoder.config.layer_norm_eps)
    heads = int(encoder.config.num_attention_heads)
    activation = _ACTIVATIONS[encoder.config.hidden_act]

    def linear(inputs: str, *layers: _Linear) -> list[tuple[str, Tensor]]:
        """For each layer, inputs times its weights, and the bias that is still to be added."""
        if weights == "int8":
            return _integer_products(graph, inputs, layers)
        return [(floats(inputs, layer), layer.bias) for layer in layers]

    def floats(inputs: str, layer: _Linear) -> str:
        product: str = graph.add("MatMul", inputs, graph.matrix(layer.weight.T))
        return product

    def feed_forward(inputs: str, up: _Linear, down: _Linear) -> tuple[str, Tensor]:
        """The two layers around the activation: their product, and the bias that is still to be added."""
        neurons = torch.arange(len(up.weight))
        extreme = neurons[:0]
        if down.sample is not None:
            extreme = extreme_inputs(down.weight, down.sample, len(neurons) // _NEURONS_PER_EXTREME)
            neurons = neurons[~torch.isin(neurons, extreme)]
        ((inner, bias),) = linear(inputs, up.outputs(neurons))
        inner = fused(activation, inner, graph.constant(bias))
        ((product, bias),) = linear(inner, down.inputs(neurons))
        if len(extreme):
            inner = fused(activation, floats(inputs, up.outputs(extreme)), graph.constant(up.bias[extreme]))
            product = graph.add("Add", product, floats(inner, down.inputs(extreme)))
        return product, bias

    def add_and_normalise(product: tuple[str, Tensor], skip: str, norm: Any) -> str:
        value, bias = product
        # onnxruntime has one operator for all of this, but on a CPU it takes several times as long.
        summed = graph.add("Add", graph.add("Add", value, skip), graph.constant(bias))
        return graph.normalise(summed, norm, epsilon)

    def part(layer: Any) -> _Linear:
        return _Linear(layer.weight.detach(), layer.bias.detach(), samples.get(layer))

    hidden = _embed(graph, encoder, epsilon)
    layers = encoder.model.encoder.layer
    for layer in layers:
        attention = layer.attention
        query, key, value = map(part, (attention.self.query, attention.self.key, attention.self.value))
        if layer is not layers[-1]:
            kept = hidden
            mixed = linear(hidden, query, key, value)
        else:  # the last layer: only the kept pieces need a query and what follows from it
            kept = graph.add("Slice", hidden, "keep_start", "keep_end", graph.axis(1))
            mixed = linear(kept, query) + linear(hidden, key, value)
        biases = graph.constant(torch.cat([bias for _, bias in mixed]))
        context = fused("MultiHeadAttention", *(part for part, _ in mixed), biases, num_heads=heads)
        (product,) = linear(context, part(attention.output.dense))
        middle = add_and_normalise(product, kept, attention.output.LayerNorm)
        product = feed_forward(middle, part(layer.intermediate.dense), part(layer.output.dense))
        hidden = add_and_normalise(product, middle, layer.output.LayerNorm)
    graph.nodes.append(helper.make_node("Identity", [hidden], ["vectors"]))
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "pieces"])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in ("keep_start", "keep_end")]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, "kept", encoder.width])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, outputs, graph.constants),
        producer_name="longcoref",
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(_FUSED, 1)],
        ir_version=9,
    )
    marks = {"opening": encoder.tokenizer.opening, "closing": encoder.tokenizer.closing}
    properties = {name: " ".join(map(str, ids)) for name, ids in marks.items()}
    helper.set_model_props(model, properties | {"weights": weights, "max_pieces": str(encoder.max_pieces)})
    return model


def _embed(graph: _Graph, encoder: Encoder, epsilon: float) -> str:
    """The normalised sum of piece, position and segment embeddings; there is one segment."""
    tables = encoder.model.embeddings
    first = encoder.config.pad_token_id + 1 if "roberta" in encoder.config.model_type else 0
    places = tables.position_embeddings.weight[first:] + tables.token_type_embeddings.weight[0]
    length = graph.add("Shape", "ids", start=1, end=2)
    placed = graph.add("Slice", graph.constant(places), graph.axis(0), length, graph.axis(0))
    summed = graph.add("Add", graph.rows(tables.word_embeddings.weight, "ids"), placed)
    return graph.normalise(summed, tables.LayerNorm, epsilon)


def _integer_products(graph: _Graph, inputs: str, layers: Sequence[_Linear]) -> list[tuple[str, Tensor]]:
    """Inputs times 8-bit weights. Each row of inputs has its own scale, so that rows do not affect each other.

    An input is two bytes of 7 bits: the second one is what rounding to the first leaves.
    """
    sample, smooth = layers[0].sample, smoothing([layer.weight for layer in layers])
    assert sample is not None
    inputs = graph.add("Mul", inputs, graph.constant(1 / smooth))
    size = graph.add("ReduceMax", graph.add("Abs", inputs), graph.axis(-1))  # (1, rows, 1)
    step = graph.add("Mul", size, graph.constant(np.array(1 / (LARGEST - _MIDDLE))))
    steps = graph.add("Reshape", step, graph.axis(-1))  # (rows,)
    zeros = graph.add("Expand", graph.constant(np.array(_MIDDLE), np.uint8), graph.add("Shape", steps))
    first = graph.add("QuantizeLinear", inputs, steps, zeros, axis=1)
    rest = graph.add("Sub", inputs, graph.add("DequantizeLinear", first, steps, zeros, axis=1))
    finer = graph.add("Mul", steps, graph.constant(np.array(1 / _FINER)))
    second = graph.add("QuantizeLinear", rest, finer, zeros, axis=1)
    zero, shares = graph.constant(np.array(_MIDDLE), np.uint8), [graph.constant(np.array(x)) for x in (1, 1 / _FINER)]
    products = []
    for layer in layers:
        integers = integer_weights(layer.weight, sample, smooth)
        matrix, scale = graph.constant(integers.weight, np.int8), graph.constant(integers.scale)
        coarse, fine = (
            graph.add("MatMulIntegerToFloat", byte, matrix, share, scale, zero, domain=_FUSED)
            for byte, share in zip((first, second), shares, strict=True)
        )
        products.append((graph.add("Mul", graph.add("Add", coarse, fine), step), layer.bias))
    return products


def _input_samples(encoder: Encoder, sample: Sample) -> dict[nn.Module, InputSample]:
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
