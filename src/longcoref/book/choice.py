"""One decision for all of post-processing: candidates with cues, a weight for every cue, and a softmax.

A candidate is an entity with named cues, whose values are numbers (1.0 for a cue that is just present). Its score is
the weighted sum of its cues. An entity may be several candidates; its share is the sum of theirs. Learned weights are
in `models/speakers.json`, which `longcoref.book.fit` writes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Candidate(NamedTuple):
    """An entity that may be the answer, the cues for it, and the probability that the candidate is this entity."""

    entity: int
    cues: Mapping[str, float]
    chance: float = 1.0


def shares(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> dict[int, float]:
    """The probability of each entity, in the order of its first candidate."""
    scored = list(_scored(candidates, weights))
    return normalized(_masses(scored, max((score for _, score in scored), default=0.0)))


def masses(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> dict[int, float]:
    """How likely each entity is, not yet divided by the sum of all, in the order of its first candidate."""
    return _masses(_scored(candidates, weights), 0.0)


def _scored(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> Iterator[tuple[Candidate, float]]:
    for candidate in candidates:
        score = 0.0
        for cue, value in candidate.cues.items():
            score += weights[cue] * value
        yield candidate, score


def _masses(scored: Iterable[tuple[Candidate, float]], highest: float) -> dict[int, float]:
    found: dict[int, float] = {}
    for candidate, score in scored:
        mass = math.exp(score - highest) * candidate.chance
        found[candidate.entity] = found.get(candidate.entity, 0.0) + mass
    return found


def normalized(found: Mapping[Key, float]) -> dict[Key, float]:
    """The same numbers divided by their sum; none if that is 0."""
    total = sum(found.values())
    return {key: mass / total for key, mass in found.items()} if total else {}


def likeliest(found: Mapping[int, float]) -> int | None:
    """The entity with the largest share, the first of equals; None if there is none."""
    return max(found, key=found.__getitem__, default=None)


@cache
def learned_weights() -> dict[str, dict[str, float]]:
    """The learned weight of each cue, by decision."""
    table = json.loads((files("longcoref") / "models" / "speakers.json").read_text(encoding="utf-8"))
    return {"speaker": table["speaker"], "addressee": table["addressee"]}
