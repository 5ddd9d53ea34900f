"""One decision for all of post-processing: candidates with cues, a weight for every cue, and a softmax.

A candidate is an entity with named cues, whose values are numbers (1.0 for a cue that is just present). Its score is
the weighted sum of its cues. An entity may be several candidates; its share is the sum of theirs. Learned weights are
in `models/speakers.json`, which `longcoref.book.fit` writes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that may be the answer, the cues for it, and the probability that the candidate is this entity."""

    entity: int
    cues: Mapping[str, float]
    chance: float = 1.0


def shares(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> dict[int, float]:
    """The probability of each entity, in the order of its first candidate."""
    scored = [
        (candidate, sum(weights[cue] * value for cue, value in candidate.cues.items())) for candidate in candidates
    ]
    highest = max((score for _, score in scored), default=0.0)
    found: dict[int, float] = {}
    for candidate, score in scored:
        share = math.exp(score - highest) * candidate.chance
        found[candidate.entity] = found.get(candidate.entity, 0.0) + share
    total = sum(found.values())
    return {entity: share / total for entity, share in found.items()} if total else {}


def likeliest(found: Mapping[int, float]) -> int | None:
    """The entity with the largest share, the first of equals; None if there is none."""
    return max(found, key=found.__getitem__, default=None)


@cache
def learned_weights() -> dict[str, dict[str, float]]:
    """The learned weight of each cue, by decision."""
    table = json.loads((files("longcoref") / "models" / "speakers.json").read_text(encoding="utf-8"))
    return {"speaker": table["speaker"], "addressee": table["addressee"]}
