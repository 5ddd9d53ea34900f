"""ONNX files without the onnx package: what must be known before onnxruntime opens one, and one of a single product.

onnxruntime follows references to other files, and the hashes of model.toml do not cover what they lead to. And it
computes the constants of both branches of an `If` before it drops one of them, which takes time and memory; so the
runtime takes the branch itself.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from longcoref.runtime.foreign import as_model_error

# Where tensors occur in the messages of onnx.proto: field numbers, and the message that each holds.
_INSIDE: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # fields of a tensor
_GRAPH = 7  # a field of the model
_NODE = 1  # a field of a graph
_OPERATOR, _ATTRIBUTE = 4, 5  # fields of a node
_NAME, _SUBGRAPH = 1, 6  # fields of an attribute
_ELEMENTS = {"float32": 1, "float64": 11}  # as tensors name them
_VERSION, _OPERATORS = 8, 17  # of the format and of the operators that `product_model` is written in
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # wire types of protocol buffers


class _Field(NamedTuple):
    """A field of a message, at `start` up to `end`: a number, or the place and size of bytes."""

    number: int
    value: int
    size: int | None
    start: int
    end: int


_field: Callable[[tuple[int, int, int | None, int, int]], _Field] = partial(tuple.__new__, _Field)
"""The same as `_Field(...)` in half the time: files have thousands."""


def has_external_data(path: Path) -> bool:
    """Whether any tensor of the file refers to another file."""
    with _opened(path) as content:
        waiting = [("model", 0, len(content))]
        while waiting:
            message, start, end = waiting.pop()
            for field in _fields(content, start, end):
                if message == "tensor" and (
                    field.number == _EXTERNAL_DATA or (field.number == _DATA_LOCATION and field.value)
                ):
                    return True
                if field.size is not None and field.number in _INSIDE[message]:
                    waiting.append((_INSIDE[message][field.number], field.value, field.end))
    return False


def with_branch(path: Path, condition: bool) -> bytes | None:
    """The model with one branch of its `If` nodes in their place, or None if it has none.

    The values that a branch computes must have the names of the values of its `If`.
    """
    branch = b"then_branch" if condition else b"else_branch"
    with _opened(path) as content:
        model = list(_fields(content, 0, len(content)))
        graph = next((field for field in model if field.number == _GRAPH), None)
        if graph is None:
            return None
        parts: list[_Field] = []
        found = False
        for field in _fields(content, graph.value, graph.end):
            taken = _branch(content, field, branch) if field.number == _NODE else None
            if taken is None:
                parts.append(field)
            else:
                found = True
                parts += [part for part in _fields(content, taken.value, taken.end) if part.number == _NODE]
        if not found:
            return None
        others = [field for field in model if field is not graph]
        start = _written(_GRAPH << 3 | _BYTES) + _written(sum(part.end - part.start for part in parts))
        with memoryview(content) as view:  # its slices are no copies
            return b"".join([*_slices(view, others), start, *_slices(view, parts)])


def _slices(view: memoryview, fields: Sequence[_Field]) -> list[memoryview]:
    return [view[field.start : field.end] for field in fields]


def product_model(weights: npt.NDArray[np.floating[Any]]) -> bytes:
    """A model that multiplies "x", (rows, inputs), by such weights, (outputs, inputs), which are given to it as "w"."""
    element = _ELEMENTS[weights.dtype.name]

    def value(name: bytes, columns: int) -> bytes:
        shape = _message((1, b""), (1, _message((1, columns))))  # of any number of rows
        return _message((1, name), (2, _message((1, _message((1, element), (2, shape))))))

    outputs, inputs = weights.shape
    elsewhere = _message((1, b"location"), (2, b"memory"))
    matrix = _message(
        (1, outputs), (1, inputs), (2, element), (8, b"w"), (_EXTERNAL_DATA, elsewhere), (_DATA_LOCATION, 1)
    )
    transposed = _message((_NAME, b"transB"), (3, 1), (20, 2))  # a number, whose type is 2
    node = _message((1, b"x"), (1, b"w"), (2, b"y"), (_OPERATOR, b"Gemm"), (_ATTRIBUTE, transposed))
    graph = _message((_NODE, node), (2, b"product"), (5, matrix), (11, value(b"x", inputs)), (12, value(b"y", outputs)))
    return _message((1, _VERSION), (_GRAPH, graph), (8, _message((2, _OPERATORS))))


def _branch(content: mmap.mmap, node: _Field, name: bytes) -> _Field | None:
    """The branch of this name, if the node is an `If`."""
    fields = list(_fields(content, node.value, node.end))
    if not any(field.number == _OPERATOR and content[field.value : field.end] == b"If" for field in fields):
        return None
    for attribute in fields:
        if attribute.number == _ATTRIBUTE:
            parts = {field.number: field for field in _fields(content, attribute.value, attribute.end)}
            if content[parts[_NAME].value : parts[_NAME].end] == name:
                return parts[_SUBGRAPH]
    raise ValueError(f"an If without {name.decode()}")


@contextmanager
def _opened(path: Path) -> Iterator[mmap.mmap]:
    with (
        as_model_error(f"{path}: is not an ONNX file"),
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        yield content


def _fields(content: mmap.mmap, start: int, end: int) -> Iterator[_Field]:
    """The fields of a message."""
    while start < end:
        key, place = _varint(content, start)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, stop = _varint(content, place)
            yield _field((number, value, None, start, stop))
        elif wire == _BYTES:
            size, value = _varint(content, place)
            stop = value + size
            if stop > end:
                raise ValueError("a field reaches beyond its message")
            yield _field((number, value, size, start, stop))
        elif wire in (_EIGHT_BYTES, _FOUR_BYTES):
            stop = place + (8 if wire == _EIGHT_BYTES else 4)
            yield _field((number, 0, None, start, stop))
        else:
            raise ValueError(f"wire type {wire}")
        start = stop


def _varint(content: mmap.mmap, start: int) -> tuple[int, int]:
    value = content[start]
    if value < 0x80:  # most have one byte
        return value, start + 1
    value = shift = 0
    while True:
        byte = content[start]
        value |= (byte & 0x7F) << shift
        start, shift = start + 1, shift + 7
        if byte < 0x80:
            return value, start
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _written(value: int) -> bytes:
    """A number as messages encode it."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _message(*fields: tuple[int, int | bytes]) -> bytes:
    """A message with these fields: their numbers, and their values, which are numbers, strings or messages."""
    written: list[bytes] = []
    for number, value in fields:
        if isinstance(value, int):
            written += _written(number << 3 | _VARINT), _written(value)
        else:
            written += _written(number << 3 | _BYTES), _written(len(value)), value
    return b"".join(written)
