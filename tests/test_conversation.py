"""The speakers of a conversation are decided together."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.book.choice import learned_weights, masses, normalized
from longcoref.book.conversation import Turns, Utterance, decide
from longcoref.book.dialogue import Dialogue
from longcoref.book.revision import revise
from longcoref.book.speakers import speaker_candidates, utterance_of
from longcoref.book.table import Table
from longcoref.text import tokenize
from longcoref.text.quotations import find_quotations
from test_speech import MENTIONS, TEXT, seen

PEOPLE = (0, 1, 2)
MASSES = st.floats(0.01, 10)
UTTERANCES = st.builds(
    Utterance,
    alone=st.dictionaries(st.sampled_from(PEOPLE), MASSES),
    returning=st.dictionaries(st.sampled_from(PEOPLE), MASSES),
    usual=MASSES,
    turns=st.tuples(MASSES, MASSES),
)


def all_ways(conversation: list[Utterance]) -> list[dict[int, float]]:
    """The probabilities of all speakers by trying every way in which the turns may have gone."""
    found: list[defaultdict[int, float]] = [defaultdict(float) for _ in conversation]
    for speakers in product((*PEOPLE, None), repeat=len(conversation)):
        turns, mass = Turns(), 1.0
        for utterance, speaker in zip(conversation, speakers, strict=True):
            mass *= utterance.masses(turns).get(speaker, 0.0)
            turns = turns.then(speaker)
        for probabilities, speaker in zip(found, speakers, strict=True):
            if speaker is not None and mass:
                probabilities[speaker] += mass
    return [normalized(probabilities) for probabilities in found]


@given(st.lists(UTTERANCES, max_size=4))
def test_the_probabilities_are_those_of_all_ways_in_which_the_turns_may_have_gone(
    conversation: list[Utterance],
) -> None:
    with patch("longcoref.book.conversation.HISTORIES", 1000):  # otherwise unlikely ways are left out
        decided = decide(conversation)
    assert len(decided) == len(conversation)
    for found, expected in zip(decided, all_ways(conversation), strict=True):
        assert found == pytest.approx(expected)


def test_an_utterance_is_what_the_cues_were_learned_as() -> None:
    document = tokenize(TEXT)
    table = Table.of(document, seen(document, MENTIONS))
    table.put_quotations(find_quotations(document))
    dialogue = Dialogue(document, table.quotations, table.rows)
    weights = learned_weights()["speaker"]
    for number in range(1, len(table.quotations)):
        for turns in (Turns(), Turns(0), Turns(0, 1), Turns(1, 0), Turns(7, 1)):
            found = utterance_of(dialogue, number, weights).masses(turns)
            assert found == pytest.approx(masses(speaker_candidates(dialogue, number, turns), weights))


@pytest.mark.parametrize("last", ["Ann", "Bella"])
def test_a_tag_says_who_spoke_before_it(last: str) -> None:
    document = tokenize(f'Ann looked at Bella.\n\n"Where?"\n\n"At home."\n\n"All day?"\n\n"Yes," said {last}.')
    people = {"Ann": 0, "Bella": 1}
    mentions = seen(document, [(name, people[name], "PROP") for name in ("Ann", "Bella", last)])
    speakers = [quotation.speaker for quotation in revise(document, mentions).quotations]
    assert speakers == [1 - people[last], people[last]] * 2


def test_a_long_conversation_of_many_people_is_decided() -> None:
    everybody = Utterance(dict.fromkeys(range(30), 1.0), {}, 1.0, (0.5, 2.0))
    decided = decide([everybody] * 20)
    assert all(sum(found.values()) == pytest.approx(1) for found in decided)
