"""Linear scores of words that tell where a mention may start, and how long it may be.

Few words start a mention, and few of those a long one, so that most of the time of proposing would be spent on others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.runtime.heads import REACHES, START, START_BIAS

Floats = npt.NDArray[np.floating[Any]]
_ROUNDED = 1e-3  # what the weights may lose by being stored in fewer bits


def gated(heads: Mapping[str, Floats], vectors: Floats, longest: npt.NDArray[np.int64]) -> dict[str, Floats]:
    """The weights of the heads with a score of words for each of `REACHES`.

    `vectors`, (words, width), are those of the first pieces in a sample, `longest`, (words,), has the length of the
    longest mention that starts at each word, 0 if there is none. A score is at least 0 wherever a mention of that many
    words starts; it is the linear one whose square distance from 1 there and 0 elsewhere is smallest. The weights are
    unchanged if there are no mentions.
    """
    if not longest.any():
        return dict(heads)
    words = np.column_stack([vectors, np.ones(len(vectors))]).astype(np.float64)
    moments = words.T @ words
    damped = moments + np.eye(len(moments)) * (1e-3 * moments.diagonal().mean())  # else normalised vectors are singular
    scores = []
    for reach in REACHES:
        starts = words[longest >= reach]
        if not len(starts):
            break  # a longer one is nothing to learn from either
        score = np.linalg.solve(damped, starts.sum(0))
        score[-1] -= (starts @ score).min() - _ROUNDED
        scores.append(score)
    weights, biases = np.split(np.array(scores, dtype=np.float32), [-1], axis=1)
    return {**heads, START: weights, START_BIAS: biases[:, 0]}
