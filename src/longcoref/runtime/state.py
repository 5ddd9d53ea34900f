"""The state of a reading in one file, so that a book can be continued tomorrow.

A safetensors file: the memory's arrays, and everything else as JSON in a tensor of bytes. It carries the fingerprint of
the model and the memory it was made with, and is refused by any other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from longcoref.errors import ModelError
from longcoref.files import atomic_path
from longcoref.memory import MemoryPolicy
from longcoref.runtime.reading import Model
from longcoref.runtime.stream import TextStream

SCHEMA = "longcoref-state/1"


def save_state(path: str | Path, stream: TextStream, model: Model, policy: MemoryPolicy, extra: Any) -> None:
    """Writes what a stream has read and still holds open; `extra` is JSON that `load_state` gives back."""
    facts, arrays = stream.state()
    table = {"schema": SCHEMA, **_identity(model, policy), "stream": facts, "extra": extra}
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with atomic_path(path) as temporary:
        save_file(whole | {"facts": np.frombuffer(json.dumps(table).encode(), dtype=np.uint8)}, temporary)


def load_state(path: str | Path, model: Model, policy: MemoryPolicy) -> tuple[TextStream, Any]:
    """The stream that was saved, ready to go on, and the extra that was saved with it."""
    try:
        arrays = load_file(path)
        table = json.loads(arrays.pop("facts").tobytes())
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: is not a saved state of longcoref ({error})") from error
    if not isinstance(table, dict) or table.get("schema") != SCHEMA:
        raise ModelError(f"{path}: expected a state of schema {SCHEMA!r}")
    for key, expected in _identity(model, policy).items():
        if table.get(key) != expected:
            raise ModelError(f"{path}: was saved with another {key}: {table.get(key)!r}, here it is {expected!r}")
    stream = TextStream(model, policy)
    try:
        stream.restore(table["stream"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: is damaged ({error!r})") from error
    return stream, table["extra"]


def _identity(model: Model, policy: MemoryPolicy) -> dict[str, Any]:
    return {
        "model": model.fingerprint,
        "memory": [policy.name, policy.capacity, *(["recall"] if policy.recalls else [])],
    }
