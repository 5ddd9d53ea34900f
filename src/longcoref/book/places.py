"""Places, and whatever else has a name without being a person: one name, one entity."""

from __future__ import annotations

from collections import Counter, defaultdict

from longcoref.book.numbers import MOVED
from longcoref.book.table import Table
from longcoref.cancellation import cancellable


def identify_places(table: Table) -> None:
    """Moves the name of a place to the entity that it mostly names, and all of an entity that mostly has this name."""
    places = place_names(table)
    called: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in table.rows:
        if row.mention.kind == "PROP" and row.facts.exact in places and row.entity not in table.people:
            called[row.entity][row.facts.exact] += 1
    described = Counter(row.entity for row in table.rows if row.entity in called and not row.facts.pronoun)
    whole: dict[int, int] = {}
    for entity, names in called.items():
        name, count = names.most_common(1)[0]
        if 2 * count > described[entity]:
            whole[entity] = places[name]
    for row in cancellable(table.rows):
        if row.entity in whole:
            row.entity = whole[row.entity]
        elif row.entity in called and row.mention.kind == "PROP" and row.facts.exact in places:
            row.move(places[row.facts.exact], MOVED)
    table.people = table.find_people()


def place_names(table: Table) -> dict[str, int]:
    """The names that mostly do not refer to a person, each with the entity that it mostly names, or a new one."""
    votes: Counter[str] = Counter()
    entities: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for row in table.rows:
        if row.mention.kind == "PROP" and row.facts.exact:
            votes[row.facts.exact] += 1 if row.mention.type in ("PER", None) else -1
            if row.entity not in table.people:
                entities[row.facts.exact][row.entity] += 1
    new = table.new_entity()
    names = [name for name, count in votes.items() if count <= 0]
    return {
        name: entities[name].most_common(1)[0][0] if entities[name] else new + number
        for number, name in enumerate(names)
    }
