"""The encoder as an ONNX file that the runtime reads without torch.

The graph is written node by node, with onnxruntime's fused operators, for encoders built like BERT. A window is one
run, so its vectors do not depend on other windows; 8-bit activations are scaled row by row.

An int8 file has the layers twice, as the branches of an `If`, over the same weights: one branch multiplies bytes, the
other one floats. The runtime takes the branch that is faster on its processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from longcoref.errors import ModelError, UsageError, unknown_name
from longcoref.files import atomic_path
from longcoref.nn.encoder import Encoder
from longcoref.nn.layers import INPUT_BYTES, Layer, Linear, Sample, input_samples, layers_of

WEIGHTS = ("float32", "float16", "compact", "int8")
"""How weights are stored: compact is float16 with an 8-bit embedding table, int8 has 8-bit matrices as well.

Activations between layers are float32 in all of them.
"""

_FAMILIES = ("bert", "camembert", "roberta", "xlm-roberta")
_FUSED = "com.microsoft"
_ACTIVATIONS = {"gelu": "BiasGelu", "gelu_new": "FastGelu", "gelu_fast": "FastGelu", "gelu_pytorch_tanh": "FastGelu"}
_LOWEST = {"BiasGelu": -0.171, "FastGelu": -0.171}
"""A bound below all values of an activation."""

_FINER = 254
"""The second byte of an input has steps that are finer by this factor: 127 of them are half a step of the first."""


def export_encoder(
    encoder: Encoder,
    path: str | Path,
    *,
    weights: str = "float32",
    sample: Sample = (),
    input_bytes: Mapping[str, int] = INPUT_BYTES,
) -> None:
    """Writes the encoder to an ONNX file.

    Its inputs are `ids`, (1, pieces with marks), and `keep_start` and `keep_end`, (1,), the part of them whose
    `vectors`, (1, kept, width), are returned.

    `sample` are documents (pieces and some of their windows) of the kind that will be read; int8 is
    calibrated on them, and about ten windows are enough. `input_bytes` may be others than the usual ones, to measure
    what they do.
    """
    if weights not in WEIGHTS:
        raise UsageError(unknown_name("weight format", weights, WEIGHTS))
    for option, choices in (("model_type", _FAMILIES), ("hidden_act", _ACTIVATIONS)):
        value = getattr(encoder.config, option, None)
        if value not in choices:
            raise ModelError(f"cannot export an encoder whose {option} is {value!r}: only {', '.join(choices)}")
    if weights == "int8" and not any(windows for _, windows in sample):
        raise UsageError("int8 weights need a sample of documents to be fitted to; give some windows of training text")
    layers = layers_of(encoder, input_samples(encoder, sample) if weights == "int8" else None, input_bytes)
    model = _build(encoder, weights, layers)
    with atomic_path(path) as temporary:
        onnx.save(model, str(temporary))


@dataclass
class _Graph:
    """An ONNX graph under construction; values are known by name."""

    weights: str
    nodes: list[Any] = field(default_factory=list)
    names: dict[tuple[Any, ...], str] = field(default_factory=dict)
    constants: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def branch(self) -> _Graph:
        """A graph with other nodes and the same constants."""
        return _Graph(self.weights, constants=self.constants, numbers=self.numbers)

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Appends a node, unless there is the same; returns the name of its output."""
        key = (operator, inputs, *attributes.items())
        if key not in self.names:
            self.names[key] = f"{operator}_{next(self.numbers)}"
            self.nodes.append(helper.make_node(operator, inputs, [self.names[key]], domain=domain, **attributes))
        return self.names[key]

    def constant(self, value: Tensor | np.ndarray[Any, Any], kind: type = np.float32) -> str:
        """Appends a constant, unless it is there."""
        array = np.ascontiguousarray((value.detach().numpy() if isinstance(value, Tensor) else value).astype(kind))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(array, f"constant_{len(self.constants)}")
        name: str = self.constants[key].name
        return name

    def number(self, value: float, kind: type = np.float32) -> str:
        """Appends a constant that is one number."""
        return self.constant(np.array(value), kind)

    def axis(self, number: int) -> str:
        """Appends a constant list of one axis."""
        return self.constant(np.array([number]), np.int64)

    def matrix(self, layer: Linear) -> str:
        """Appends the weights of a layer as a float matrix; if not stored so, it is computed when the model opens."""
        if layer.integers is not None:
            parts = self.constant(layer.integers.weight, np.int8), self.constant(layer.integers.scale)
            return self.add("DequantizeLinear", *parts, axis=1)
        if self.weights == "float32":
            return self.constant(layer.weight.T)
        return self.add("Cast", self.constant(layer.weight.T, np.float16), to=TensorProto.FLOAT)

    def rows(self, table: Tensor, indices: str) -> str:
        """Looks up rows of a table and widens only those. An 8-bit table has a scale for each row."""
        if self.weights in ("compact", "int8"):
            scale = table.detach().abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            parts = (self.constant((table / scale).round(), np.int8), self.constant(scale))
            integers, scales = (self.add("Gather", part, indices) for part in parts)
            read = self.add("Mul", self.add("Cast", integers, to=TensorProto.FLOAT), scales)
        elif self.weights == "float16":
            read = self.add("Cast", self.add("Gather", self.constant(table, np.float16), indices), to=TensorProto.FLOAT)
        else:
            read = self.add("Gather", self.constant(table), indices)
        return read

    def normalise(self, value: str, norm: Any, epsilon: float) -> str:
        """Layer normalisation."""
        parts = [self.constant(part) for part in (norm.weight, norm.bias)]
        return self.add("LayerNormalization", value, *parts, epsilon=epsilon)


Products = Callable[..., list[tuple[str, Tensor]]]
"""Of a graph, inputs and some layers: for each, inputs times weights, and the bias that is still to be added.

`lowest` is a bound below all inputs, if there is one.
"""


def _build(encoder: Encoder, weights: str, layers: Sequence[Layer]) -> Any:
    """The whole model."""
    graph = _Graph(weights)
    hidden = _embed(graph, encoder)
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, "kept", encoder.width])
    if weights == "int8":
        branches = {}
        for name, products in (("then_branch", _integer_products), ("else_branch", _float_products)):
            branch = graph.branch()
            _encode(branch, encoder.config, layers, hidden, products)
            branches[name] = helper.make_graph(branch.nodes, name, [], [vectors])
        graph.nodes.append(helper.make_node("If", [graph.number(True, np.bool_)], ["vectors"], **branches))
    else:
        _encode(graph, encoder.config, layers, hidden, _float_products)
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "pieces"])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in ("keep_start", "keep_end")]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, [vectors], list(graph.constants.values())),
        producer_name="longcoref",
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(_FUSED, 1)],
        ir_version=9,
    )
    marks = {"opening": encoder.tokenizer.opening, "closing": encoder.tokenizer.closing}
    properties = {name: " ".join(map(str, ids)) for name, ids in marks.items()}
    helper.set_model_props(model, properties | {"weights": weights, "max_pieces": str(encoder.max_pieces)})
    return model


def _encode(graph: _Graph, config: Any, layers: Sequence[Layer], hidden: str, products: Products) -> None:
    """All layers, from the embeddings to `vectors`."""
    activation = _ACTIVATIONS[config.hidden_act]

    def activated(product: tuple[str, Tensor]) -> str:
        return graph.add(activation, product[0], graph.constant(product[1]), domain=_FUSED)

    def add_and_normalise(product: tuple[str, Tensor], skip: str, norm: Any) -> str:
        value, bias = product
        # onnxruntime has one operator for all of this, but on a CPU it takes several times as long.
        summed = graph.add("Add", graph.add("Add", value, skip), graph.constant(bias))
        return graph.normalise(summed, norm, float(config.layer_norm_eps))

    for layer in layers:
        if layer is not layers[-1]:
            kept = hidden
            mixed = products(graph, hidden, layer.query, layer.key, layer.value)
        else:  # the last layer: only the kept pieces need a query and what follows from it
            kept = graph.add("Slice", hidden, "keep_start", "keep_end", graph.axis(1))
            mixed = products(graph, kept, layer.query) + products(graph, hidden, layer.key, layer.value)
        biases = graph.constant(torch.cat([bias for _, bias in mixed]))
        values = (value for value, _ in mixed)
        context = graph.add(
            "MultiHeadAttention", *values, biases, domain=_FUSED, num_heads=int(config.num_attention_heads)
        )
        (product,) = products(graph, context, layer.output)
        middle = add_and_normalise(product, kept, layer.norms[0])
        parts: list[str] = []
        bias = layer.bias
        for up, down in layer.neurons:
            (product,) = products(graph, middle, up)
            ((part, rest),) = products(graph, activated(product), down, lowest=_LOWEST[activation])
            parts.append(part)
            bias = bias + rest
        product = reduce(partial(graph.add, "Add"), parts), bias
        hidden = add_and_normalise(product, middle, layer.norms[1])
    graph.nodes.append(helper.make_node("Identity", [hidden], ["vectors"]))


def _embed(graph: _Graph, encoder: Encoder) -> str:
    """The normalised sum of piece, position and segment embeddings; there is one segment."""
    tables = encoder.model.embeddings
    first = encoder.config.pad_token_id + 1 if "roberta" in encoder.config.model_type else 0
    places = tables.position_embeddings.weight[first:] + tables.token_type_embeddings.weight[0]
    length = graph.add("Shape", "ids", start=1, end=2)
    placed = graph.add("Slice", graph.constant(places), graph.axis(0), length, graph.axis(0))
    summed = graph.add("Add", graph.rows(tables.word_embeddings.weight, "ids"), placed)
    return graph.normalise(summed, tables.LayerNorm, float(encoder.config.layer_norm_eps))


def _float_products(
    graph: _Graph, inputs: str, *layers: Linear, lowest: float | None = None
) -> list[tuple[str, Tensor]]:
    """Inputs times weights in float."""
    if layers[0].integers is not None:
        inputs = graph.add("Mul", inputs, graph.constant(1 / layers[0].integers.smooth))
    return [(graph.add("MatMul", inputs, graph.matrix(layer)), layer.bias) for layer in layers]


def _integer_products(
    graph: _Graph, inputs: str, *layers: Linear, lowest: float | None = None
) -> list[tuple[str, Tensor]]:
    """Inputs times weights in 8 bits. Each row of inputs has its own scale, so that rows do not affect each other."""
    weights = [layer.integers for layer in layers if layer.integers is not None]
    if not weights:
        return _float_products(graph, inputs, *layers)
    smooth = weights[0].smooth
    inputs = graph.add("Mul", inputs, graph.constant(1 / smooth))
    shift = torch.zeros_like(smooth)
    if lowest is None:
        size, middle = graph.add("Abs", inputs), 128
    else:  # all of the byte's range is above the bound; what the shift adds to the product is a part of the bias
        shift, middle = -lowest / smooth, 0
        size = inputs = graph.add("Add", inputs, graph.constant(shift))
    largest = graph.add("ReduceMax", size, graph.axis(-1))  # (1, rows, 1)
    step = graph.add("Mul", largest, graph.number(1 / (255 - middle)))
    steps = graph.add("Reshape", step, graph.axis(-1))  # (rows,)

    def zeros(middle: int) -> str:
        return graph.add("Expand", graph.number(middle, np.uint8), graph.add("Shape", steps))

    first = graph.add("QuantizeLinear", inputs, steps, zeros(middle), axis=1)
    rounded = [(first, 1.0, middle)]
    if any(layer.bytes > 1 for layer in layers):
        rest = graph.add("Sub", inputs, graph.add("DequantizeLinear", first, steps, zeros(middle), axis=1))
        finer = graph.add("Mul", steps, graph.number(1 / _FINER))
        rounded.append((graph.add("QuantizeLinear", rest, finer, zeros(128), axis=1), 1 / _FINER, 128))
    products = []
    for layer, integers in zip(layers, weights, strict=True):
        matrix, scale = graph.constant(integers.weight, np.int8), graph.constant(integers.scale)
        parts = [
            graph.add(
                "MatMulIntegerToFloat",
                *(byte, matrix, graph.number(share), scale, graph.number(zero, np.uint8)),
                domain=_FUSED,
            )
            for byte, share, zero in rounded[: layer.bytes]
        ]
        whole = parts[0] if len(parts) == 1 else graph.add("Add", *parts)
        bias = layer.bias - shift @ (integers.weight * integers.scale)
        products.append((graph.add("Mul", whole, step), bias))
    return products
