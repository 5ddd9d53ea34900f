"""Resolving text with a whole model: however the text comes, the answer is the same, and every offset is right."""

from __future__ import annotations

import json
import math
import os
import pickle
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import longcoref
from longcoref.errors import InputError, UsageError
from longcoref.formats import read_corpus
from longcoref.memory import ActionKind, decode, memory_policy
from longcoref.runtime.confidence import Calibration, confidences
from longcoref.runtime.heads import Floats
from longcoref.runtime.model import WindowEncoder
from longcoref.runtime.pieces import Integers
from longcoref.runtime.reading import read_document
from longcoref.runtime.windows import Window
from longcoref.text import tokenize
from model import write_tiny_model

STORY = (
    "Ann saw the old mill. She left it, and Tom met her. “Tom liked the barn,” he saw Ruth's inn. "
    "Carl saw the inns and left.\r\n\r\n\tRuth met the old mills — twice! "
)
TEXT = STORY * 6


@pytest.fixture(scope="module")
def resolver(tiny_model: Path) -> longcoref.Resolver:
    return longcoref.load(tiny_model, cells=3, threads=1)


@pytest.fixture(scope="module")
def whole(resolver: longcoref.Resolver) -> longcoref.Result:
    return resolver(TEXT)


def fed(resolver: longcoref.Resolver, pieces: list[str]) -> longcoref.Result:
    reading = resolver.open()
    for piece in pieces:
        reading.feed(piece)
    return reading.finish()


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


def test_the_story_takes_every_action(resolver: longcoref.Resolver) -> None:
    actions = Counter(mention.decided.action.kind for mention in resolver.mentions(tokenize(TEXT)))
    assert set(actions) == set(ActionKind) - {ActionKind.RECALL}


@settings(max_examples=25)
@given(places=st.lists(st.integers(0, 10_000), max_size=12))
def test_streamed_is_whole_however_the_text_is_cut(
    resolver: longcoref.Resolver, whole: longcoref.Result, places: list[int]
) -> None:
    assert fed(resolver, cut(TEXT, places)).clusters == whole.clusters


def test_letter_by_letter_is_whole(resolver: longcoref.Resolver, whole: longcoref.Result) -> None:
    assert fed(resolver, list(TEXT)).clusters == whole.clusters


@pytest.mark.parametrize("memory", ["learned", "rule", "unbounded", "track-all"])
def test_a_document_is_read_alike_by_evaluation_and_resolver(tiny_model: Path, memory: str) -> None:
    cells = 3 if memory in ("learned", "rule") else None
    resolver = longcoref.load(tiny_model, memory=memory, cells=cells, threads=1, post_processing="none")
    document = tokenize(TEXT)
    mentions = read_document(document, resolver.model, resolver.policy).mentions
    result = resolver(TEXT)
    assert result.document is not None
    clusters = decode([mention.words for mention in mentions], [mention.decided.action for mention in mentions])
    assert [cluster.spans for cluster in result.document.clusters or ()] == clusters
    assert fed(resolver, cut(TEXT, [33, 480])).clusters == result.clusters


@settings(max_examples=10)
@given(place=st.integers(0, len(TEXT)))
def test_saved_and_resumed_is_whole(
    tiny_model: Path,
    resolver: longcoref.Resolver,
    whole: longcoref.Result,
    tmp_path_factory: pytest.TempPathFactory,
    place: int,
) -> None:
    path = tmp_path_factory.mktemp("state") / "book.state"
    reading = resolver.open()
    reading.feed(TEXT[:place])
    reading.save(path)
    tomorrow = longcoref.load(tiny_model, cells=3, threads=1).resume(path)
    assert tomorrow.so_far() == reading.so_far()
    tomorrow.feed(TEXT[place:])
    assert tomorrow.finish().clusters == whole.clusters


def test_memory_stays_small_while_streaming(resolver: longcoref.Resolver) -> None:
    stream = resolver.stream()
    held = []
    for _ in range(40):
        stream.feed(STORY * 5)
        held.append((len(stream.text), len(stream.reader.ids), len(stream.reader.open), len(stream.reader.vectors)))
    stream.feed("\n" * 300_000)
    stream.feed(" " * 300_000)
    assert max(np.array(held[20:]).max(0) - np.array(held[:20]).max(0)) <= 0
    stream.feed(STORY)
    assert len(stream.text) < 2000


TEXTS = {
    "empty": "",
    "one word": "Ann",
    "one mark": ".",
    "long word": "x" * 100_000,
    "newlines": "\n" * 1_000_000,
    "null bytes": "Ann\x00saw\x00 the \x00 mill.\x00",
    "right to left": "ראיתי את אן. היא ראתה את الطاحونة القديمة.",
    "emoji": "👩‍👩‍👧 saw 🏚️. Ann 😀 saw Tom👍🏽.",
    "lone surrogate": "Ann \ud800 saw the mill.",
    "carriage returns": "Ann\rsaw\r\nthe mill.\rShe left.",
}


def check_offsets(text: str, result: longcoref.Result) -> None:
    for mention, cluster in result.mentions:
        assert text[mention.start : mention.end] == mention.text
        assert mention.text.strip() == mention.text != ""
        assert 0 <= mention.score <= 1
        assert mention.start in range(len(text))
        assert (mention, cluster) in result.at(mention.start)
    firsts = [(c.mentions[0].start, c.mentions[0].end) for c in result]
    assert firsts == sorted(firsts)
    assert [cluster.id for cluster in result] == list(range(len(result)))


@pytest.mark.parametrize("name", TEXTS)
def test_strange_texts_have_an_answer(resolver: longcoref.Resolver, name: str) -> None:
    text = TEXTS[name]
    result = resolver(text)
    check_offsets(text, result)
    assert fed(resolver, cut(text, [1, 5, 70_000])).clusters == result.clusters
    if not text.strip():
        assert len(result) == 0
    assert json.loads(result.to_json())["clusters"] == result.as_json()["clusters"]


@settings(max_examples=60)
@given(text=st.text(st.sampled_from("Ann sawthe mil.,“”'\n\r\t\x00é😀אSheTom") | st.characters(), max_size=300))
def test_offsets_are_exact_in_any_text(resolver: longcoref.Resolver, text: str) -> None:
    result = resolver(text)
    check_offsets(text, result)
    assert fed(resolver, cut(text, [7, 50])).clusters == result.clusters


def test_the_json_is_the_schema_of_the_design(resolver: longcoref.Resolver, tmp_path: Path) -> None:
    result = resolver(TEXT, id="story")
    record = json.loads(result.to_json())
    assert set(record) - {"narrator"} == {
        *("schema", "id", "model", "memory", "text", "words", "sentences", "clusters", "quotes")
    }
    assert (record["schema"], record["memory"]) == ("longcoref/1", {"policy": "learned", "capacity": 3})
    for cluster in record["clusters"]:
        assert set(cluster) == {"id", "name", "type", "mentions"}
        for mention in cluster["mentions"]:
            assert set(mention) - {"type"} == {"start", "end", "text", "kind", "score", "sentence"}
    path = tmp_path / "story.json"
    path.write_text(result.to_json(), encoding="utf-8")
    (read,) = read_corpus(path)
    assert len(read.clusters or ()) == len(result)


def test_pretokenised_words_and_given_mentions(resolver: longcoref.Resolver) -> None:
    sentences = [["Ann", "saw", "the", "mill", "."], [], ["She", "left", "it", "."]]
    result = resolver.words(sentences)
    assert result.document is not None
    assert result.document.text == "Ann saw the mill .\nShe left it ."
    check_offsets(result.document.text, result)
    mentions = {0: [(2, 4), (0, 1)], 1: [(0, 1), (2, 3)]}
    tracked = longcoref.Resolver(resolver.model, memory_policy("unbounded"))
    found = [mention.text for mention, _ in tracked.words(sentences, mentions=mentions).mentions]
    assert found == ["Ann", "the mill", "She", "it"]
    with pytest.raises(UsageError, match="outside sentence 1"):
        resolver.words(sentences, mentions={1: [(2, 9)]})
    with pytest.raises(UsageError, match="sentence 7, but there are 2"):
        resolver.words(sentences, mentions={7: [(0, 1)]})
    with pytest.raises(UsageError, match="at most 5 words"):
        resolver.words([["Ann"] * 9], mentions={0: [(0, 7)]})


def test_pipe_keeps_the_order_and_isolates_errors(resolver: longcoref.Resolver, whole: longcoref.Result) -> None:
    texts = [TEXT, None, "Ann saw Tom.", TEXT]
    for processes in (1, 2):
        first, broken, _, last = resolver.pipe(texts, batch_size=1, processes=processes)  # type: ignore[list-item]
        assert isinstance(broken, UsageError)
        assert isinstance(first, longcoref.Result)
        assert isinstance(last, longcoref.Result)
        assert first == last
        assert first.clusters == whole.clusters


class Deadly:
    """What ends the process that unpickles it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (9,)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_text_that_kills_its_process_takes_no_other_with_it(
    resolver: longcoref.Resolver, whole: longcoref.Result, batch_size: int
) -> None:
    texts = [TEXT, Deadly(), TEXT, None, TEXT, TEXT]
    outcomes = list(resolver.pipe(texts, batch_size=batch_size, processes=2))  # type: ignore[arg-type]
    assert [type(outcome) for outcome in outcomes] == [
        type(whole) if text is TEXT else InputError if text else UsageError for text in texts
    ]
    assert "was killed" in str(outcomes[1])
    assert all(outcome.clusters == whole.clusters for outcome in outcomes if isinstance(outcome, longcoref.Result))


@dataclass
class Watched:
    """An encoder of several threads that says when it is asked for the second time, and by which threads."""

    encoder: WindowEncoder
    threads: int = 3
    callers: list[int] = field(default_factory=list)
    again: threading.Event = field(default_factory=threading.Event)

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        if self.callers:
            self.again.set()
        self.callers.append(threading.get_ident())
        return self.encoder.encode(ids, windows)


def test_with_several_threads_windows_are_encoded_ahead_and_the_answer_is_the_same(
    resolver: longcoref.Resolver, tiny_model: Path
) -> None:
    text = TEXT * 6
    several = longcoref.load(tiny_model, cells=3, threads=3)
    watched = Watched(several.model.encoder)
    ahead = longcoref.Resolver(replace(several.model, encoder=watched), several.policy)
    mentions = ahead.mentions(tokenize(text))
    taken = [next(mentions)]
    assert watched.again.wait(60)  # nobody has asked for what comes of it
    taken += mentions
    assert len(watched.callers) > 2
    assert threading.get_ident() not in watched.callers
    alone = list(resolver.mentions(tokenize(text)))
    assert [mention.without_decision() for mention in taken] == [mention.without_decision() for mention in alone]
    assert fed(several, cut(text, [100, 5000])).clusters == resolver(text).clusters


def test_fed_mentions_are_provisional_and_found_again_in_the_result(resolver: longcoref.Resolver) -> None:
    reading = resolver.open()
    text = "Mr. Hale met Mrs. Hill. He saw her. Mr. Carl left. " * 12
    fed = [mention for piece in cut(text, [90, 200, 310]) for mention in reading.feed(piece)]
    so_far = reading.so_far()
    assert [so_far.cluster_of(mention) for mention in fed] == [
        next(cluster for cluster in so_far if cluster.id == mention.entity) for mention in fed
    ]
    result = reading.finish()
    assert fed
    for mention in fed:
        cluster = result.cluster_of(mention)
        assert cluster is not None
        assert mention.words in [found.words for found in cluster]
    # Post-processing numbers entities anew, which is why a provisional number says nothing about the result.
    assert any(result.cluster_of(mention).id != mention.entity for mention in fed)  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="finished"):
        reading.feed("More.")


def test_a_resolver_reads_several_texts_at_a_time(resolver: longcoref.Resolver, whole: longcoref.Result) -> None:
    first, second = resolver.open(), resolver.open()
    for piece in cut(TEXT, [100, 400]):
        first.feed(piece)
        second.feed(piece.upper())
        resolver(STORY)
    assert first.finish().clusters == whole.clusters
    assert second.finish().clusters == resolver(TEXT.upper()).clusters


def test_a_result_can_be_searched_filtered_and_pickled(whole: longcoref.Result) -> None:
    assert pickle.loads(pickle.dumps(whole)) == whole
    kept = whole.select(types={"PER"}, min_mentions=10)
    assert 0 < len(kept) < len(whole)
    assert all(cluster.type == "PER" and len(cluster) >= 10 for cluster in kept)
    assert kept.document is not None
    assert len(kept.document.clusters or ()) == len(kept)
    inner = [mention.end - mention.start for mention, _ in whole.at(12)]
    assert inner == sorted(inner)
    for offset in range(0, len(TEXT), 7):
        assert {m.start for m, _ in whole.at(offset)} == {
            m.start for m, _ in whole.mentions if m.start <= offset < m.end
        }
    pandas = pytest.importorskip("pandas")
    frame = whole.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(whole.mentions)


def test_scores_are_probabilities_of_the_choice(resolver: longcoref.Resolver) -> None:
    for mention in resolver.mentions(tokenize(TEXT)):
        decision = mention.decided
        links = [*decision.links.tolist(), 0.0]
        total = sum(math.exp(score / 1.5) for score in links)  # 1.5 is the temperature in model.toml
        kind, cell = decision.action.kind, decision.action.cell
        if kind is ActionKind.LINK:
            assert cell is not None
            assert mention.score == pytest.approx(math.exp(links[cell] / 1.5) / total, rel=1e-4)
        else:
            valid = 1 / (1 + math.exp(-decision.mention_score / 1.5))
            share = 1 - valid if kind is ActionKind.INVALID else valid
            assert mention.score == pytest.approx(share / total, rel=1e-4, abs=1e-9)
        assert confidences([decision], Calibration(1e6))[0] <= 1


def test_a_model_that_takes_the_best_of_the_whole_document_does_not_stream(tmp_path: Path) -> None:
    resolver = longcoref.load(write_tiny_model(tmp_path / "top", rule="top", ratio=0.3), threads=1)
    result = resolver(TEXT)
    assert sum(1 for _ in resolver.mentions(tokenize(TEXT))) == math.floor(0.3 * len(tokenize(TEXT).words)) + 1
    check_offsets(TEXT, result)
    with pytest.raises(UsageError, match="whole text at once"):
        resolver.open()


def test_wrong_input_is_refused(resolver: longcoref.Resolver) -> None:
    with pytest.raises(UsageError, match="must be a string, got bytes"):
        resolver(b"Ann")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least 1"):
        next(resolver.pipe([], batch_size=0))
