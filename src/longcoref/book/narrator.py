"""The narrator: "I" outside quotations is one person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from longcoref.book.dialogue import is_vocative
from longcoref.book.numbers import CLEAR, MOVED, NARRATOR_SHARE
from longcoref.book.table import Row, Table
from longcoref.features.facts import FIRST_PERSON, HE_OR_SHE


def find_narrator(table: Table) -> None:
    """Makes one entity of all "I" outside quotations, and of the name by which others address the narrator."""
    outside = [row for row in table.rows if row.quotation is None]
    narrator = _narrator(table, outside)
    if narrator is None:
        return
    table.narrator = narrator
    table.people.add(narrator)
    for row in outside:
        if row.facts.pronoun == FIRST_PERSON:
            row.move(narrator, MOVED)
    addressed = _addressed(table)
    if addressed is None:
        return
    for row in table.rows:
        if row.entity == addressed:
            row.entity = narrator
        if addressed in row.shares:
            shares = dict(row.shares)
            shares[narrator] = shares.get(narrator, 0.0) + shares.pop(addressed)
            row.shares = shares


def _narrator(table: Table, outside: Sequence[Row]) -> int | None:
    """The entity of most "I" outside quotations, None if they are too few for a narrator."""
    found = Counter(row.entity for row in outside if row.facts.pronoun == FIRST_PERSON)
    others = sum(row.facts.pronoun in HE_OR_SHE for row in outside)
    if not found or found.total() < NARRATOR_SHARE * (found.total() + others):
        return None  # the "I" of a letter in a novel does not narrate the novel
    narrator, count = found.most_common(1)[0]
    # The narration does not name its narrator or call them "he", even where the reader put the two together.
    told = sum(row.entity == narrator and (row.name is not None or row.facts.pronoun in HE_OR_SHE) for row in outside)
    return narrator if CLEAR * told <= count else table.new_entity()


def _addressed(table: Table) -> int | None:
    """The person whom others often address by name and the narration never names."""
    vocatives: Counter[int] = Counter()
    narrated = set()
    for row in table.rows:
        if row.name is None:
            continue
        if row.quotation is None:
            narrated.add(row.entity)
        else:
            vocatives[row.entity] += is_vocative(table.document.words, row.words)
    fitting = [one for one, count in vocatives.items() if count >= CLEAR and one not in narrated]
    return max(fitting, key=vocatives.__getitem__, default=None)
