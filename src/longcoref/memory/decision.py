"""The decision about one mention, with its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longcoref.memory.actions import Action
from longcoref.memory.policies import Options

Floats = npt.NDArray[np.float32]
Rivals = tuple[tuple[int, float], ...]
"""Entities that a mention was compared with, and their link scores, best first."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The action taken for a mention, with the scores it was chosen by.

    `links` has the link score of every occupied cell; the score of linking to none is 0. For a mention that was not
    linked, `offered` has the options of the second step and `options` their scores, in the order of
    `offered.actions()`. Entities are numbered in the order in which they were created. `recalled` has the archived
    entities that were compared and their scores. `rivals` is recorded for "he" and "she" only: the entities in memory
    whose link scores came close to the best.
    """

    action: Action
    entity: int | None
    evicted: int | None
    mention_score: float
    links: Floats
    offered: Options | None
    options: Floats
    recalled: Sequence[tuple[int, float]] = ()
    rivals: Rivals = ()
