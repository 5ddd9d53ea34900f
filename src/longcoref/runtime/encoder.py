"""The encoder in onnxruntime: pieces to vectors without torch.

Every window is a run of its own on one thread, so its vectors depend on nothing but its pieces: not on other
windows, not on how many threads there are. Threads work on different windows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from longcoref.errors import ModelError
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window

Vectors = npt.NDArray[np.float32]


class OnnxEncoder:
    """An `encoder.onnx` file, opened once. `width` numbers per piece, at most `max_pieces` pieces per window."""

    def __init__(self, path: str | Path, *, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A plan of memory for every window length that was ever seen: memory must not grow with the text.
        options.enable_mem_pattern = False
        # The graph is written with the fastest operators; further fusions make it slower.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            properties: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
            self._opening = np.array(properties["opening"].split(), np.int64)
            self._closing = np.array(properties["closing"].split(), np.int64)
            self.max_pieces = int(properties["max_pieces"])
            self.weights = properties["weights"]
            self.width = int(self._session.get_outputs()[0].shape[-1])
        except Exception as error:  # onnxruntime's errors share no narrower class
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ModelError(f"{path}: is not an encoder.onnx that longcoref wrote ({reason})") from error
        self.threads = threads or _processors()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Vectors:
        """Vectors of the pieces that these consecutive windows keep, (kept pieces, width), in text order.

        `ids` are the pieces that the windows count; the first row is piece `windows[0].keep_start`.
        """
        if not windows:
            return np.zeros((0, self.width), np.float32)
        apply: Any = map if self._pool is None else self._pool.map
        return np.concatenate(list(apply(lambda window: self._encode(ids, window), windows)))

    def _encode(self, ids: Integers, window: Window) -> Vectors:
        framed = np.concatenate((self._opening, ids[window.start : window.end], self._closing))
        shift = len(self._opening) - window.start
        keep_start, keep_end = np.array([[window.keep_start], [window.keep_end]], np.int64) + shift
        inputs = {"ids": framed[None], "keep_start": keep_start, "keep_end": keep_end}
        vectors: Vectors = self._session.run(None, inputs)[0][0]
        return vectors


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
