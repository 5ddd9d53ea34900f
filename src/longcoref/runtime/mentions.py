"""From the scores of candidate spans to the mentions that are clustered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.config import ProposalConfig
from longcoref.features.candidates import Candidates
from longcoref.spans import WordSpan

Integers = npt.NDArray[np.int64]


def select(
    scores: npt.NDArray[np.floating[Any]], candidates: Candidates, sentences: Iterable[WordSpan], config: ProposalConfig
) -> Integers:
    """The proposed spans in text order: by start, then by end; shape (mentions, 2), in words.

    With the rule `threshold`, each sentence is decided by itself, so a text can be streamed; with `top`, the best of
    the whole document are taken, as in the paper.
    """
    mask = candidates.mask
    if config.rule == "top":
        return _spans(_best(scores, mask, _allowed(candidates, slice(0, len(mask)), config.ratio)))
    chosen = mask & (scores > config.threshold)
    for start, end in sentences:
        rows = slice(start, end)
        allowed = _allowed(candidates, rows, config.ratio)
        if np.count_nonzero(chosen[rows]) > allowed:
            chosen[rows] = _best(scores[rows], chosen[rows], allowed)
    return _spans(chosen)


def _allowed(candidates: Candidates, rows: slice, ratio: float) -> int:
    """The largest number of proposals in these rows: rounded down for pieces, as in the paper, and up for words."""
    first, last = candidates.first[rows], candidates.last[rows]
    if candidates.unit == "pieces":
        return int(ratio * (last[-1] - first[0] + 1)) if len(first) else 0
    return int(np.ceil(ratio * len(first)))


def _best(scores: npt.NDArray[np.floating[Any]], mask: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """The `count` highest scores under the mask; ties go to the first in text order."""
    fields = np.flatnonzero(mask)
    ranked = fields[np.argsort(-scores.ravel()[fields], kind="stable")[:count]]
    chosen = np.zeros(mask.size, dtype=bool)
    chosen[ranked] = True
    return chosen.reshape(mask.shape)


def _spans(chosen: npt.NDArray[np.bool_]) -> Integers:
    start, column = np.nonzero(chosen)
    return np.stack([start, start + column + 1], axis=1)
