"""Vectors of a frozen encoder, kept on disk: each document is encoded once for all epochs and runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from longcoref.files import atomic_path
from longcoref.nn.encoder import Encoder
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window


class VectorCache:
    """Gives what `encoder.encode` gives, from a folder of safetensors files where it can.

    A file is named after what its vectors depend on: pieces, windows, weights and number format. Files appear whole
    or not at all, and one whose content does not match its checksum is written anew.
    """

    def __init__(self, folder: str | Path, encoder: Encoder, *, half: bool = True) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._format = torch.float16 if half else torch.float32
        self._fingerprint = encoder.fingerprint()

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Tensor:
        """Vectors of the pieces that these windows keep, (kept pieces, width), float32, without gradient."""
        path = self._path(ids, windows)
        vectors = _read(path)
        if vectors is None:
            vectors = self._encoder.encode(ids, windows).detach().to(self._format)
            with atomic_path(path) as temporary:
                save_file({"vectors": vectors}, temporary, metadata={"checksum": _checksum(vectors)})
        return vectors.float()

    def _path(self, ids: Integers, windows: Sequence[Window]) -> Path:
        digest = hashlib.blake2b(f"{self._fingerprint} {self._format}".encode(), digest_size=16)
        read = ids[windows[0].start : windows[-1].end] if windows else ids[:0]
        for numbers in (np.asarray(windows, np.int64), read.astype(np.int64)):
            digest.update(f"{numbers.shape}".encode())
            digest.update(numbers.data)
        return self._folder / f"{digest.hexdigest()}.safetensors"


def _checksum(vectors: Tensor) -> str:
    return hashlib.blake2b(vectors.numpy().data, digest_size=16).hexdigest()


def _read(path: Path) -> Tensor | None:
    """The vectors of a cache file, or None where it is missing or damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            vectors: Tensor = file.get_tensor("vectors")
            checksum = (file.metadata() or {}).get("checksum")
    except (OSError, SafetensorError):
        return None
    return vectors if checksum == _checksum(vectors) else None
