"""Products with weights that were packed once.

A product with few rows takes less time than numpy's library needs to put the weights into the order in which it
multiplies them, which it does in every call; onnxruntime does it when a model is opened.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from longcoref.runtime.onnx_file import product_model

Floats = npt.NDArray[np.floating[Any]]


class PackedWeights:
    """A matrix, (inputs, outputs), to multiply by."""

    def __init__(self, weights: Floats) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised, not logged
        options.enable_mem_pattern = False  # it would keep an allocation plan for every number of rows
        options.enable_cpu_mem_arena = False  # it would hold more memory than the weights need
        weights = np.ascontiguousarray(weights)
        self._weights = onnxruntime.OrtValue.ortvalue_from_numpy(weights)  # kept, because it is not copied
        options.add_external_initializers(["w"], [self._weights])
        self._session = onnxruntime.InferenceSession(
            product_model(weights), options, providers=["CPUExecutionProvider"]
        )

    def times(self, x: Floats) -> Floats:
        """The product x @ weights; x has the same type of numbers."""
        return np.asarray(self._session.run(None, {"x": x})[0])
