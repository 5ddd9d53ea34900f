"""How sure a decision is, as a probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from longcoref.memory import ActionKind
from longcoref.memory.decision import Decision


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes scores into probabilities, fitted on dev.

    Scores are divided by the temperature; the log-odds of the probability that follows are then moved along a line
    (slope and offset), one for links and one for mentions that open an entity.
    """

    temperature: float = 1.0
    link: tuple[float, float] = (1.0, 0.0)
    new: tuple[float, float] = (1.0, 0.0)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Calibration:
        """The calibration that a table of model.toml describes."""
        lines = {name: (float(facts[name][0]), float(facts[name][1])) for name in ("link", "new") if name in facts}
        return cls(float(facts.get("temperature", 1.0)), **lines)


def confidence(decision: Decision, calibration: Calibration) -> float:
    """The probability that the mention is where the decision put it.

    The choice among [cells, none] is a softmax of the scores. A mention that opened an entity must also be one: where
    it could have been rejected, its own probability is a factor.
    """
    known, compared = len(decision.links), len(decision.recalled)
    shares = np.zeros(known + compared + 1)
    shares[:known] = decision.links
    if compared:
        shares[known:-1] = [score for _, score in decision.recalled]
    shares /= calibration.temperature
    shares -= shares.max()
    np.exp(shares, out=shares)
    shares /= shares.sum()
    if decision.action.kind is ActionKind.LINK:
        return _along(calibration.link, float(shares[decision.action.cell]))
    if decision.action.kind is ActionKind.RECALL:
        return _along(calibration.link, float(shares[known:-1].max()))
    unmatched = float(shares[-1])
    if decision.offered is not None and decision.offered.invalid:
        valid = 1 / (1 + math.exp(-min(max(decision.mention_score / calibration.temperature, -50), 50)))
        unmatched *= 1 - valid if decision.action.kind is ActionKind.INVALID else valid
    return _along(calibration.new, unmatched)


def _along(line: tuple[float, float], probability: float) -> float:
    if line == (1.0, 0.0):
        return probability
    return 1 / (1 + math.exp(-min(max(line[0] * log_odds(probability) + line[1], -50), 50)))


def log_odds(probability: float) -> float:
    """The logarithm of the odds, kept finite."""
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))
