"""The second step: what each rule chooses, and how safe the choice is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.errors import ConfigError
from longcoref.memory import ActionKind, Options
from longcoref.memory.second_step import SECOND_STEPS, second_step

numbers = st.floats(-8, 8, width=32)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Options, np.ndarray, float]:
    """Options as the policies offer them, their scores, and the mention score."""
    offered = draw(
        st.sampled_from(
            [Options(new=3), Options(new=3, invalid=True), Options(ignore=True, invalid=True), Options(ignore=True)]
        )
    )
    if offered.new is None:
        offered = replace(offered, evict=range(draw(st.integers(1, 6))))
    mention_score = draw(numbers)
    scores = [] if offered.new is None else [0.0]
    scores += [draw(numbers) for _ in offered.evict] + [draw(numbers)] * offered.ignore
    return offered, np.array(scores + [-mention_score] * offered.invalid, dtype=np.float32), mention_score


@given(step=steps(), name=st.sampled_from(sorted(SECOND_STEPS)))
def test_the_choice_is_one_of_the_options(step, name: str) -> None:
    assert second_step(name).choose(*step) in step[0].actions()


@given(step=steps())
def test_the_flat_rule_takes_the_best_score(step) -> None:
    options, scores, _ = step
    assert options.actions().index(second_step("flat").choose(*step)) == scores.argmax()


@given(step=steps())
def test_the_staged_rule_pools_the_evictions(step) -> None:
    options, scores, mention_score = step
    action = second_step("staged").choose(*step)
    if options.invalid and mention_score != 0:
        assert (action.kind is ActionKind.INVALID) == (mention_score < 0)
    if options.evict and (mention_score > 0 or not options.invalid):
        evictions = np.exp(scores[: len(options.evict)].astype(float))
        ignored = np.exp(float(scores[len(options.evict)]))
        if ignored != pytest.approx(evictions.sum(), rel=1e-5):
            assert (action.kind is ActionKind.IGNORE) == (ignored > evictions.sum())
        if action.kind is ActionKind.EVICT:
            assert scores[action.cell] == scores[: len(options.evict)].max()


@given(step=steps(), name=st.sampled_from(sorted(SECOND_STEPS)), seed=st.integers(0, 99))
def test_scores_that_move_by_less_than_half_the_lead_change_nothing(step, name: str, seed: int) -> None:
    options, scores, mention_score = step
    rule = second_step(name)
    reach = abs(0.49 * min(rule.lead(options, scores, mention_score), 100.0))  # a lead may be minus zero
    moved = scores.astype(float) + np.random.default_rng(seed).uniform(-reach, reach, len(scores))
    if options.new is not None:
        moved[0] = 0.0
    score = -float(moved[-1]) if options.invalid else mention_score
    assert reach < 1e-4 or rule.choose(options, moved, score) == rule.choose(options, scores, mention_score)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'staged'"):
        second_step("stage")
