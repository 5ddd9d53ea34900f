"""Linear scores of words that tell where a mention may start, how long it may be, and where it may end.

Few words start a mention, few of those a long one, and few words end one, so that most of the time of proposing would
be spent on others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.runtime.heads import END, END_BIAS, REACHES, START, START_BIAS

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]
_ROUNDED = 1e-3  # what the weights may lose by being stored in fewer bits


def gated(heads: Mapping[str, Floats], first: Floats, last: Floats, mentions: Integers) -> dict[str, Floats]:
    """The weights of the heads with a score of words as starts for each of `REACHES`, and one of words as ends.

    `first` and `last`, (words, width), are the vectors of the first and last pieces of the words of a sample,
    `mentions`, (mentions, 2), its mentions in words. The weights are unchanged if there are none.
    """
    if not len(mentions):
        return dict(heads)
    longest = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(longest, mentions[:, 0], mentions[:, 1] - mentions[:, 0])
    # No mention is as long as the last reaches in a small sample, which then has nothing to teach about them.
    starts = _scores(first, [longest >= reach for reach in REACHES if longest.max() >= reach])
    ends = _scores(last, [np.isin(np.arange(len(last)), mentions[:, 1] - 1)])
    return {**heads, START: starts[:, :-1], START_BIAS: starts[:, -1], END: ends[:, :-1], END_BIAS: ends[:, -1]}


def _scores(vectors: Floats, wanted: list[npt.NDArray[np.bool_]]) -> Floats:
    """For each of some sets of words, the linear score whose square distance from 1 there and 0 elsewhere is smallest.

    It is then moved, so that it is just at least 0 at all words of the set. Its bias is the last weight.
    """
    words = np.column_stack([vectors, np.ones(len(vectors))]).astype(np.float64)
    moments = words.T @ words
    damped = moments + np.eye(len(moments)) * (1e-3 * moments.diagonal().mean())  # else normalised vectors are singular
    scores = np.linalg.solve(damped, np.stack([words[rows].sum(0) for rows in wanted], axis=1)).T
    for score, rows in zip(scores, wanted, strict=True):
        score[-1] -= (words[rows] @ score).min() - _ROUNDED
    return np.asarray(scores, dtype=np.float32)
