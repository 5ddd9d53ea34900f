"""Speakers, addressees, pronouns and the narrator in post-processing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longcoref.book import revision
from longcoref.book.choice import learned_weights
from longcoref.book.revision import BookPolicy, revise
from longcoref.book.speakers import ADDRESSEE_CUES, SPEAKER_CUES
from longcoref.document import Document
from longcoref.mention import MentionRecord
from longcoref.outcome import collect
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import Quotation

TEXT = """Mrs. Hallow kept the inn. "I never saw him," said Mrs. Hallow to Lydia. "You must ask the old man."

"But I asked him, mother," cried Lydia.

"Then you shall ask again, my dear."

Lydia laughed."""


def seen(document: Document, mentions: list[tuple[str, int, str]]) -> list[MentionRecord]:
    """Mentions given by their words, in text order, with entity and kind."""
    found: list[MentionRecord] = []
    place = 0
    for text, entity, kind in mentions:
        words = text.split()
        while list(document.words[place : place + len(words)]) != words:
            place += 1
        span = WordSpan(place, place + len(words))
        found.append(MentionRecord.of(document, span, kind=kind, type="PER", entity=entity, score=0.5))
        place += 1
    return found


def entities_of(
    document: Document, mentions: list[MentionRecord], *, names: bool = True, speech: bool = True
) -> list[int | None]:
    """The entity of each mention after post-processing."""
    revision = revise(document, mentions, BookPolicy(names=names, speech=speech))
    return [mention.entity for mention in revision.mentions]


MENTIONS = [
    ("Mrs. Hallow", 0, "PROP"),
    ("I", 9, "PRON"),
    ("him", 3, "PRON"),
    ("Mrs. Hallow", 0, "PROP"),
    ("Lydia", 1, "PROP"),
    ("You", 9, "PRON"),
    ("the old man", 3, "NOM"),
    ("I", 9, "PRON"),
    ("him", 3, "PRON"),
    ("mother", 0, "NOM"),
    ("Lydia", 1, "PROP"),
    ("you", 9, "PRON"),
    ("my dear", 8, "NOM"),
    ("Lydia", 5, "PROP"),
]


def test_the_weights_are_those_of_the_cues() -> None:
    weights = learned_weights()
    assert tuple(weights["speaker"]) == SPEAKER_CUES
    assert tuple(weights["addressee"]) == ADDRESSEE_CUES


def test_speakers_and_addressees_take_turns() -> None:
    document = tokenize(TEXT)
    revision = revise(document, seen(document, MENTIONS))
    hallow, lydia = revision.mentions[0].entity, revision.mentions[4].entity
    pairs = [(quotation.speaker, quotation.addressee) for quotation in revision.quotations]
    assert pairs == [(hallow, lydia), (hallow, lydia), (lydia, hallow), (hallow, lydia)]
    assert all(0 < quotation.score <= 1 for quotation in revision.quotations)


def test_i_is_the_speaker_and_you_the_addressee() -> None:
    document = tokenize(TEXT)
    mentions = seen(document, MENTIONS)
    entities = entities_of(document, mentions, names=False)
    hallow, lydia = entities[0], entities[4]
    voices = {number: entities[number] for number, mention in enumerate(mentions) if mention.entity in (8, 9)}
    assert voices == {1: hallow, 5: lydia, 7: lydia, 11: lydia, 12: lydia}
    unmoved = entities_of(document, mentions, names=False, speech=False)
    assert len(set(unmoved)) == len(set(zip(unmoved, (mention.entity for mention in mentions), strict=True))) == 6


def test_entities_are_numbered_in_order_of_first_mention() -> None:
    document = tokenize(TEXT)
    entities = entities_of(document, seen(document, MENTIONS))
    assert list(dict.fromkeys(entities)) == list(range(len(set(entities))))


def test_entities_with_one_person_s_names_become_one() -> None:
    document = tokenize(TEXT)
    entities = entities_of(document, seen(document, MENTIONS), speech=False)
    assert entities[-1] == entities[4]


def test_speakers_are_looked_for_only_if_speech_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    document = tokenize(TEXT)
    mentions = seen(document, MENTIONS)
    sought: list[Document] = []
    find = revision.find_quotations

    def counted(document: Document) -> list[Quotation]:
        sought.append(document)
        return find(document)

    monkeypatch.setattr(revision, "find_quotations", counted)
    revise(document, mentions, BookPolicy(speech=False))
    assert sought == []
    revise(document, mentions, BookPolicy())
    assert sought == [document]


def test_a_narrator_is_one_entity() -> None:
    document = tokenize("I went. I saw. I slept. I ate. I left.")
    mentions = seen(document, [("I", entity, "PRON") for entity in (0, 0, 1, 0, 2)])
    assert entities_of(document, mentions) == [0] * 5
    few = tokenize("I went. I saw. " + "He left. " * 20)
    told = [("He", 2, "PRON")] * 20
    assert entities_of(few, seen(few, [("I", 0, "PRON"), ("I", 1, "PRON"), *told]))[:2] == [0, 1]


def test_who_is_named_in_one_entity_with_another_is_taken_out_of_it() -> None:
    document = tokenize(
        "Mr. Hallow sat. He slept. Mrs. Hallow sang. She smiled. Mr. Hallow woke. Mrs. Hallow danced. His hat fell."
    )
    texts = ("Mr. Hallow", "He", "Mrs. Hallow", "She", "Mr. Hallow", "Mrs. Hallow", "His")
    mentions = seen(document, [(text, 0, "PRON" if len(text) < 4 else "PROP") for text in texts])
    assert entities_of(document, mentions) == [0, 0, 1, 1, 0, 1, 0]
    assert entities_of(document, mentions, names=False) == [0] * 7


def test_an_entity_of_he_and_she_says_nothing_about_the_gender_of_its_names() -> None:
    document = tokenize("Philip ran. He fell. He wept. Emma came. He rose. She smiled.")
    mentions = [("Philip", 0, "PROP"), ("He", 0, "PRON"), ("He", 0, "PRON"), ("Emma", 0, "PROP")]
    mentions += [("He", 0, "PRON"), ("She", 0, "PRON")]
    assert entities_of(document, seen(document, mentions)) == [0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("first", ["Mr. Hallow", "Tom"])
def test_a_pronoun_that_cannot_be_whom_it_was_given_to_goes_to_the_likeliest_other(first: str) -> None:
    """Tom is entities 0 and 2 of the memory: together they are likelier than the tramp; Ann is out of the question."""
    document = tokenize(f"{first} met a tramp. {first} nodded. Ann sang. Miss Ann Moss left. Then he ran.")
    ann = [("Ann", 3, "PROP"), ("Miss Ann Moss", 3, "PROP")]
    mentions = seen(document, [(first, 0, "PROP"), ("a tramp", 1, "NOM"), (first, 2, "PROP"), *ann, ("he", 3, "PRON")])
    mentions[-1] = replace(mentions[-1], rivals=((3, 4.0), (1, 2.0), (0, 1.8), (2, 1.6)))
    assert entities_of(document, mentions)[-1] == 0
    assert entities_of(document, mentions, names=False)[-1] == 1


def test_the_memory_is_not_overruled_without_a_reason() -> None:
    document = tokenize("Ned Crake met Tom Moss. Tom Moss slept. Tom Moss woke. Then he ran.")
    names = [("Ned Crake", 1, "PROP"), ("Tom Moss", 0, "PROP"), ("Tom Moss", 2, "PROP"), ("Tom Moss", 2, "PROP")]
    mentions = seen(document, [*names, ("he", 1, "PRON")])
    mentions[-1] = replace(mentions[-1], rivals=((1, 2.0), (0, 1.9), (2, 1.9)))
    assert entities_of(document, mentions) == [0, 1, 1, 1, 0]


def test_who_was_long_not_named_is_hardly_meant() -> None:
    names = [("Ned Crake", 0, "PROP"), ("Tom Moss", 1, "PROP")]
    for words, meant in ((10, 0), (500, 1)):
        document = tokenize(f"Ned Crake came. {'It rained and rained. ' * (words // 5)} Tom Moss came. Then he ran.")
        mentions = seen(document, [*names, ("he", 0, "PRON")])
        mentions[-1] = replace(mentions[-1], rivals=((0, 2.0), (1, 0.5)))
        assert entities_of(document, mentions) == [0, 1, meant]


def test_he_in_a_quotation_is_rather_not_its_speaker() -> None:
    document = tokenize(
        'Tom Moss came in. Ned Crake slept. Ned Crake snored. "He is tired," said Tom Moss. "He is old," said Tom Moss.'
    )
    names = [("Tom Moss", 0, "PROP"), ("Ned Crake", 1, "PROP"), ("Ned Crake", 1, "PROP")]
    said = [("He", 0, "PRON"), ("Tom Moss", 0, "PROP")]
    mentions = [
        replace(mention, rivals=((0, 2.0), (1, 1.9))) if mention.kind == "PRON" else mention
        for mention in seen(document, [*names, *said, *said])
    ]
    assert entities_of(document, mentions) == [0, 1, 1, 1, 0, 1, 0]
    assert entities_of(document, mentions, speech=False) == [0, 1, 1, 0, 0, 0, 0]


def test_a_narrator_has_the_name_that_others_call() -> None:
    talk = 'I sat. "Up, Crake!" said Ann. I rose. "Go, Crake!" said Ann. I ran. "Ah, Crake!" said Ann. I fell. I wept.'
    mentions = [("Crake", 1, "PROP"), ("Ann", 2, "PROP"), ("I", 0, "PRON")]
    document = tokenize(talk)
    called = seen(document, [("I", 0, "PRON"), *mentions, *mentions, *mentions, ("I", 0, "PRON")])
    assert entities_of(document, called) == [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0]
    named = tokenize(f"{talk} Crake was gone.")
    twice = seen(named, [("I", 0, "PRON"), *mentions, *mentions, *mentions, ("I", 0, "PRON"), ("Crake", 1, "PROP")])
    assert entities_of(named, twice)[1] == entities_of(named, twice)[-1] == 1


def test_a_place_among_a_person_s_names_is_that_place() -> None:
    document = tokenize("Ann Moss came to Saltby. She liked Saltby. Saltby slept. Ann Moss sang.")
    people = [("Ann Moss", 0, "PROP"), ("Saltby", 0, "PROP"), ("She", 0, "PRON"), ("Saltby", 1, "PROP")]
    mentions = seen(document, [*people, ("Saltby", 1, "PROP"), ("Ann Moss", 0, "PROP")])
    places = (1, 3, 4)
    mentions = [
        replace(mention, type="GPE") if number in places else mention for number, mention in enumerate(mentions)
    ]
    assert entities_of(document, mentions) == [0, 1, 0, 1, 1, 0]
    assert entities_of(document, mentions[:3]) == [0, 1, 0]  # a place with no entity of its own gets one


def test_who_tells_a_story_is_not_whom_it_names() -> None:
    document = tokenize("Crake sat. I sat. He ate. I ate. Crake slept. I slept. I woke. I rose. I left.")
    texts = ("Crake", "I", "He", "I", "Crake", "I", "I", "I", "I")
    mentions = seen(document, [(text, 0, "PROP" if text == "Crake" else "PRON") for text in texts])
    assert entities_of(document, mentions) == [0, 1, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("tag", ["said Ann,", "she said,", "said Ann to Tom,", "cried poor old Ann, and sat;"])
def test_a_speech_that_a_tag_interrupts_has_one_speaker(tag: str) -> None:
    document = tokenize(f'Tom came in. Tom and Ann sat. Tom coughed. "Well," {tag} "this is Tom."')
    known = {"Tom": (0, "PROP"), "Ann": (1, "PROP"), "she": (0, "PRON")}
    mentions = seen(document, [(word, *known[word]) for word in document.words if word in known])
    first, second = revise(document, mentions, BookPolicy(names=False)).quotations
    assert (first.speaker, first.score, first.addressee) == (second.speaker, second.score, second.addressee)
    assert first.speaker is not None


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I am Tom Crake.", True),
        ("Well, my name is Tom Crake, sir.", True),
        ("His name is Tom Crake.", False),
        ("I am Tom Crake's aunt.", False),
        ("I am here, Tom Crake.", False),
    ],
)
def test_who_says_their_name_has_it(said: str, *, known: bool) -> None:
    document = tokenize(f'Tom Crake slept. Ann Moss rose. "{said}" said Ann Moss.')
    crake, moss = ("Tom Crake", 0, "PROP"), ("Ann Moss", 1, "PROP")
    (quotation,) = revise(document, seen(document, [crake, moss, crake, moss])).quotations
    assert quotation.speaker == (0 if known else 1)


def test_he_said_is_who_speaks() -> None:
    document = tokenize('Ned Moss sat with Tom Crake. "Go, Tom Crake," said Ned Moss. "Quick, Tom Crake," he said.')
    moss, crake = ("Ned Moss", 0, "PROP"), ("Tom Crake", 1, "PROP")
    mentions = seen(document, [moss, crake, crake, moss, crake, ("he", 1, "PRON")])
    mentions[-1] = replace(mentions[-1], rivals=((1, 2.0), (0, 1.9)))
    assert [quotation.speaker for quotation in revise(document, mentions).quotations] == [0, 0]
    assert entities_of(document, mentions) == [0, 1, 1, 0, 1, 0]


def test_a_letter_in_a_novel_makes_no_narrator() -> None:
    document = tokenize("He ran. " * 60 + "I am. I was. I do. I did. I may.")
    mentions = seen(document, [*([("He", 0, "PRON")] * 60), *(("I", 1 + number % 2, "PRON") for number in range(5))])
    assert entities_of(document, mentions)[60:] == [1, 2, 1, 2, 1]


def test_a_text_without_quotations_or_mentions() -> None:
    assert entities_of(tokenize(""), []) == []
    assert revise(tokenize('"Hush!"'), []).quotations[0].speaker is None


def test_a_narrator_without_a_name_is_called_i() -> None:
    text = 'I sat. I ate. "Come, my boy," said Ann. I rose. I ran. I wept.'
    document = tokenize(text)
    mentions = [("I", 0, "PRON"), ("I", 0, "PRON"), ("my boy", 0, "NOM"), ("Ann", 1, "PROP"), *[("I", 0, "PRON")] * 3]
    found = seen(document, mentions)
    revision = revise(document, found)
    clusters = collect(revision.mentions, narrator=revision.narrator)
    assert [cluster.name for cluster in clusters] == ["I", "Ann"]
    assert [cluster.name for cluster in collect(found)] == ["my boy", "Ann"]
