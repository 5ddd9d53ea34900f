"""Head words: a word is the head of at most one mention."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.features.candidates import head_words
from longcoref.features.facts import mention_facts
from longcoref.runtime.heads import CLOSED
from longcoref.runtime.mentions import are_first_names, best_of_heads

WORDS = ("the", "her", "old", "Man", "ann", "'s", "’", "hat", "of", "who", ",", "and", "or", "she", "")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


def heads(text: str, *spans: str) -> list[str]:
    """The head words of spans of a text."""
    words = text.split()
    places = [next(i for i in range(len(words)) if words[i:][: len(span.split())] == span.split()) for span in spans]
    ends = [start + len(span.split()) for start, span in zip(places, spans, strict=True)]
    return [words[head] for head in head_words(words, np.array(places), np.array(ends))]


@pytest.mark.parametrize(
    ("span", "head"),
    [
        ("The old man", "man"),
        ("The old man who sold Ann 's boat", "man"),
        ("she", "she"),
        ("Ann 's", "Ann"),
        ("Ann 's boat", "boat"),
        ("Ann 's boat and her hat", "and"),
        ("her hat", "hat"),
    ],
)
def test_the_head_of_a_span(span: str, head: str) -> None:
    assert heads("The old man who sold Ann 's boat and her hat to a girl said that she knew", span) == [head]


@given(texts, texts, texts)
def test_a_head_depends_on_its_span_alone_and_is_that_of_the_facts(
    before: list[str], span: list[str], after: list[str]
) -> None:
    (head,) = head_words([*before, *span, *after], np.array([len(before)]), np.array([len(before) + len(span)]))
    place = int(head) - len(before)
    assert 0 <= place < len(span)
    facts = mention_facts(span)
    if span[place].lower() in ("and", "or") and place:
        assert facts.head in [word.lower() for word in span[:place]]
    elif not facts.pronoun:
        assert span[place].lower() == facts.head


def test_of_the_spans_with_one_head_the_best_is_proposed() -> None:
    words = ["The", "old", "man", "with", "a", "dog", "and", "the", "girl"]
    spans = np.array([(0, 3), (0, 6), (1, 3), (4, 6), (4, 9), (7, 9)])
    grid = np.full((9, 6), CLOSED)
    for score, (start, end) in zip([1.0, 2.0, 1.5, -1.0, -2.0, 0.0], spans.tolist(), strict=True):
        grid[start, end - start - 1] = score
    assert spans[best_of_heads(spans, grid, words)].tolist() == [[0, 6], [4, 6], [4, 9], [7, 9]]
    assert len(best_of_heads(spans[:0], grid, words)) == 0


@pytest.mark.parametrize(
    ("longer", "left"),
    [
        (("Malcolm", "X"), ["Malcolm X"]),
        (("James", "Monroe", "King"), ["James Monroe King"]),
        (("Malcolm", "and", "Betty"), ["Malcolm", "Malcolm and Betty"]),
        (("My", "Dad"), ["My", "My Dad"]),
    ],
)
def test_the_first_words_of_a_name_are_no_mention(longer: tuple[str, ...], left: list[str]) -> None:
    words = [*longer, "Malcolm"]
    spans = np.array([*((0, end) for end in range(1, len(longer) + 1) if words[end - 1] != "and"), (len(longer),) * 2])
    spans[-1, 1] += 1
    first = are_first_names(spans, np.ones(len(spans), dtype=bool), words)
    assert [" ".join(words[start:end]) for start, end in spans[~first].tolist()] == [*left, "Malcolm"]
    assert not are_first_names(spans, np.arange(len(spans)) == 0, words).any()
    assert len(are_first_names(spans[:0], np.zeros(0, dtype=bool), words)) == 0
