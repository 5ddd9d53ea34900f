"""Documents: whatever is derived from a checked one would pass the same checks."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.clusters import cluster_of
from longcoref.document import Document
from longcoref.errors import DocumentError
from longcoref.mention import MentionRecord
from longcoref.spans import CharSpan, CharSpans, WordSpan
from longcoref.text import tokenize

TEXTS = st.lists(st.sampled_from(["Ann", "saw", "Tom", ".", "\n\n", "“", "”", "e\u0301", "👍🏽"]), max_size=30).map(
    " ".join
)


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    document = tokenize(draw(TEXTS))
    edges = st.integers(0, len(document.words))
    spans = draw(st.lists(st.tuples(edges, edges).filter(lambda pair: pair[0] < pair[1]), max_size=6))
    return document.with_clusters([cluster_of(spans[:3], "a"), cluster_of(spans[3:], "b")] if spans else [])


@given(annotated())
def test_a_document_with_other_clusters_is_the_one_that_the_constructor_makes(document: Document) -> None:
    bare = document.with_clusters(None)
    assert bare == replace(document, clusters=None)
    assert bare.with_clusters(document.clusters) == document
    with pytest.raises(DocumentError, match="lies outside"):
        document.with_clusters([cluster_of([(0, len(document.words) + 1)])])


@given(annotated(), st.data())
def test_a_part_of_a_document_would_pass_all_checks(document: Document, data: st.DataObject) -> None:
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(document.words))] * 2)))
    part = document.crop(WordSpan(begin, end))
    assert replace(part) == part  # the constructor checks every word, sentence and mention
    assert part.words == document.words[begin:end]
    inside = [
        span for cluster in document.clusters or () for span in cluster.spans if begin <= span[0] < span[1] <= end
    ]
    found = [span for cluster in part.clusters or () for span in cluster.spans]
    assert [document.text_of(span) for span in inside] == [part.text_of(span) for span in found]


@given(annotated())
def test_sentences_have_all_words_and_know_them(document: Document) -> None:
    sentences = list(document.read())
    assert [word for sentence in sentences for word in sentence.words] == list(document.words)
    assert [offset for sentence in sentences for offset in sentence.offsets] == list(document.offsets)
    numbers = [number for number, sentence in enumerate(sentences) for _ in sentence.words]
    assert [document.sentence_of(word) for word in range(len(document.words))] == numbers


@given(annotated())
def test_the_record_of_a_span_has_its_exact_place(document: Document) -> None:
    for cluster in document.clusters or ():
        for span in cluster.spans:
            record = MentionRecord.of(document, span, kind="NOM", type=None, entity=0, score=1.0)
            assert document.text[record.start : record.end] == record.text == document.text_of(span)
            assert record.sentence == document.sentence_of(span.start)
            assert record.without_decision() is record


@given(st.lists(st.builds(CharSpan, st.integers(0, 2**40), st.integers(0, 2**40))), st.data())
def test_compact_spans_are_a_sequence_of_spans(spans: list[CharSpan], data: st.DataObject) -> None:
    compact = CharSpans(spans)
    assert list(compact) == spans
    assert len(compact) == len(spans)
    part = data.draw(st.slices(len(spans)))
    assert compact[part] == CharSpans(spans[part])
    assert CharSpans.joined([compact, compact[part]]) == CharSpans([*spans, *spans[part]])
    if spans:
        index = data.draw(st.integers(-len(spans), len(spans) - 1))
        assert compact[index] == spans[index]
        assert isinstance(compact[index], CharSpan)
    copied = pickle.loads(pickle.dumps(compact))
    assert copied == compact
    assert hash(copied) == hash(compact)
    assert compact != CharSpans([*spans, CharSpan(0, 1)])
