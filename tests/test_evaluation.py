"""Evaluation: what is scored is what resolving gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import longcoref
from longcoref.book.revision import BOOK_POLICIES, book_policy
from longcoref.clusters import cluster_of
from longcoref.evaluation import evaluate
from longcoref.memory import memory_policy
from longcoref.runtime.model import open_model
from longcoref.spans import WordSpan
from longcoref.text import tokenize

TEXT = """Ann met Tom at the inn. "I saw Ruth," said Ann, "and you left her." Tom liked the mill.
"I met Carl," he said. "He left me." Ann saw the barn. "You saw me," said Tom. Ann left him."""


@pytest.mark.parametrize("post_processing", BOOK_POLICIES)
def test_what_is_scored_is_what_resolving_gives(tiny_model: Path, post_processing: str) -> None:
    document = replace(tokenize(TEXT * 3), clusters=(cluster_of([WordSpan(0, 1)]),))
    model, policy = open_model(tiny_model), memory_policy("learned", 3)
    found = evaluate([document], model, policy, book=book_policy(post_processing)).responses[0]
    resolver = longcoref.load(tiny_model, memory="learned", cells=3, post_processing=post_processing)
    result = resolver.document(document)
    expected = {frozenset(mention.words for mention in cluster) for cluster in result}
    assert {frozenset(cluster.spans) for cluster in found.clusters or ()} == expected
    assert len(expected) > 3


def test_post_processing_changes_something(tiny_model: Path) -> None:
    results = [longcoref.load(tiny_model, post_processing=name)(TEXT * 3) for name in ("all", "none")]
    spans = [{frozenset(mention.words for mention in cluster) for cluster in result} for result in results]
    assert spans[0] != spans[1]
