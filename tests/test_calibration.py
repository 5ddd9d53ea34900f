"""Calibration: which decisions are right, and whether probabilities say so."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from longcoref.calibration import fit_calibration, judge, reliability
from longcoref.document import document_of_words
from longcoref.memory import Action, ActionKind
from longcoref.memory.decision import Decision
from longcoref.memory.policies import Options
from longcoref.mention import MentionRecord
from longcoref.runtime.confidence import Calibration
from longcoref.spans import WordSpan

OPEN = Options(new=0, invalid=True)


def decision(
    kind: str, cell: int | None, entity: int | None, links: list[float], evicted: int | None = None
) -> Decision:
    offered = None if kind == "link" else OPEN
    scores = np.array(links, dtype=np.float32)
    return Decision(Action(ActionKind(kind), cell), entity, evicted, 3.0, scores, offered, scores[:0])


def read(*decisions: Decision) -> list[MentionRecord]:
    document = document_of_words("", [["word"] * len(decisions)])
    return [
        replace(
            MentionRecord.of(document, WordSpan(n, n + 1), kind="NOM", type=None, entity=decision.entity, score=0.5),
            decision=decision,
        )
        for n, decision in enumerate(decisions)
    ]


def gold(entities: str) -> dict[WordSpan, int]:
    """A letter for the gold entity of each mention, a dot for none."""
    return {WordSpan(i, i + 1): ord(letter) for i, letter in enumerate(entities) if letter != "."}


def test_a_link_is_right_if_most_of_the_cell_is_the_same_entity() -> None:
    reading = read(
        decision("new", 0, 0, []),
        decision("link", 0, 0, [2.0]),
        decision("link", 0, 0, [2.0]),
        decision("link", 0, 0, [2.0]),
    )
    assert [right for _, right in judge(reading, gold("aaba"))] == [True, True, False, True]


def test_a_new_entity_is_right_if_it_is_gold_and_in_no_cell() -> None:
    reading = read(
        decision("new", 0, 0, []),
        decision("new", 1, 1, [-1.0]),
        decision("new", 2, 2, [-1.0, -1.0]),
        decision("invalid", None, None, [-1.0, -1.0, -1.0]),
        decision("evict", 0, 3, [-1.0, -1.0, -1.0], evicted=0),
    )
    # The second is a again, which cell 0 holds; the third is no mention; the last is a after cell 0 lost it, but
    # cell 1 holds an a too.
    assert [right for _, right in judge(reading, gold("aa.ba"))] == [True, False, False, False]
    assert [right for _, right in judge(reading, gold("ab.bc"))] == [True, True, False, True]


def test_overconfident_scores_become_modest() -> None:
    random = np.random.default_rng(0)
    sure = [(decision("link", 0, 0, [6.0]), bool(random.random() < 0.8)) for _ in range(2000)]
    fitted = fit_calibration(sure)
    assert fitted.temperature > 2
    assert reliability(sure, Calibration()).error > 0.15
    assert reliability(sure, fitted).error < 0.02


def test_links_and_new_entities_are_fitted_apart() -> None:
    random = np.random.default_rng(0)
    links = [(decision("link", 0, 0, [2.0]), bool(random.random() < 0.9)) for _ in range(1000)]
    new = [(decision("new", 1, 1, [-2.0]), bool(random.random() < 0.4)) for _ in range(1000)]
    fitted = fit_calibration(links + new)
    assert reliability(links, fitted).error < 0.03
    assert reliability(new, fitted).error < 0.03
    assert Calibration.of(asdict(fitted)) == fitted


def test_the_table_counts_every_decision_once() -> None:
    judged = [(decision("link", 0, 0, [score]), score > 0) for score in np.linspace(-3, 3, 61)]
    table = reliability(judged, Calibration())
    assert sum(table.counts) == 61
    assert len(table.counts) == 10
    assert all(0.1 * i <= score <= 0.1 * (i + 1) for i, score in enumerate(table.scores) if table.counts[i])
    assert table.as_json()["error"] == pytest.approx(table.error)


def test_nothing_judged_is_no_error() -> None:
    assert fit_calibration([]) == Calibration()
    assert reliability([], Calibration()).error == 0.0
