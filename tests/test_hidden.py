"""Names that are hidden in a text, and the answers to who they are."""

from __future__ import annotations

import numpy as np
import pytest

from longcoref.book.hidden import KINDS, Asked, HiddenText, Names, hide, right_answers
from longcoref.book.revision import NOTHING, Revision, revise
from longcoref.document import Document
from longcoref.english.lexicon import FEMININE, MASCULINE
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import find_quotations

SCENE = """The morning was cold when Ann Moss went to the mill. Then Ann took her hat and left. Ann said that she knew.

"Have you seen the boy?" asked Ann.

"Not since noon, Ann," said Tom.

"But his brother came. Tom was late," said Ann.

In the yard Tom took his coat from a nail. On the way Tom lost his hat, and so Tom went without.

"Go home, Ann," cried Tom. "It will rain."

"So it will," said Ann.

"""


def hidden(seed: int) -> tuple[Document, HiddenText]:
    document = tokenize(SCENE * 6)
    return document, hide(Names(document), WordSpan(0, len(document.words)), np.random.default_rng(seed))


def test_counts_show_who_is_a_man_and_who_is_a_woman() -> None:
    names = Names(tokenize(SCENE * 6))
    assert (names.genders["Ann"], names.genders["Tom"]) == (FEMININE, MASCULINE)
    assert "Then" not in names.counts
    assert Names(tokenize("Nobody came.")).genders == {}


@pytest.mark.parametrize("seed", range(5))
def test_every_question_is_about_a_place_where_the_name_is_not(seed: int) -> None:
    document, found = hidden(seed)
    pronouns = {"Ann": {"she", "her"}, "Ann Moss": {"she", "her"}, "Tom": {"he", "him", "his"}}
    assert found.questions
    quotations = find_quotations(tokenize(found.text))
    for question in found.questions:
        assert question.kind in KINDS
        text = found.text[question.start : question.end]
        if question.kind in ("narration", "dialogue"):
            assert text.lower() in pronouns[question.name]
        elif question.kind in ("speaker", "addressee"):
            said = next(one for one in quotations if one.start <= question.start < one.end)
            after = found.text[said.end :].split("\n")[0]
            assert question.kind != "speaker" or not after.strip().startswith(f"said {question.name}")
    words = set(document.words) | {"She", "He", "His", "Her", "she", "he", "his", "her", "him"}
    assert set(tokenize(found.text).words) <= words


def test_another_seed_hides_other_names_and_the_same_seed_the_same() -> None:
    assert hidden(1)[1] == hidden(1)[1]
    assert len({hidden(seed)[1].text for seed in range(5)}) > 1


def answered(found: HiddenText, entity_of: dict[str, int]) -> Asked:
    """A reader that finds every name and every hidden pronoun."""
    document = tokenize(found.text)
    mentions = []
    first = {offset.start: index for index, offset in enumerate(document.offsets)}
    for name in Names(document).written:
        entity = entity_of[name.text]
        mentions.append(MentionRecord.of(document, name.words, kind="PROP", type="PER", entity=entity, score=0.5))
    for question in found.questions:
        if question.kind in ("narration", "dialogue"):
            span = WordSpan(first[question.start], first[question.start] + 1)
            entity = entity_of[question.name]
            mentions.append(MentionRecord.of(document, span, kind="PRON", type="PER", entity=entity, score=0.5))
    return Asked(document, found.questions, tuple(sorted(mentions, key=lambda mention: mention.words)))


def right(asked: Asked, revision: Revision) -> list[bool]:
    answers = right_answers(asked, revision)
    return [answer for question, answer in answers if question.kind in ("narration", "dialogue")]


def test_a_reader_who_knows_everybody_is_right_and_one_who_makes_all_one_person_is_not() -> None:
    known = {"Ann": 0, "Ann Moss": 0, "Tom": 1}
    knowing, mixing = [], []
    for seed in range(5):
        asked, heap = (answered(hidden(seed)[1], entities) for entities in (known, dict.fromkeys(known, 0)))
        knowing += right(asked, revise(asked.document, asked.mentions, NOTHING))
        mixing += right(heap, revise(heap.document, heap.mentions, NOTHING))
    assert all(knowing)
    assert any(mixing)
    assert not all(mixing)


def test_what_is_written_is_read_again() -> None:
    asked = answered(hidden(2)[1], {"Ann": 0, "Ann Moss": 0, "Tom": 1})
    again = Asked.of_json(asked.document.id, asked.as_json())
    assert (again.questions, again.mentions) == (asked.questions, asked.mentions)
