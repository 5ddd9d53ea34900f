"""The spaCy component: with the tokens and sentences of any pipeline, and back from disk and other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
spacy = pytest.importorskip("spacy")

from spacy.language import Language
from spacy.tokens import Doc, DocBin

import longcoref
from results import ALPHABET

TEXT = (
    "Ann saw the old mill. She left it, and Tom met her.\n\n  Tom liked the barn 👍🏽. Ruth's inn burnt. "
    "Carl saw the inns and left. He met Ruth — twice! "
) * 3


@pytest.fixture(scope="module")
def nlp(tiny_model: Path) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("longcoref", config={"model": str(tiny_model), "cells": 3, "threads": 1})
    return nlp


def groups(doc: Doc) -> dict[str, list[tuple[int, int]]]:
    return {key: [(span.start, span.end) for span in group] for key, group in doc.spans.items()}


def test_a_blank_pipeline_gets_numbered_groups_and_a_result(nlp: Language) -> None:
    doc = nlp(TEXT)
    result = doc._.coref
    assert isinstance(result, longcoref.Result)
    assert len(result) > 1
    assert list(doc.spans) == [f"coref_clusters_{number}" for number in range(1, len(result) + 1)]
    for group, cluster in zip(doc.spans.values(), result, strict=True):
        assert [span.text for span in group] == [mention.text for mention in cluster]
        assert (group.attrs["name"], group.attrs["type"]) == (cluster.name, cluster.type)
    assert result.document is not None
    assert (result.model, result.capacity) == ("tiny", 3)
    assert doc._.coref_clusters == result.get_clusters(as_strings=False)
    assert doc._.resolved_text == result.resolved_text()


def test_the_tokens_are_used_as_they_are(nlp: Language, tiny_model: Path) -> None:
    resolver = longcoref.load(tiny_model, cells=3, threads=1)
    words = ["Ann", "saw", "the", "old", "mill", ".", "She", "left", "it", "."] * 4
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[word in ("Ann", "She") for word in words]))
    same = resolver.words([words[:6], words[6:10]] * 4)
    assert doc._.coref.clusters == same.clusters != ()


def test_sentences_that_are_set_are_kept(nlp: Language) -> None:
    words = ["Ann", "saw", "Tom", "She", "left", "\n\n", "Ruth", "met", "her"]
    starts = [True, False, False, True, False, True, False, False, False]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    document = doc._.coref.document
    assert document is not None
    assert document.words == ("Ann", "saw", "Tom", "She", "left", "Ruth", "met", "her")
    assert [tuple(sentence) for sentence in document.sentences] == [(0, 3), (3, 5), (5, 8)]


@settings(max_examples=25)
@given(pieces=st.lists(st.sampled_from([*ALPHABET, "Ann ", "she ", "the mill "]), max_size=40))
def test_nothing_else_of_a_doc_changes_and_offsets_are_those_of_its_text(nlp: Language, pieces: list[str]) -> None:
    text = "".join(pieces)
    bare = nlp.make_doc(text)
    doc = nlp(text)
    assert doc.text == text
    for mention, _ in doc._.coref.mentions:
        assert text[mention.start : mention.end] == mention.text
    doc.spans.clear()
    assert doc.to_bytes() == bare.to_bytes()


def test_filters(tiny_model: Path, nlp: Language) -> None:
    filtered = spacy.blank("en")
    config = {"model": str(tiny_model), "cells": 3, "threads": 1, "types": ["PER"], "min_mentions": 2}
    filtered.add_pipe("longcoref", config=config)
    expected = [c.name for c in nlp(TEXT)._.coref if c.type == "PER" and len(c) > 1]
    assert [cluster.name for cluster in filtered(TEXT)._.coref] == expected != []


def test_batches_processes_and_stored_docs_say_the_same(nlp: Language) -> None:
    texts = [TEXT, "", "Tom saw Ann. He left her.", " \n"]
    alone = [nlp(text) for text in texts]
    for options in ({"batch_size": 2}, {"n_process": 2, "batch_size": 1}):
        assert [groups(doc) for doc in nlp.pipe(texts, **options)] == [groups(doc) for doc in alone]
    stored = DocBin(docs=alone).to_bytes()
    for doc, before in zip(DocBin().from_bytes(stored).get_docs(nlp.vocab), alone, strict=True):
        assert doc._.coref == before._.coref
    again = nlp(alone[0].copy())
    assert groups(again) == groups(alone[0])


def test_a_saved_pipeline_takes_its_model_along(nlp: Language, tiny_model: Path, tmp_path: Path) -> None:
    expected = groups(nlp(TEXT))
    nlp.to_disk(tmp_path / "pipeline")
    moved = (tmp_path / "pipeline").rename(tmp_path / "moved")
    config = (moved / "config.cfg").read_text(encoding="utf-8")
    (moved / "config.cfg").write_text(config.replace(str(tiny_model), "gone"), encoding="utf-8")
    assert groups(spacy.load(moved)(TEXT)) == expected
    other = spacy.blank("en")
    other.add_pipe("longcoref", config={"model": "gone", "cells": 3, "threads": 1})
    assert groups(other.from_bytes(nlp.to_bytes())(TEXT)) == expected
    assert groups(pickle.loads(pickle.dumps(nlp))(TEXT)) == expected


def test_a_shipped_model_is_only_named(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("longcoref")
    nlp.to_disk(tmp_path)
    assert list((tmp_path / "longcoref").iterdir()) == []
    assert spacy.load(tmp_path).pipe_names == ["longcoref"]


def test_a_name_that_leaves_the_folder_is_refused(nlp: Language) -> None:
    import srsly

    with pytest.raises(longcoref.LongcorefError, match="expected the files of a model"):
        nlp.get_pipe("longcoref").from_bytes(srsly.msgpack_dumps({"../evil": b""}))


def test_a_doc_that_was_not_read_has_no_clusters(nlp: Language) -> None:
    assert len(nlp.make_doc(TEXT)._.coref) == 0
