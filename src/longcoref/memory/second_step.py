"""The second step: what to do with a mention that was linked to no tracked entity.

A policy says which options are legal and the model scores them; a rule of this module turns the scores into a
decision. The same object is used by the clustering loop (`choose`), by the training loss (`loss`) and by the check
that the runtime agrees with torch (`choose` and `lead`). A new rule is a class with these methods and a line in
`SECOND_STEPS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from longcoref.errors import ConfigError, unknown_name
from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.policies import Options

Floats = npt.NDArray[np.floating[Any]]
UNOPPOSED = float("inf")
"""The lead of an option that is the only one."""


class LossTerms(Protocol):
    """The losses that a rule may add up, each a tensor: a sum over all mentions of a document that have a choice."""

    def joint(self) -> Any:
        """Cross-entropy over all options at once."""

    def validity(self) -> Any:
        """Binary cross-entropy of whether the mention is valid, by its mention score."""

    def eviction(self) -> Any:
        """Cross-entropy over IGNORE and the evictions, for valid mentions that find the memory full."""


class SecondStep(Protocol):
    """A rule. `scores` are those of the options in the order of `options.actions()`; `mention_score` is s_m."""

    def choose(self, options: Options, scores: Floats, mention_score: float) -> Action:
        """The action to take."""

    def lead(self, options: Options, scores: Floats, mention_score: float) -> float:
        """By how much the scores would have to move for another action to be taken."""

    def loss(self, terms: LossTerms) -> Any:
        """What training minimises."""


class FlatChoice:
    """The paper's rule: the option with the highest score."""

    def choose(self, options: Options, scores: Floats, mention_score: float) -> Action:
        """The first of the options with the highest score."""
        return options.action(int(scores.argmax()))

    def lead(self, options: Options, scores: Floats, mention_score: float) -> float:
        """The distance between the best two scores."""
        return _lead(scores)

    def loss(self, terms: LossTerms) -> Any:
        """One choice over all options."""
        return terms.joint()


class StagedChoice:
    """Our default, in three stages: is the mention valid, is it worth a cell, and which entity is evicted for it.

    Whether to store a mention is decided between IGNORE and all evictions together (log-sum-exp). The flat rule splits
    the probability of storing it over the cells, so that IGNORE and INVALID win too often when the memory is full.
    """

    def choose(self, options: Options, scores: Floats, mention_score: float) -> Action:
        """The outcome of the stages."""
        if options.invalid and mention_score < 0:
            return INVALID
        if options.new is not None:
            return Action(ActionKind.NEW, options.new)
        evictions, ignored = scores[: len(options.evict)], scores[len(options.evict)]
        if ignored > np.logaddexp.reduce(evictions):
            return IGNORE
        return Action(ActionKind.EVICT, options.evict[int(evictions.argmax())])

    def lead(self, options: Options, scores: Floats, mention_score: float) -> float:
        """The smallest lead among the stages that were reached."""
        valid = abs(mention_score) if options.invalid else UNOPPOSED
        if options.new is not None or (options.invalid and mention_score < 0):
            return valid
        evictions, ignored = scores[: len(options.evict)], scores[len(options.evict)]
        storing = float(np.logaddexp.reduce(evictions) - ignored)
        return min(valid, -storing if storing < 0 else min(storing, _lead(evictions)))

    def loss(self, terms: LossTerms) -> Any:
        """Validity first; storing and evicting are one choice, because the stages factor its softmax."""
        return terms.validity() + terms.eviction()


SECOND_STEPS: Mapping[str, SecondStep] = {"flat": FlatChoice(), "staged": StagedChoice()}


def second_step(name: str) -> SecondStep:
    """The rule that a model config names (`model.options`)."""
    if name not in SECOND_STEPS:
        raise ConfigError(unknown_name("model.options", name, SECOND_STEPS))
    return SECOND_STEPS[name]


def _lead(scores: Floats) -> float:
    if len(scores) < 2:
        return UNOPPOSED
    second, best = np.sort(scores)[-2:]
    return float(best - second)
