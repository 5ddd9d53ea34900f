"""How sure a decision is, as a probability."""

from __future__ import annotations

import numpy as np

from longcoref.memory import ActionKind
from longcoref.runtime.clusterer import Decision


def confidence(decision: Decision, temperature: float = 1.0) -> float:
    """The probability that the mention is where the decision put it.

    The choice among [cells, none] is a softmax of the scores over the temperature, which is fitted on dev. A mention
    that opened an entity must also be one: where it could have been rejected, its own probability is a factor.
    """
    scores = np.append(decision.links, 0.0) / temperature
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    if decision.action.kind is ActionKind.LINK:
        return float(shares[decision.action.cell])
    unmatched = float(shares[-1])
    if decision.offered is not None and decision.offered.invalid:
        valid = 1 / (1 + np.exp(-np.clip(decision.mention_score / temperature, -50, 50)))
        return unmatched * float(1 - valid if decision.action.kind is ActionKind.INVALID else valid)
    return unmatched
