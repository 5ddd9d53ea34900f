"""Products with weights that were packed once.

A product with few rows takes less time than numpy's library needs to put the weights into the order in which it
multiplies them, which it does in every call; onnxruntime does it once, when they are first used.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from longcoref.runtime.onnx_file import product_model

Floats = npt.NDArray[np.floating[Any]]


class PackedWeights:
    """The weights of some layers over the same inputs, (outputs, inputs) each."""

    def __init__(self, *weights: Floats) -> None:
        self._weights = weights

    def times(self, x: Floats) -> Floats:
        """The outputs of the layers side by side, (rows, outputs); x has the same type of numbers."""
        return np.asarray(self._session.run(None, {"x": x})[0])

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        """A model that multiplies by the weights; onnxruntime copies and packs them."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised, not logged
        options.enable_mem_pattern = False  # it would keep an allocation plan for every number of rows
        options.enable_cpu_mem_arena = False  # it would hold more memory than the weights need
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # there is one operator
        weights = np.ascontiguousarray(np.concatenate(self._weights))
        options.add_external_initializers(["w"], [onnxruntime.OrtValue.ortvalue_from_numpy(weights)])
        return onnxruntime.InferenceSession(product_model(weights), options, providers=["CPUExecutionProvider"])
