"""Sentences of words that come without their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.text.of_words import split_words_into_sentences


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Mr. Hill slept . He snored .", [4, 7]),
        ("“ Who ? ” he said . “ I ! ” Nobody came .", [7, 11, 14]),
        ('" Go . " She left .', [4, 7]),
        ('" Go . Now ! " She left .', [3, 6, 9]),
        ("Well ... he came ... Then rain .", [5, 8]),
        ("( It rained . ) We slept", [5, 7]),
        ("Why ?! Because .", [2, 4]),
    ],
)
def test_where_sentences_end(text: str, ends: list[int]) -> None:
    found, position = [], 0
    for sentence in split_words_into_sentences(text.split()):
        position += len(sentence)
        found.append(position)
    assert found == ends


@given(st.lists(st.sampled_from(["Anna", "ran", ".", "?", '"', "”", ")", "..."])))
def test_no_word_is_lost_and_no_sentence_is_empty(words: list[str]) -> None:
    sentences = split_words_into_sentences(words)
    assert [word for sentence in sentences for word in sentence] == words
    assert all(sentences)
