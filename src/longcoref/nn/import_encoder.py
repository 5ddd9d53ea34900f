"""The weights of an encoder, read back from the ONNX file that `export_encoder` wrote: the inverse of the export.

Matrices that were rounded stay rounded, and the neurons of a layer may come back in another order, so the vectors are
those of the file, but the weights need not be the ones that were exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from longcoref.errors import ModelError
from longcoref.nn.encoder import Encoder

Array = npt.NDArray[Any]


def imported_weights(path: Path, encoder: Encoder) -> dict[str, Tensor]:
    """The weights of the encoder in an ONNX file, by their names in `encoder.model`, an encoder of the same shape.

    An embedding table that differs from that of `encoder` only by rounding is not read: the exact one is better.
    """
    try:
        graph = onnx.load(str(path)).graph
        return _Import(graph, encoder).weights()
    except (OSError, ValueError, KeyError, IndexError, StopIteration) as error:
        raise ModelError(f"{path}: is not an encoder like {encoder.config.model_type} ({error})") from error


class _Import:
    """The nodes that compute vectors in float, in order, and the value of every constant."""

    def __init__(self, graph: Any, encoder: Encoder) -> None:
        self._own = encoder.model.state_dict()
        self._encoder = encoder
        nodes = list(graph.node)
        if nodes[-1].op_type == "If":
            nodes[-1:] = next(item.g for item in nodes[-1].attribute if item.name == "else_branch").node
        self._values = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
        self._nodes = []
        for node in nodes:
            if node.op_type in ("Cast", "DequantizeLinear") and all(name in self._values for name in node.input):
                value, *scale = (self._values[name].astype(np.float32) for name in node.input)
                self._values[node.output[0]] = value * scale[0] if scale else value
            else:
                self._nodes.append(node)

    def weights(self) -> dict[str, Tensor]:
        """All weights by name."""
        found = dict(self._embeddings())
        norms = [place for place, node in enumerate(self._nodes) if node.op_type == "LayerNormalization"]
        blocks = [self._nodes[start + 1 : end + 1] for start, end in pairwise(norms)]
        for number, (attention, neurons) in enumerate(zip(blocks[::2], blocks[1::2], strict=True)):
            layer = f"encoder.layer.{number}"
            query, key, value, output = self._matrices(attention)
            mixed = next(node for node in attention if node.op_type == "MultiHeadAttention")
            for name, matrix, bias in zip(
                ("query", "key", "value"), (query, key, value), np.split(self._values[mixed.input[3]], 3), strict=True
            ):
                found |= self._linear(f"{layer}.attention.self.{name}", matrix, bias)
            found |= self._linear(f"{layer}.attention.output.dense", output, self._added(attention))
            matrices = self._matrices(neurons)
            biases = [self._values[node.input[1]] for node in neurons if node.op_type in ("BiasGelu", "FastGelu")]
            up, down = np.concatenate(matrices[::2], axis=1), np.concatenate(matrices[1::2])
            found |= self._linear(f"{layer}.intermediate.dense", up, np.concatenate(biases))
            found |= self._linear(f"{layer}.output.dense", down, self._added(neurons))
            for name, block in (("attention.output", attention), ("output", neurons)):
                found |= self._norm(f"{layer}.{name}.LayerNorm", block[-1])
        if found.keys() != self._own.keys():
            raise ValueError(f"its weights are not {', '.join(sorted(found.keys() ^ self._own.keys()))}")
        return found

    def _embeddings(self) -> Iterator[tuple[str, Tensor]]:
        first = next(place for place, node in enumerate(self._nodes) if node.op_type == "LayerNormalization")
        nodes = self._nodes[: first + 1]
        tables = [self._values[node.input[0]] for node in nodes if node.op_type == "Gather"]
        words = tables[0].astype(np.float32)
        step = np.zeros(1, dtype=np.float32)
        if len(tables) > 1:
            words, step = words * tables[1], tables[1]
        elif tables[0].dtype == np.float16:
            step = np.abs(words) / 1024
        places = next(self._values[node.input[0]] for node in nodes if node.op_type == "Slice")
        pieces, positions, segments = (
            self._own[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        own = pieces.numpy()
        exact = own.shape == words.shape and bool((np.abs(own - words) <= 0.51 * step + 1e-6).all())
        yield "embeddings.word_embeddings.weight", pieces if exact else torch.from_numpy(words)
        unused = len(positions) - len(places)  # before the first one, in encoders like RoBERTa
        placed = torch.tensor(places) - segments[0]
        yield "embeddings.position_embeddings.weight", torch.cat([positions[:unused], placed])
        yield "embeddings.token_type_embeddings.weight", segments
        yield from self._norm("embeddings.LayerNorm", nodes[-1]).items()
        for name in ("position_ids", "token_type_ids"):
            if (buffer := f"embeddings.{name}") in self._own:
                yield buffer, self._own[buffer]

    def _matrices(self, nodes: Sequence[Any]) -> list[Array]:
        """What the inputs of each product of a block are multiplied by, (inputs, outputs)."""
        divided = {node.output[0]: self._values[node.input[1]] for node in nodes if node.op_type == "Mul"}
        products = [node.input for node in nodes if node.op_type == "MatMul"]
        return [self._values[right] * divided.get(left, np.ones(1))[:, None] for left, right in products]

    def _added(self, nodes: Sequence[Any]) -> Array:
        """The bias that is added last in a block."""
        return next(self._values[node.input[1]] for node in reversed(nodes) if node.op_type == "Add")

    def _norm(self, name: str, node: Any) -> dict[str, Tensor]:
        weight, bias = (torch.tensor(self._values[part], dtype=torch.float32) for part in node.input[1:])
        return {f"{name}.weight": weight, f"{name}.bias": bias}

    def _linear(self, name: str, matrix: Array, bias: Array) -> dict[str, Tensor]:
        weight = torch.tensor(matrix.T, dtype=torch.float32).contiguous()
        return {f"{name}.weight": weight, f"{name}.bias": torch.tensor(bias, dtype=torch.float32)}
