"""Windows partition the pieces, respect boundaries, and do not depend on how the text is fed."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.errors import UsageError
from longcoref.runtime.windows import Window, WindowSplitter, split
from longcoref.spans import WordSpan

SENTENCES = st.lists(st.lists(st.integers(1, 4) | st.integers(1, 30), min_size=1, max_size=12), max_size=25)
SIZES = st.integers(1, 40)
OVERLAPS = st.sampled_from((0.0, 0.125, 0.25, 0.5))


def split_sentences(sentences: list[list[int]], max_pieces: int, overlap: float) -> list[Window]:
    ends = list(accumulate(map(len, sentences)))
    spans = [WordSpan(end - len(sentence), end) for end, sentence in zip(ends, sentences, strict=True)]
    lengths = [length for sentence in sentences for length in sentence]
    return split(lengths, spans, max_pieces=max_pieces, overlap=overlap)


def plain_split(sentences: list[list[int]], max_pieces: int, overlap: float) -> list[Window]:
    """The same rules written down for a document that is known whole."""
    word_ends = list(accumulate(length for sentence in sentences for length in sentence))
    sentence_ends = list(accumulate(map(sum, sentences)))
    total = sentence_ends[-1] if sentence_ends else 0
    spans: list[tuple[int, int]] = []
    start = edge = 0
    while edge < total:
        limit = start + max_pieces
        options = [[end for end in ends if edge < end <= limit] for ends in (sentence_ends, word_ends)]
        last = edge
        edge = total if limit >= total else next((max(ends) for ends in options if ends), limit)
        assert edge > last
        spans.append((start, edge))
        goal = start + int((1 - overlap) * (edge - start))
        starts = [[end for end in ends if goal < end <= edge] for ends in (sentence_ends, word_ends)]
        start = edge if not overlap else next((min(ends) for ends in starts if ends), edge)
    cuts = [0, *(right[0] + (left[1] - right[0]) // 2 for left, right in pairwise(spans)), total]
    return [Window(*span, *kept) for span, kept in zip(spans, pairwise(cuts), strict=False)]


@given(SENTENCES, SIZES, OVERLAPS)
def test_splitting_follows_the_rules(sentences: list[list[int]], max_pieces: int, overlap: float) -> None:
    assert split_sentences(sentences, max_pieces, overlap) == plain_split(sentences, max_pieces, overlap)


@given(SENTENCES, SIZES, OVERLAPS)
def test_kept_stretches_partition_the_pieces(sentences: list[list[int]], max_pieces: int, overlap: float) -> None:
    windows = split_sentences(sentences, max_pieces, overlap)
    kept = [piece for window in windows for piece in range(window.keep_start, window.keep_end)]
    assert kept == list(range(sum(map(sum, sentences))))
    for window in windows:
        assert window.start <= window.keep_start < window.keep_end <= window.end
        assert window.end - window.start <= max_pieces


@given(SENTENCES, SIZES, OVERLAPS)
def test_a_piece_is_kept_where_it_has_most_context(sentences: list[list[int]], max_pieces: int, overlap: float) -> None:
    windows = split_sentences(sentences, max_pieces, overlap)

    def context(window: Window, piece: int) -> int:
        return min(piece - window.start, window.end - 1 - piece)

    for keeper in windows:
        for piece in range(keeper.keep_start, keeper.keep_end):
            readers = [window for window in windows if window.start <= piece < window.end]
            assert context(keeper, piece) == max(context(window, piece) for window in readers)


@given(SENTENCES, SIZES, OVERLAPS, st.randoms())
def test_feeding_in_parts_gives_the_same_windows_with_bounded_delay(
    sentences: list[list[int]], max_pieces: int, overlap: float, random
) -> None:
    splitter = WindowSplitter(max_pieces, overlap)
    windows: list[Window] = []
    fed = 0
    for sentence in sentences:
        cut = random.randrange(len(sentence) + 1)
        for part, ends in ((sentence[:cut], False), (sentence[cut:], True)):
            windows += splitter.feed(part, ends_sentence=ends)
            fed += sum(part)
            waiting = fed - (windows[-1].keep_end if windows else 0)
            assert waiting <= 2 * max_pieces
    assert windows + splitter.finish() == split_sentences(sentences, max_pieces, overlap)


def test_windows_end_at_sentences_where_they_can() -> None:
    assert split_sentences([[1] * 6, [1] * 5, [1] * 4], 12, 0.0) == [
        Window(0, 11, 0, 11),
        Window(11, 15, 11, 15),
    ]
    assert split_sentences([[1] * 6, [1] * 5, [1] * 4], 12, 0.5) == [
        Window(0, 11, 0, 8),
        Window(6, 15, 8, 15),
    ]


def test_a_long_next_sentence_moves_the_edge_forward_to_a_word() -> None:
    assert split_sentences([[1] * 5, [1] * 5, [2] * 5], 12, 0.5) == [
        Window(0, 10, 0, 10),
        Window(10, 20, 10, 20),
    ]
    assert split_sentences([[1] * 6, [1] * 4, [2] * 5], 12, 0.5) == [
        Window(0, 10, 0, 8),
        Window(6, 18, 8, 16),
        Window(14, 20, 16, 20),
    ]


def test_no_words_no_windows() -> None:
    assert split_sentences([], 10, 0.5) == []


@pytest.mark.parametrize("overlap", [-0.1, 1.0, float("nan")])
def test_an_overlap_leaves_room_for_new_pieces(overlap: float) -> None:
    with pytest.raises(UsageError, match="overlap"):
        WindowSplitter(10, overlap)


def test_a_window_holds_at_least_one_piece() -> None:
    with pytest.raises(UsageError, match="at least one piece"):
        WindowSplitter(0)
