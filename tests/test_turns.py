"""Turns of scripts, chats and transcripts, and the speakers that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import longcoref
from longcoref.book.revision import BookPolicy, revise
from longcoref.document import Document
from longcoref.features.facts import FIRST_PERSON, SECOND_PERSON, mention_facts
from longcoref.formats.json import document_record
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import find_quotations
from longcoref.text.turns import find_turns, is_heading_number, speaker_key
from measure_turns import DIALOGUES, GIVEN, LAYOUTS, Line, counts, laid_out, read_dialogue

NAMES = ("Ann", "TOM", "Mrs. Hale", "Ruth Lee")
SENTENCES = ("I saw you.", "Give me my coat!", "He left.", "Are you mine?", "She said: “I know him.” So there.", "No")

dialogues = st.lists(
    st.builds(
        Line,
        st.sampled_from(NAMES[:2]) | st.sampled_from(NAMES),
        st.just(""),
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(" ".join),
        st.just(frozenset()),
    ),
    min_size=6,
    max_size=12,
).filter(lambda lines: len({line.speaker for line in lines}) > 1)


def distinct_turns(lines: Sequence[Line], layout: str) -> list[Line]:
    """The lines, without those that a layout may join with the line before by the same speaker."""
    if layout not in (GIVEN, "WebVTT", "SubRip"):
        return list(lines)
    return [next(group) for _, group in groupby(lines, key=lambda line: line.speaker)]


@settings(max_examples=10)
@given(lines=dialogues)
@pytest.mark.parametrize("layout", [*LAYOUTS, GIVEN])
def test_every_layout_has_the_same_turns(layout: str, lines: list[Line]) -> None:
    lines = distinct_turns(lines, layout)
    assume(len({line.speaker for line in lines}) <= len(lines) / 2 + 1)
    document = laid_out(lines, layout)
    turns = find_turns(document)
    assert [speaker_key(turn.speaker).replace("_", " ") for turn in turns] == [
        speaker_key(line.speaker) for line in lines
    ]
    assert [document.text_of(turn.words) for turn in turns] == [line.text for line in lines]
    for turn in turns:
        assert turn.label is None or document.text_of(turn.label).rstrip(".") == turn.speaker.rstrip(".")
    said = [quotation for quotation in find_quotations(document) if quotation.name]
    assert [quotation.words for quotation in said] == [turn.words for turn in turns]


def pronouns(document: Document) -> list[MentionRecord]:
    """All "I" and "you" of a document as one entity, which is what a reader makes of them at worst."""
    return [
        MentionRecord.of(document, WordSpan(number, number + 1), kind="PRON", type="PER", entity=0, score=0.5)
        for number, word in enumerate(document.words)
        if mention_facts([word]).pronoun in (FIRST_PERSON, SECOND_PERSON)
    ]


@settings(max_examples=10)
@given(lines=dialogues, names=st.booleans())
@pytest.mark.parametrize("layout", [*LAYOUTS, GIVEN])
def test_i_is_the_speaker_and_you_another_one(layout: str, lines: list[Line], names: bool) -> None:
    document = laid_out(lines, layout)
    found = revise(document, pronouns(document), BookPolicy(names=names))
    entity_at = {mention.words: mention.entity for mention in found.mentions if mention.entity is not None}
    turns = find_turns(document)
    speakers: dict[str, int | None] = {}
    for turn, quotation in zip(turns, (one for one in found.quotations if one.name), strict=True):
        inside = [mention for mention in found.mentions if turn.words.start <= mention.words.start < turn.words.end]
        said = {mention.entity for mention in inside if mention.facts.pronoun == FIRST_PERSON}
        meant = {mention.entity for mention in inside if mention.facts.pronoun == SECOND_PERSON}
        assert said <= {quotation.speaker}
        assert quotation.addressee is None or meant <= {quotation.addressee}
        assert quotation.speaker != quotation.addressee or quotation.speaker is None
        if turn.label is not None:
            assert entity_at[turn.label] == quotation.speaker
            assert speakers.setdefault(speaker_key(turn.speaker), quotation.speaker) == quotation.speaker
    assert len(set(speakers.values())) == len(speakers)
    assert list(found.mentions) == sorted(found.mentions, key=lambda mention: mention.words)
    again = revise(document, found.mentions, BookPolicy(names=names))
    assert [mention.entity for mention in again.mentions] == [mention.entity for mention in found.mentions]


@pytest.mark.parametrize("path", sorted(DIALOGUES.glob("*.txt")), ids=lambda path: path.stem)
def test_i_is_right_in_whole_dialogues(path: Path) -> None:
    lines = read_dialogue(path)
    layout = sorted(LAYOUTS)[len(lines) % len(LAYOUTS)]
    found = counts(longcoref.load(threads=1), lines, layout)
    assert found["I", True] >= 0.95 * (found["I", True] + found["I", False])
    assert found["you", True] >= 0.9 * (found["you", True] + found["you", False])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann saw Tom.\n\nHe said this: go home.\n\nNote: she left.",
        "From: Ann\nTo: Tom",
        "From: Ann\nTo: Tom\nSubject: The mill\nDate: Monday",
        "ACT I\n\nShe left.\n\nACT II\n\nHe left.\n\nACT III\n\nThey left.",
        "LETTER I\n\nANN HALE TO MRS. LEE.\n\nI left.\n\nLETTER II\n\nANN HALE TO MRS. LEE.\n\nI am here.",
        "https: //example.org\nhttps: //example.com",
    ],
)
def test_prose_letters_and_headings_have_no_turns(text: str) -> None:
    assert find_turns(tokenize(text)) == []


def test_stage_directions_and_times_are_not_spoken() -> None:
    text = (
        "ACT I\n\nANN. I saw you.\n\n[She sits. TOM enters.]\n\nGive me that.\n\nACT II\n\nTOM. Why?\n\n"
        "ANN (aside). He knows.\n\nTOM. I do."
    )
    document = tokenize(text)
    said = [(turn.speaker, document.text_of(turn.words), turn.continues) for turn in find_turns(document)]
    assert said == [
        ("ANN", "I saw you.", False),
        ("ANN", "Give me that.", True),
        ("TOM", "Why?", False),
        ("ANN", "He knows.", False),
        ("TOM", "I do.", False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ACT I", True),
        ("Scene I. A room.", True),
        ("  PART I\n\nHe left.", True),
        ("The part I like", False),
        ("it was the\npart I like", False),
        ("Part I like best is this.", False),
        ("So did I", False),
    ],
)
def test_the_number_of_a_heading_is_no_pronoun(text: str, expected: bool) -> None:
    document = tokenize(text)
    assert is_heading_number(document, document.words.index("I")) is expected
    mentions = pronouns(document)
    assert [one.entity is None for one in revise(document, mentions).mentions] == [expected]


def test_a_time_in_the_opening_of_a_turn_is_no_mention() -> None:
    document = tokenize("[10:02] ann: hi\n[10:03] tom: hi ann\n[10:04] ann: bye\n")
    time = MentionRecord.of(document, WordSpan(0, 4), kind="NOM", type="PER", entity=0, score=0.5)
    found = revise(document, [time])
    assert [mention.text for mention in found.mentions if mention.entity is not None] == ["ann", "tom", "ann"]


def test_speakers_that_are_given_are_kept_in_our_json() -> None:
    document = laid_out([Line("Ann", "", "I saw you.", frozenset()), Line("Tom", "", "Me?", frozenset())], GIVEN)
    assert [run["speaker"] for run in document_record(document)["speakers"]] == ["Ann", "Tom"]
    assert [turn.speaker for turn in find_turns(document)] == ["Ann", "Tom"]
    assert find_turns(replace(document, speakers=None)) == []
