"""A description and a name that talk to each other are two people, even if the reader made one entity of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longcoref.book.numbers import CLEAR
from longcoref.book.revision import find_speech
from longcoref.book.table import Table
from longcoref.book.voices import separate_voices
from longcoref.document import Document
from longcoref.mention import MentionRecord
from longcoref.text import tokenize
from test_speech import seen

IN_TURN = '"Come in," said Ann.\n\n"I will," said the fox.'
ADDRESSED = '"Come in, fox," said Ann.'
APART = '"Come in," said Ann.\n\nIt was dark.\n\n"I will," said the fox.'
SAME_TURN = '"Come in," said Ann. "Do," said the fox.'


def mixed(text: str, times: int) -> tuple[Document, list[MentionRecord]]:
    """A text that is repeated, and its people as one entity."""
    document = tokenize("\n\nThe day went by.\n\n".join([text] * times))
    words = list(document.words)
    people = [("Ann", "PROP") if word == "Ann" else ("fox", "NOM") for word in words if word in ("Ann", "fox")]
    return document, seen(document, [(word, 0, kind) for word, kind in people])


def voices(document: Document, mentions: list[MentionRecord]) -> dict[str, set[int]]:
    """The entities of each wording after the pass."""
    table = Table.of(document, mentions)
    find_speech(table)
    separate_voices(table)
    found: dict[str, set[int]] = {}
    for row in table.rows:
        found.setdefault(row.mention.text, set()).add(row.entity)
    assert table.people == set().union(*found.values())
    return found


@pytest.mark.parametrize("text", [IN_TURN, ADDRESSED])
@pytest.mark.parametrize("times", [CLEAR - 1, CLEAR, 2 * CLEAR])
def test_who_clearly_talk_to_each_other_are_two_people(text: str, times: int) -> None:
    found = voices(*mixed(text, times))
    assert found["Ann"] == {0}
    assert (found["fox"] == {1}) == (times >= CLEAR)


@pytest.mark.parametrize("text", [APART, SAME_TURN])
def test_others_in_tags_stay_one_person(text: str) -> None:
    assert voices(*mixed(text, 2 * CLEAR)) == {"Ann": {0}, "fox": {0}}


@pytest.mark.parametrize("others", [CLEAR * CLEAR, CLEAR * CLEAR + 1])
def test_who_talks_to_others_far_more_often_stays_one_person(others: int) -> None:
    """A speaker sometimes begins a new paragraph without an answer in between."""
    document, mentions = mixed(f"{IN_TURN}\n\nIt was dark.\n\n" * CLEAR + ADDRESSED.replace("Ann", "Tom") * others, 1)
    strangers = [replace(mention, entity=7) for mention in seen(document, [("Tom", 7, "PROP") for _ in range(others)])]
    found = voices(document, sorted([*mentions, *strangers], key=lambda mention: mention.words))
    assert (found["fox"] == {0}) == (others > CLEAR * CLEAR)
