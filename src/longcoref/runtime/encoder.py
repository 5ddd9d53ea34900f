"""The encoder in onnxruntime: pieces to vectors without torch.

Every window is a separate run on one thread, so its vectors depend on its pieces only, not on the other windows or the
number of threads. Threads work on different windows.

A file may have its layers as the branches of an `If`: the first multiplies bytes, the second floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime

from longcoref.errors import ModelError
from longcoref.runtime.foreign import as_model_error
from longcoref.runtime.onnx_file import has_external_data, with_branch
from longcoref.runtime.pieces import Integers
from longcoref.runtime.processor import multiplies_bytes, processors
from longcoref.runtime.windows import Window

Vectors = npt.NDArray[np.float32]


class WindowEncoder(Protocol):
    """The interface of an encoder."""

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Vectors:
        """Vectors of the pieces that the windows keep, (pieces, width), in text order."""


class OnnxEncoder:
    """An open `encoder.onnx` file: `width` numbers per piece, at most `max_pieces` pieces per window.

    `in_bytes` is how a file that can do both multiplies; by default, as is best on this processor.
    """

    def __init__(self, path: str | Path, *, threads: int | None = None, in_bytes: bool | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised, not logged
        # Off, because it keeps an allocation plan for every window length it meets, and memory must not grow.
        options.enable_mem_pattern = False
        # Off, because planning it takes as long as the rest of opening the model, and the arena reuses memory anyway.
        options.enable_mem_reuse = False
        # The exported graph already uses the fastest operators; further fusions make it slower.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        # On, because weights in 8 bits that are multiplied in float must become floats once, when the model is opened.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        self.path = path
        if has_external_data(Path(path)):
            raise ModelError(f"{path}: keeps weights in other files, which no hash covers; export the model again")
        model = with_branch(Path(path), multiplies_bytes() if in_bytes is None else in_bytes)
        with as_model_error(f"{path}: is not an encoder.onnx that longcoref wrote"):
            self._session = onnxruntime.InferenceSession(
                model or str(path), options, providers=["CPUExecutionProvider"]
            )
            self._session._model_bytes = None  # onnxruntime would keep them, although they are not needed any more
            properties: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
            self._opening = np.array(properties["opening"].split(), np.int64)
            self._closing = np.array(properties["closing"].split(), np.int64)
            self.max_pieces = int(properties["max_pieces"])
            self.weights = properties["weights"]
            self.width = int(self._session.get_outputs()[0].shape[-1])
        self.threads = threads or processors()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def check_vocabulary(self, largest: int) -> None:
        """Raises `ModelError` if the encoder has no vector for the largest piece id of the tokenizer."""
        with as_model_error(f"{self.path}: cannot encode piece {largest}, which tokenizer.json has"):
            self._run(np.array([largest], np.int32), Window(0, 1, 0, 1))

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Vectors:
        """Vectors of the pieces that these consecutive windows keep, (kept pieces, width), in text order.

        `ids` are the pieces that the windows count; the first row is piece `windows[0].keep_start`.
        """
        if not windows:
            return np.zeros((0, self.width), np.float32)
        apply: Any = map if self._pool is None else self._pool.map
        return np.concatenate(list(apply(lambda window: self._encode(ids, window), windows)))

    def _encode(self, ids: Integers, window: Window) -> Vectors:
        with as_model_error(f"{self.path}: cannot encode a window of {window.end - window.start} pieces"):
            return self._run(ids, window)

    def _run(self, ids: Integers, window: Window) -> Vectors:
        framed = np.concatenate((self._opening, ids[window.start : window.end], self._closing))
        shift = len(self._opening) - window.start
        keep_start, keep_end = np.array([[window.keep_start], [window.keep_end]], np.int64) + shift
        inputs = {"ids": framed[None], "keep_start": keep_start, "keep_end": keep_end}
        vectors: Vectors = self._session.run(None, inputs)[0][0]
        if not np.isfinite(vectors).all():
            raise ModelError(f"{self.path}: a vector is not finite, so the weights are damaged; get the model again")
        return vectors
