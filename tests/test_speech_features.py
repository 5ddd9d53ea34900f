"""Turns and roles: who may be speaking, from the words before a mention and its own sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.features.pairs import EntityArrays, mention_arrays, pair_codes
from longcoref.features.speech import APART, INTERRUPTION, Role, SpeechScanner, document_facts
from longcoref.spans import WordSpan

N, I, Q, S, A, T, V = Role  # noqa: E741


def parts(text: str, *mentions: str) -> list[tuple[Role, int]]:
    """The roles and turns of the first occurrences of some wordings, each after the one before; | ends a sentence."""
    sentences, words = [], []
    for sentence in text.split("|"):
        sentences.append(WordSpan(len(words), len(words) + len(sentence.split())))
        words += sentence.split()
    spans, begin = [], 0
    for mention in mentions:
        wanted = mention.split()
        begin = next(place for place in range(begin, len(words)) if words[place : place + len(wanted)] == wanted)
        spans.append((begin, begin + len(wanted)))
        begin += len(wanted)
    return [(placed.role, placed.turn) for placed in document_facts(words, sentences, spans)]


def test_an_answer_is_the_next_turn_and_a_tag_interrupts_one() -> None:
    text = "“ I know you , ” said Ann , “ and I like you . ” | “ I do not , ” he said . | I left her ."
    first = APART
    assert parts(text, "I", "you", "Ann", "I", "you", "I", "he", "I", "her") == [
        *((S, first), (A, first), (T, first), (S, first), (A, first)),
        *((S, first + 1), (T, first + 1), (I, first + 1), (N, first + 1)),
    ]


@pytest.mark.parametrize(("narration", "rises"), [(0, 1), (1, 0), (INTERRUPTION, 0), (INTERRUPTION + 1, APART)])
def test_the_narration_between_two_quotations_tells_turns_apart(narration: int, rises: int) -> None:
    found = parts(f"“ I . ” {'so ' * narration}“ I . ”", "I", "I")
    assert found[1][1] - found[0][1] == rises


@pytest.mark.parametrize(
    ("text", "mention", "role"),
    [
        ("The old man said , “ No . ”", "The old man", T),
        ("The old man sat down .", "The old man", N),
        ("Ann said that , and “ no ” was her word", "Ann", N),
        ("“ No , ” cried the old man .", "the old man", T),
        ("“ No , ” said he to Ann .", "Ann", N),
        ("“ Come , Ann ! ”", "Ann", V),
        ("“ Ann , come here . ”", "Ann", V),
        ("“ No , my dear . ”", "my dear", V),
        ("“ No , the dog . ”", "the dog", Q),
        ("“ I saw Ann yesterday . ”", "Ann", Q),
        ("“ She did . ”", "She", Q),
    ],
)
def test_roles(text: str, mention: str, role: Role) -> None:
    assert parts(text, mention)[0][0] is role


def test_a_speaker_named_before_a_turn_spoke_in_it() -> None:
    words = "Ann smiled . “ No . ” Then the whole long day and the night went by in peace , and she said to Bob , “ I"
    words = words.split()
    spans = [(words.index(word), words.index(word) + 1) for word in ("she", "Bob", "I")]
    placed = document_facts(words, [WordSpan(0, len(words))], spans)
    assert [one.role for one in placed] == [T, N, S]
    assert placed[0].turn == placed[2].turn > placed[1].turn
    mentions = mention_arrays(placed, [0, 1, 2])
    she = EntityArrays(*(np.array([value]) for value in (1, 0, 0, 0, 0, 0, 0, 0, placed[0].turn, 0)))
    codes = pair_codes(["spoke"], mentions, she, match=np.zeros(3), last_action=0, genre=0)
    assert codes[:, 0].tolist() == [5 * T + 1, 5 * N, 5 * S + 1]  # as seen from Bob, the turn has not come


MARKED = st.lists(st.sampled_from(["“", "”", '"', "said", "Ann", "I", "you", ",", "."]), min_size=1, max_size=12)


@given(st.lists(MARKED, max_size=9))
def test_turns_do_not_depend_on_where_sentences_end(sentences: Sequence[Sequence[str]]) -> None:
    """A sentence without marks is passed over in one step: the result must be that of word by word."""
    whole, pieces = SpeechScanner(), SpeechScanner()
    for words in sentences:
        speech, alone = whole.scan(words), [pieces.scan([word]) for word in words]
        for name in ("turns", "inside", "outside_for"):
            assert list(getattr(speech, name)) == [getattr(one, name)[0] for one in alone]
