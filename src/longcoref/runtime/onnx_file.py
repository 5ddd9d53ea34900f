"""Does an ONNX file keep its tensors in other files? Read without the onnx package.

onnxruntime follows such references, and the hashes of model.toml do not cover what they lead to.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path

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
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # wire types of protocol buffers


def has_external_data(path: Path) -> bool:
    """Whether any tensor of the file refers to another file."""
    with (
        as_model_error(f"{path}: is not an ONNX file"),
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        waiting = [("model", 0, len(content))]
        while waiting:
            message, start, end = waiting.pop()
            for field, value, size in _fields(content, start, end):
                if message == "tensor" and (field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value)):
                    return True
                if size is not None and field in _INSIDE[message]:
                    waiting.append((_INSIDE[message][field], value, value + size))
    return False


def _fields(content: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int | None]]:
    """The fields of a message: number, then the value of a number, or the place and size of bytes."""
    while start < end:
        key, start = _varint(content, start)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, start = _varint(content, start)
            yield field, value, None
        elif wire == _BYTES:
            size, start = _varint(content, start)
            if start + size > end:
                raise ValueError("a field reaches beyond its message")
            yield field, start, size
            start += size
        elif wire in (_EIGHT_BYTES, _FOUR_BYTES):
            start += 8 if wire == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"wire type {wire}")


def _varint(content: mmap.mmap, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[start]
        value |= (byte & 0x7F) << shift
        start, shift = start + 1, shift + 7
        if byte < 0x80:
            return value, start
        if shift > 63:
            raise ValueError("a number has more than 64 bits")
