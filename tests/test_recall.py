"""Evicted entities are archived and come back: the archive, the action, the oracle, a resolver, and what it costs."""

from __future__ import annotations

import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import longcoref
from longcoref.cli import main
from longcoref.errors import InputError
from longcoref.features.facts import mention_facts
from longcoref.features.pairs import SAME_HEAD, SAME_STRING
from longcoref.features.speech import PlacedFacts
from longcoref.memory import Action, ActionKind, Cells, WithRecall, decode, memory_policy, oracle_actions
from longcoref.memory.cells import Counts
from longcoref.memory.policies import RECALL_CANDIDATES
from longcoref.render.lines import MentionWriter
from longcoref.runtime.archive import Archive
from longcoref.runtime.cell_state import CellContent
from longcoref.text import tokenize

TEXT = (
    "Ann saw the mill. Tom met the inn. Ruth left the barn. Carl liked Ann. She left. Tom saw Ruth and the old mill. "
    * 4
)


def archived(word: str, seed: int) -> CellContent:
    vector, part = np.split(np.random.default_rng(seed).normal(size=10).astype(np.float32), [6])
    return CellContent(vector, part, 2.0, [1, 2, 3, 0, 0, 1, 1], [(SAME_HEAD, word), (SAME_STRING, word)])


def same(first: CellContent, second: CellContent) -> bool:
    arrays = (first.vector, second.vector), (first.link_part, second.link_part)
    return all((one == other).all() for one, other in arrays) and first.as_json() == second.as_json()


def test_who_left_is_found_by_name_and_by_vector_and_leaves_the_archive_on_return() -> None:
    archive = Archive(6, 4)
    for number, word in enumerate(("ann", "tom", "ruth")):
        archive.put(number, archived(word, number))
    facts = mention_facts(["Tom"])
    assert archive.candidates(facts, archived("ruth", 2).vector)[:2] == [1, 2]
    assert same(archive.take(1), archived("tom", 1))
    assert 1 not in archive
    assert 1 not in archive.candidates(facts, archived("tom", 1).vector)
    for number in range(3, 20):
        archive.put(number, archived("tom" if number % 2 else f"tom{number}", number))
    assert 2 < len(archive.candidates(facts, archived("ann", 0).vector)) <= RECALL_CANDIDATES


@given(words=st.lists(st.sampled_from(["ann", "tom", "ruth"]), max_size=12), size=st.integers(1, 12))
def test_what_is_on_disk_is_what_is_in_memory(words: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longcoref.runtime.archive.STRINGS_PER_ENTITY", 1)
        _compare_with_disk(words, size)


def _compare_with_disk(words: list[str], size: int) -> None:
    small, large = Archive(6, 4, in_memory=size), Archive(6, 4)
    for number, word in enumerate(words):
        small.put(number, archived(word, number))
        large.put(number, archived(word, number))
    facts = mention_facts(["Ann"])
    x = archived("x", 99).vector
    assert len(small) == len(large) == len(words)
    for word in ("Ann", "Tom", "Ruth"):
        assert small.candidates(mention_facts([word]), x) == large.candidates(mention_facts([word]), x)
    assert all(same(small.get(number), large.get(number)) for number in range(len(words)))
    again = Archive(6, 4, in_memory=size)
    again.restore(*small.state())
    assert again.candidates(facts, x) == small.candidates(facts, x)
    assert all(same(again.get(number), small.get(number)) for number in range(len(words)))


def test_a_recalled_entity_keeps_its_count_and_its_cluster() -> None:
    actions = [
        Action(ActionKind.NEW, 0),
        Action(ActionKind.LINK, 0),
        Action(ActionKind.EVICT, 0),
        Action(ActionKind.RECALL, 0, 0),
    ]
    cells = Cells(archive={})
    evicted = [cells.apply(action, index) for index, action in enumerate(actions)]
    assert evicted == [None, None, 0, 1]
    assert cells.counts == [3]
    assert cells.archive == {1: 1}
    assert decode("abcd", actions) == [("a", "b", "d"), ("c",)]
    with pytest.raises(ValueError, match="not in the archive"):
        Cells().apply(Action(ActionKind.RECALL, 0, 7), 0)
    with pytest.raises(ValueError, match="with entity"):
        Action(ActionKind.RECALL, 0)


_sequences = st.lists(st.one_of(st.none(), st.integers(0, 5)), max_size=40)


@given(entities=_sequences, capacity=st.integers(1, 4), name=st.sampled_from(["learned", "rule"]))
def test_the_oracle_with_recall(entities: list[int | None], capacity: int, name: str) -> None:
    sizes = Counter(entity for entity in entities if entity is not None)
    plain = memory_policy(name, capacity)
    actions = oracle_actions(entities, sizes, WithRecall(plain))
    without = oracle_actions(entities, sizes, plain)
    # Recall changes who is opened anew, not which cell is taken: the same decisions, one cluster for each entity.
    assert [action.cell for action in actions] == [action.cell for action in without]
    assert all(
        first.kind is second.kind
        or (first.kind is ActionKind.RECALL and second.kind in (ActionKind.NEW, ActionKind.EVICT))
        for first, second in zip(actions, without, strict=True)
    )
    cells = Cells(archive={})
    for index, action in enumerate(actions):
        cells.apply(action, index)
        assert len(cells) <= capacity
    clusters = decode(range(len(entities)), actions)
    found = [{entities[index] for index in cluster} for cluster in clusters]
    assert all(len(gold) == 1 for gold in found)
    assert len(found) == len({gold for one in found for gold in one})


@given(entities=_sequences, capacity=st.integers(1, 4), name=st.sampled_from(["learned", "rule"]))
def test_the_oracle_recalls_whoever_is_in_the_archive_and_nobody_else(
    entities: list[int | None], capacity: int, name: str
) -> None:
    policy = WithRecall(memory_policy(name, capacity))
    sizes = Counter(entity for entity in entities if entity is not None)
    cells, gold_of = Cells(archive={}), {}
    for index, (gold, action) in enumerate(zip(entities, oracle_actions(entities, sizes, policy), strict=True)):
        archived = {gold_of[number]: number for number in cells.archive or ()}
        options = policy.options(cells)
        if action.kind in (ActionKind.NEW, ActionKind.EVICT):
            assert gold not in archived
        if action.kind is ActionKind.RECALL:
            assert archived[gold] == action.entity
            # Who returns takes the cell that is free, or one that may be given up.
            assert action.cell in ([*options.evict] if options.new is None else [options.new])
        cells.apply(action, index)
        if action.cell is not None:
            gold_of[cells.entities[action.cell]] = gold


@given(entities=_sequences)
def test_an_oracle_that_never_evicts_never_recalls(entities: list[int | None]) -> None:
    sizes = Counter(entity for entity in entities if entity is not None)
    for name in ("learned", "rule", "unbounded", "track-all"):
        plain = memory_policy(name)
        assert oracle_actions(entities, sizes, WithRecall(plain)) == oracle_actions(entities, sizes, plain)


def test_the_teacher_compares_who_returns_with_those_that_are_like_them() -> None:
    teacher = pytest.importorskip("longcoref.nn.teacher")
    cast = ["Ann", "Ben", "Carl", "Dora", "Eve", "Finn", "Gwen", "Hugh", "Iris", "Jack", "Kate", "Luke"]
    entities = [*range(12), 0, 1, 12]
    policy = memory_policy("learned", 1, recall=True)
    actions = oracle_actions(entities, dict.fromkeys(range(13), 9), policy)
    # Every mention drives out the one before it; the last one opens an entity of its own, though it is a Luke.
    assert [action.kind.value for action in actions] == ["new", *["evict"] * 11, "recall", "recall", "evict"]
    facts = [PlacedFacts(mention_facts([name]), 0, False) for name in (*cast, "Ann", "she", "Luke")]
    recalls = teacher.unroll(actions, facts, range(15), policy, features=()).recalls
    found = [recalls.pair_state[recalls.pair_step == step].tolist() for step in range(len(recalls.target))]
    assert max(map(len, found)) == RECALL_CANDIDATES
    assert [mention for mention in range(15) if mention in recalls.pair_mention] == [*range(2, 13), 14]
    assert found[10][recalls.target[10]] == 0  # ten others left after Ann
    assert found[11][0] == 11  # the other Luke
    assert set(recalls.target.tolist()) == {teacher.NONE, recalls.target[10]}


def test_a_resolver_with_recall_is_the_same_whole_in_pieces_and_resumed(tiny_model: Path, tmp_path: Path) -> None:
    resolver = longcoref.load(tiny_model, cells=2, threads=1, recall=True)
    mentions = list(resolver.mentions(tokenize(TEXT)))
    kinds = Counter(mention.decided.action.kind for mention in mentions)
    assert kinds[ActionKind.RECALL] > 0
    assert all(0 <= mention.score <= 1 for mention in mentions)
    whole = resolver(TEXT)
    path = tmp_path / "book.state"
    reading = resolver.open()
    reading.feed(TEXT[:300])
    reading.save(path)
    tomorrow = longcoref.load(tiny_model, cells=2, threads=1, recall=True).resume(path)
    tomorrow.feed(TEXT[300:])
    assert tomorrow.finish().clusters == whole.clusters
    with pytest.raises(longcoref.errors.ModelError, match="another memory"):
        longcoref.load(tiny_model, cells=2, threads=1).resume(path)


def test_without_evictions_recall_changes_nothing(tiny_model: Path) -> None:
    on, off = (longcoref.load(tiny_model, cells=500, threads=1, recall=recall)(TEXT) for recall in (True, False))
    assert on.clusters == off.clusters


def test_the_bench_follows_a_text_with_and_without_recall(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "novel.txt"
    text.write_text(TEXT, encoding="utf-8")
    options = ["--model", str(tiny_model), "--cells", "2", "--every", "30", "--plots", str(tmp_path), "--json"]
    with pytest.raises(SystemExit) as stop:
        main(["bench", "recall", str(text), *options])
    assert stop.value.code == 0
    rows = json.loads(capsys.readouterr().out)
    off, on = ([row for row in rows if row["recall"] == side] for side in ("off", "on"))
    words = len(tokenize(TEXT).words)
    assert [row["words"] for row in off] == [row["words"] for row in on]
    assert on[-1]["words"] == words
    assert all(after["words"] - before["words"] >= 30 for before, after in pairwise(on[:-1]))
    assert [row["mentions"] for row in off] == [row["mentions"] for row in on]
    assert {row["archived"] for row in off} == {0}
    assert on[-1]["archived"] > 0
    assert all(row["milliseconds_per_mention"] > 0 < row["peak_megabytes"] for row in rows)
    assert (tmp_path / "recall_milliseconds_per_mention.svg").exists()


def test_a_full_disk_is_an_error_of_ours() -> None:
    archive = Archive(6, 4, in_memory=1)
    archive.put(0, archived("mill", 0))
    archive._disk.execute("pragma max_page_count = 1")
    large = CellContent(np.zeros(100_000, dtype=np.float32), np.zeros(4, dtype=np.float32), 1.0, [], [])
    archive._vectors = np.zeros((len(archive._latest), 100_000), dtype=np.float32)
    archive.put(1, large)
    with pytest.raises(InputError, match=r"temporary file of recall .* full.*set TMPDIR"):
        archive.put(2, large)


@given(steps=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=30))
def test_counts_are_a_dictionary_of_numbers_above_0(steps: list[tuple[int, int]]) -> None:
    counts = Counts()
    known: dict[int, int] = {}
    for entity, number in steps:
        if number:
            counts[entity] = known[entity] = number
        else:
            assert counts.pop(entity, None) == known.pop(entity, None)
    assert dict(counts) == known
    assert len(counts) == len(known)


def test_streamed_clusters_are_whole_although_only_those_in_cells_are_in_memory(tiny_model: Path) -> None:
    resolver = longcoref.load(tiny_model, memory="learned", cells=2, recall=True, threads=1)
    stream, most, returned = io.StringIO(), 0, 0
    writer = MentionWriter(stream, resolver.model, resolver.policy)
    writer.begin("text")
    mentions = list(resolver.mentions(tokenize(TEXT)))
    for mention in mentions:
        writer.add(mention)
        most = max(most, len(writer._open))
        returned += mention.decided.action.kind is ActionKind.RECALL
    writer.end()
    closed = [line["closed"] for line in map(json.loads, stream.getvalue().splitlines()) if "closed" in line]
    clusters = resolver.provisional(mentions).clusters
    assert [(one["id"], one["name"], one["mentions"]) for one in closed] == [
        (cluster.id, cluster.name, len(cluster)) for cluster in clusters
    ]
    assert most <= 2 < len(clusters)
    assert returned
