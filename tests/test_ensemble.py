"""Several models that read as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from longcoref import load
from longcoref.errors import ModelError
from longcoref.features.candidates import candidates_of
from longcoref.features.speech import document_facts
from longcoref.memory import memory_policy
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.model import Model, open_model
from longcoref.runtime.windows import Window
from longcoref.spans import WordSpan
from model import write_tiny_model

TEXT = "Ann saw Bob. She told him that Bob's dog had seen her. He laughed at the dog, and Ann laughed too. " * 4


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("members")
    return write_tiny_model(folder / "one", seed=2), write_tiny_model(folder / "other", seed=3)


def _grid(model: Model, pieces: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Mention scores and span vectors of a sentence of one-piece words."""
    vectors = model.encoder.encode(np.arange(5, 5 + pieces, dtype=np.int32), [Window(0, pieces, 0, pieces)])
    first = np.arange(pieces)
    candidates = candidates_of(first, first + 1, [WordSpan(0, pieces)], max_width=5, unit="words")
    spans = np.array([(0, 1), (1, 3), (4, 5), (5, 7), (8, 9), (9, 11)])
    return model.heads.mention_scores(vectors, candidates), model.heads.span_vectors(vectors, candidates, spans)


def test_mention_scores_are_means(pair: tuple[Path, Path]) -> None:
    one, other = map(open_model, pair)
    both = open_model(",".join(map(str, pair)))
    expected = (_grid(one)[0] + _grid(other)[0]) / 2
    np.testing.assert_allclose(_grid(both)[0], expected, rtol=1e-5)
    assert not np.allclose(_grid(one)[0], _grid(other)[0])


@pytest.mark.parametrize("cells", [None, 2])
def test_link_and_option_scores_are_means(pair: tuple[Path, Path], cells: int | None) -> None:
    """Forced along the same actions, the ensemble scores every link and option as its members do on average."""
    both = open_model(",".join(map(str, pair)))
    words = TEXT.split()
    spans = [WordSpan(i, i + 1) for i in (0, 2, 4, 6, 8, 9)]
    facts = document_facts(words, [WordSpan(0, len(words))], spans)
    scores = np.array([2.0, 1.0, 0.5, 3.0, 1.0, 0.1], dtype=np.float32)
    policy = memory_policy("learned" if cells else "unbounded", cells)
    free = list(Clusterer(both.heads, policy).cluster(_grid(both)[1], scores, facts))
    forced = [decision.action for decision in free]
    parts = [
        list(Clusterer(member.heads, policy).cluster(_grid(member)[1], scores, facts, forced))
        for member in map(open_model, pair)
    ]
    assert len({action.kind for action in forced}) > 1
    for decision, *members in zip(free, *parts, strict=True):
        np.testing.assert_allclose(decision.links, np.mean([m.links for m in members], axis=0), rtol=1e-4, atol=1e-4)
        if decision.offered is not None:
            options = np.mean([m.options for m in members], axis=0)
            np.testing.assert_allclose(decision.options, options, rtol=1e-4, atol=1e-4)


def test_twice_the_same_model_is_that_model(pair: tuple[Path, Path]) -> None:
    alone, twice = load(pair[0], recall=True, cells=2), load(f"{pair[0]},{pair[0]}", recall=True, cells=2)
    assert [[m.text for m in c] for c in alone(TEXT)] == [[m.text for m in c] for c in twice(TEXT)]
    assert alone.model.fingerprint != twice.model.fingerprint


def test_members_must_fit(pair: tuple[Path, Path], tmp_path: Path) -> None:
    other = write_tiny_model(tmp_path / "styled", genres=("fiction", "modern"))
    with pytest.raises(ModelError, match="cannot read as one model"):
        open_model(f"{pair[0]},{other}")
    with pytest.raises(ModelError, match="no model 'nowhere'"):
        open_model(f"{pair[0]},nowhere")
