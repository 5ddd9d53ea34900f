"""Are the probabilities calibrated? Of the decisions with probability 0.8, four in five should be right.

A link is right if most mentions in the cell have the gold entity of this mention; a new entity is right if the mention
is gold and no cell in memory has mostly mentions of its entity. Only mentions that end up in a cluster are judged,
because only they are shown with a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from longcoref.memory import ActionKind
from longcoref.memory.decision import Decision
from longcoref.mention import MentionRecord
from longcoref.runtime.confidence import Calibration, confidences, log_odds
from longcoref.spans import WordSpan

BINS = 10
TEMPERATURES = np.geomspace(0.25, 8.0, 61)

Judged = tuple[Decision, bool]


@dataclass(frozen=True, slots=True)
class Reliability:
    """For each bin of scores: how many decisions, their mean score, and the share that is right."""

    counts: Sequence[int]
    scores: Sequence[float]
    right: Sequence[float]

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance between score and accuracy, over all decisions."""
        total = sum(self.counts)
        gaps = (n * abs(s - r) for n, s, r in zip(self.counts, self.scores, self.right, strict=True))
        return sum(gaps) / total if total else 0.0

    def as_json(self) -> dict[str, Any]:
        """The rows of the table, and the error."""
        rows = zip(self.counts, self.scores, self.right, strict=True)
        return {"error": self.error, "bins": [{"count": n, "score": s, "right": r} for n, s, r in rows]}


def judge(mentions: Iterable[MentionRecord], gold: Mapping[WordSpan, int]) -> list[Judged]:
    """The decisions that put a mention into a cluster, and whether each was right."""
    members: dict[int, Counter[int | None]] = {}  # gold entities of the mentions of each entity in memory
    judged = []
    for mention in mentions:
        decision = mention.decided
        if decision.evicted is not None:
            del members[decision.evicted]
        if decision.entity is None:
            continue
        entity = gold.get(mention.words)
        if decision.action.kind is ActionKind.LINK:
            right = entity is not None and _majority(members[decision.entity]) == entity
        else:
            right = entity is not None and all(_majority(other) != entity for other in members.values())
        judged.append((decision, right))
        members.setdefault(decision.entity, Counter())[entity] += 1
    return judged


def _majority(members: Counter[int | None]) -> int | None:
    return members.most_common(1)[0][0]


def fit_calibration(judged: Sequence[Judged]) -> Calibration:
    """The temperature under which the judged decisions are most likely, then a line for links and one for the rest."""
    if not judged:
        return Calibration()
    truth = np.array([right for _, right in judged], dtype=float)

    def surprise(temperature: float) -> float:
        scores = confidences([decision for decision, _ in judged], Calibration(temperature))
        inside = np.clip(scores, 1e-6, 1 - 1e-6)
        return float(-(truth * np.log(inside) + (1 - truth) * np.log(1 - inside)).mean())

    start = Calibration(float(min(TEMPERATURES, key=surprise)))

    def line(linked: bool) -> tuple[float, float]:
        chosen = [(d, right) for d, right in judged if (d.action.kind is ActionKind.LINK) == linked]
        scores = confidences([decision for decision, _ in chosen], start)
        return _line([log_odds(score) for score in scores], [right for _, right in chosen])

    return replace(start, link=line(True), new=line(False))


def _line(odds: Sequence[float], truth: Sequence[bool]) -> tuple[float, float]:
    """Slope and offset of a logistic regression with one input, by Newton's method with a small ridge penalty."""
    inputs = np.stack([np.asarray(odds, dtype=float), np.ones(len(odds))], axis=1)
    target = np.asarray(truth, dtype=float)
    weights, prior = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(25):
        guess = 1 / (1 + np.exp(-np.clip(inputs @ weights, -50, 50)))
        gradient = inputs.T @ (guess - target) + (weights - prior)
        curvature = inputs.T @ (inputs * (guess * (1 - guess))[:, None]) + np.eye(2)
        weights = weights - np.linalg.solve(curvature, gradient)
    return float(weights[0]), float(weights[1])


def reliability(judged: Iterable[Judged], calibration: Calibration) -> Reliability:
    """The reliability table of judged decisions."""
    pairs = list(judged)
    scores = np.array(confidences([decision for decision, _ in pairs], calibration), dtype=float)
    truth = np.array([right for _, right in pairs], dtype=float)
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    filled = np.maximum(counts, 1)
    return Reliability(
        counts.tolist(),
        (np.bincount(bins, scores, BINS) / filled).tolist(),
        (np.bincount(bins, truth, BINS) / filled).tolist(),
    )
