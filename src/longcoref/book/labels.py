"""Speakers whom a script, a chat or a transcript names: the label of a turn is a mention of its speaker."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from longcoref.book.dialogue import is_vocative
from longcoref.book.numbers import ONE_OF_SEVERAL, TURNS
from longcoref.book.table import Row, Table
from longcoref.document import Document
from longcoref.features.facts import FIRST_PERSON
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation
from longcoref.text.turns import Turn, find_turns, is_heading_number, speaker_key

_LABEL_SCORE = 1.0  # who speaks is written there


def with_labels(document: Document, mentions: Iterable[MentionRecord]) -> tuple[MentionRecord, ...]:
    """The mentions in text order, with one for each label of a speaker; the reader does not propose all of them.

    What else was proposed in the opening of a turn, such as a time, is rejected, and so is the number of a heading.
    """
    turns = [turn for turn in find_turns(document) if turn.label is not None]
    read = list(mentions)
    if turns:
        read = _labelled(document, read, turns)
    return tuple(
        replace(mention, entity=None)
        if mention.facts.pronoun == FIRST_PERSON and is_heading_number(document, mention.words.start)
        else mention
        for mention in read
    )


def _labelled(document: Document, mentions: Sequence[MentionRecord], turns: Sequence[Turn]) -> list[MentionRecord]:
    heads = [turn.head for turn in turns if turn.head is not None]
    starts, labels = [head.start for head in heads], {turn.label for turn in turns}

    def is_in_head(words: WordSpan) -> bool:
        number = bisect_left(starts, words.end) - 1
        return number >= 0 and words.start < heads[number].end and words not in labels

    kept = [replace(mention, entity=None) if is_in_head(mention.words) else mention for mention in mentions]
    known = {mention.words for mention in kept if mention.entity is not None}
    used = [number for mention in kept for number in (mention.entity, *(mention.revised_from or ())[:1])]
    first = 1 + max((int(number) for number in used if number is not None), default=-1)
    names = dict.fromkeys(speaker_key(turn.speaker) for turn in turns)
    entities = {name: first + number for number, name in enumerate(names)}
    types = {mention.type for mention in kept}
    added = [
        MentionRecord.of(
            document,
            turn.label,
            kind="PROP",
            type="PER" if types != {None} else None,
            entity=entities[speaker_key(turn.speaker)],
            score=_LABEL_SCORE,
        )
        for turn in turns
        if turn.label is not None and turn.label not in known
    ]
    replaced = {mention.words for mention in added}
    kept = [mention for mention in kept if mention.words not in replaced]
    return sorted([*kept, *added], key=lambda mention: mention.words)


def know_speakers(table: Table) -> None:
    """Gives the quotations of a script or a chat the speakers that it names, and their addressees.

    Everything that is called like a speaker is this speaker, and two speakers are two people.
    """
    named = [number for number, quotation in enumerate(table.quotations) if quotation.name]
    if not named:
        return
    entities = _speakers(table, Counter(speaker_key(table.quotations[number].name) for number in named))
    table.people |= set(entities.values())
    for number in named:
        quotation = table.quotations[number]
        speaker = entities[speaker_key(quotation.name)]
        table.quotations[number] = replace(quotation, speaker=speaker, score=_LABEL_SCORE)
    called = _called(table, set(entities.values()))
    turns = [table.quotations[number] for number in named]
    for place, number in enumerate(named):
        addressee, score = _addressee(turns, place, called.get(number))
        table.quotations[number] = replace(table.quotations[number], addressee=addressee, addressee_score=score)


def _speakers(table: Table, names: Counter[str]) -> dict[str, int]:
    """The entity of each speaker: the one that is called so, unless it belongs to another speaker, or a new one."""
    called: defaultdict[str, list[Row]] = defaultdict(list)
    for row in table.rows:
        if not row.facts.pronoun and (key := speaker_key(row.mention.text)) in names:
            called[key].append(row)
    new = table.new_entity()
    entities: dict[str, int] = {}
    taken: set[int] = set()
    for name, _ in names.most_common():
        votes = Counter(row.entity for row in called[name] if row.entity not in taken)
        entity = votes.most_common(1)[0][0] if votes else new + len(taken)
        entities[name] = entity
        taken.add(entity)
        for row in called[name]:
            row.move(entity, _LABEL_SCORE)
    return entities


def _called(table: Table, speakers: set[int]) -> dict[int, int]:
    """The speaker whom each quotation addresses by name, if there is one."""
    found: dict[int, int] = {}
    for row in table.rows:
        if row.quotation is None or row.facts.pronoun or row.entity not in speakers:
            continue
        if row.entity != table.quotations[row.quotation].speaker and is_vocative(table.document.words, row.words):
            found.setdefault(row.quotation, row.entity)
    return found


def _addressee(turns: Sequence[Quotation], place: int, called: int | None) -> tuple[int | None, float]:
    """Whom a turn is meant for: who is called, else the speaker before it, else the one after it."""
    speaker = turns[place].speaker
    before = [turn.speaker for turn in turns[max(0, place - TURNS) : place] if turn.speaker != speaker]
    after = [turn.speaker for turn in turns[place + 1 : place + 1 + TURNS] if turn.speaker != speaker]
    others = {*before, *after}
    if called is not None:
        return called, _LABEL_SCORE
    if not others:
        return None, 0.0
    return before[-1] if before else after[0], _LABEL_SCORE if len(others) == 1 else ONE_OF_SEVERAL
