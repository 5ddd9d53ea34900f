"""A linear score of words that tells where a mention may start.

Few words start one, so that most of the time of proposing mentions is spent on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.runtime.heads import START, START_BIAS

Floats = npt.NDArray[np.floating[Any]]


def gated(heads: Mapping[str, Floats], vectors: Floats, starts: npt.NDArray[np.bool_]) -> dict[str, Floats]:
    """The weights of the heads with a score of words that is at least 0 at all `starts`, (words,), of a sample.

    `vectors`, (words, width), are those of the first pieces. The score is the linear one whose square distance from 1
    at starts and 0 elsewhere is smallest. The weights are unchanged if there are no starts.
    """
    if not starts.any():
        return dict(heads)
    words = np.column_stack([vectors, np.ones(len(vectors))]).astype(np.float64)
    moments = words.T @ words
    damped = moments + np.eye(len(moments)) * (1e-3 * moments.diagonal().mean())  # else normalised vectors are singular
    solution = np.linalg.solve(damped, words[starts].sum(0))
    solution[-1] -= (words[starts] @ solution).min()
    weight, bias = np.split(solution.astype(np.float32), [-1])
    return {**heads, START: weight[None], START_BIAS: bias}
