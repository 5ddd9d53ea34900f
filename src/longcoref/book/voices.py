"""People who talk to each other are not one: "said Ann", and in the next turn "said the fox".

The reader may make one entity of two people in a long conversation. Two names are told apart by `book.identify`; here,
a description is told apart from the rest of its entity if the two talk to each other: they speak in turn, or one
addresses the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator

from longcoref.book.dialogue import is_vocative
from longcoref.book.numbers import CLEAR, MOVED, TAG
from longcoref.book.table import Row, Table
from longcoref.cancellation import cancellable
from longcoref.english.lexicon import SPEECH_VERBS

_BREAK = re.compile(r"\n\s*\n\s*")  # between paragraphs


def separate_voices(table: Table) -> None:
    """Makes an entity of its own of each description in an entity that talks to the others in it."""
    told_apart = _told_apart(table)
    if not told_apart:
        return
    for row in table.rows:
        if not row.facts.pronoun and (row.entity, _voice(row)) in told_apart:
            row.move(told_apart[row.entity, _voice(row)], MOVED)
    table.people = table.find_people()


def _told_apart(table: Table) -> dict[tuple[int, str], int]:
    """The new entity of each description, by the entity and the head word, that is not the rest of its entity."""
    within: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    outside: Counter[tuple[int, str]] = Counter()
    for pair in _meetings(table):
        for row, other in (pair, pair[::-1]):
            if row.entity == other.entity:
                within[row.entity, _voice(row)][_voice(other)] += 1
            else:
                outside[row.entity, _voice(row)] += 1
    usual: defaultdict[int, Counter[str]] = defaultdict(Counter)
    mixed = {entity for entity, _ in within}
    for row in table.rows:
        if row.entity in mixed and not row.facts.pronoun:
            usual[row.entity][_voice(row)] += 1
    new, found = table.new_entity(), dict[tuple[int, str], int]()
    for (entity, voice), others in within.items():
        main = "" if usual[entity][""] else usual[entity].most_common(1)[0][0]
        met = others[main]
        if voice != main and entity in table.people and met >= CLEAR and CLEAR * met >= outside[entity, voice]:
            found[entity, voice] = new + len(found)
    return found


def _voice(row: Row) -> str:
    """What tells voices of an entity apart: the head word of a description; all names of an entity are one person's."""
    return "" if row.name is not None else row.facts.head


def _meetings(table: Table) -> Iterator[tuple[Row, Row]]:
    """Pairs of a speaker, as a tag calls them, and somebody they talk to: who is addressed, and who speaks next."""
    text, words = table.document.text, table.document.words
    addressed: defaultdict[int, list[Row]] = defaultdict(list)
    for row in table.rows:
        if row.quotation is not None and not row.facts.pronoun and is_vocative(words, row.words):
            addressed[row.quotation].append(row)
    tags = _tags(table)
    last: Row | None = None  # the speaker of the turn in the paragraph before,
    speaker: Row | None = None  # and of this one
    end = 0
    for number, quotation in enumerate(cancellable(table.quotations)):
        between = text[end : quotation.start]
        end = quotation.end
        if not quotation.continues and (breaks := _BREAK.findall(between)):
            last, speaker = speaker if len(breaks) == 1 and not between.split(breaks[0])[1] else None, None
        if speaker is None and (speaker := tags.get(number)) is not None and last is not None:
            yield last, speaker
        if speaker is not None:
            yield from ((speaker, row) for row in addressed[number])


def _tags(table: Table) -> dict[int, Row]:
    """The name or description in the tag after each quotation that has one: "Go," said Ann."""
    words, starts = table.document.words, [row.words.start for row in table.rows]
    found: dict[int, Row] = {}
    for number, quotation in enumerate(table.quotations):
        end = quotation.words.end
        for row in table.rows[bisect_left(starts, end) : bisect_left(starts, end + TAG)]:
            around = (*words[end : row.words.start], *words[row.words.end : row.words.end + 1])
            if not row.facts.pronoun and row.quotation is None and not SPEECH_VERBS.isdisjoint(around):
                found[number] = row
                break
    return found
