"""The probabilities that decisions are right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longcoref.errors import ModelError, quoted
from longcoref.memory import ActionKind
from longcoref.memory.decision import Decision


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns scores into probabilities, fitted on dev.

    Scores are divided by the temperature and go through a softmax; the log-odds of the resulting probability are then
    mapped by a line (slope and offset), one for links and one for mentions that open an entity.
    """

    temperature: float = 1.0
    link: tuple[float, float] = (1.0, 0.0)
    new: tuple[float, float] = (1.0, 0.0)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Calibration:
        """The calibration that a table of model.toml describes; `ModelError` if it does not describe one."""
        if not isinstance(facts, Mapping):
            raise ModelError(f"calibration: expected a table, got {quoted(facts)}")
        usual = cls()
        temperature = facts.get("temperature", usual.temperature)
        if not _is_finite(temperature) or temperature <= 0:
            raise ModelError(f"calibration.temperature: expected a finite number above 0, got {quoted(temperature)}")
        lines: dict[str, tuple[float, float]] = {}
        for name in ("link", "new"):
            line = facts.get(name, getattr(usual, name))
            if not (isinstance(line, (list, tuple)) and len(line) == 2 and all(map(_is_finite, line))):
                raise ModelError(f"calibration.{name}: expected a slope and an offset, got {quoted(line)}")
            lines[name] = (float(line[0]), float(line[1]))
        return cls(float(temperature), **lines)


def confidences(decisions: Sequence[Decision], calibration: Calibration) -> list[float]:
    """The probability that each decision about a mention is right.

    The choice among [none, cells, archived entities] is a softmax of the scores. If the mention opened an entity and
    could have been rejected, the probability that it is a mention at all is a factor.
    """
    widest = max((len(decision.links) + len(decision.recalled) for decision in decisions), default=0)
    shares = np.full((len(decisions), 1 + widest), -np.inf)
    shares[:, 0] = 0
    chosen = []
    for row, decision in zip(shares, decisions, strict=True):
        known, cell = 1 + len(decision.links), decision.action.cell
        row[1:known] = decision.links
        if decision.recalled:
            row[known : known + len(decision.recalled)] = [score for _, score in decision.recalled]
        if decision.action.kind is ActionKind.RECALL:
            chosen.append(known + int(row[known:].argmax()))
        else:
            chosen.append(1 + cell if cell is not None and decision.action.kind is ActionKind.LINK else 0)
    shares /= calibration.temperature
    shares -= shares.max(1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(1, keepdims=True)
    found = shares[np.arange(len(decisions)), chosen].tolist() if decisions else []
    return [_calibrated(*pair, calibration) for pair in zip(decisions, found, strict=True)]


def _calibrated(decision: Decision, share: float, calibration: Calibration) -> float:
    if decision.action.kind in (ActionKind.LINK, ActionKind.RECALL):
        return _along(calibration.link, share)
    if decision.offered is not None and decision.offered.invalid:
        valid = 1 / (1 + math.exp(-min(max(decision.mention_score / calibration.temperature, -50), 50)))
        share *= 1 - valid if decision.action.kind is ActionKind.INVALID else valid
    return _along(calibration.new, share)


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _along(line: tuple[float, float], probability: float) -> float:
    if line == (1.0, 0.0):
        return probability
    return 1 / (1 + math.exp(-min(max(line[0] * log_odds(probability) + line[1], -50), 50)))


def log_odds(probability: float) -> float:
    """The logarithm of the odds, kept finite."""
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))
