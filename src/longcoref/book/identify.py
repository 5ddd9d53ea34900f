"""First pass: corrects entities that mix or split people, using the names of the whole text.

An entity that is mostly called by the names of one person is that person, and the entities of one person become one.
In an entity with the names of several people, a name belongs to its person, "he" or "she" to the person named shortly
before if the gender allows, and everything else to the most frequently named person of fitting gender. The name of a
place in a person's entity is moved to that place, and a name with the family name of a person to its person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from longcoref.book.numbers import CLEAR, MOVED, NAME_REACH, SAME_CONVERSATION
from longcoref.book.people import people_of
from longcoref.book.places import place_names
from longcoref.book.table import Row, Table, clear_gender, genders_contradict
from longcoref.cancellation import cancellable
from longcoref.english.lexicon import TITLES
from longcoref.english.names import Name
from longcoref.features.facts import HE_OR_SHE

_IS = ("is", "was")


def identify_people(table: Table) -> None:
    """Assigns each mention of an entity with personal names to the person whom it refers to."""
    places = place_names(table)
    families = {row.name.family for row in table.rows if row.name and row.name.title and row.entity in table.people}
    families.discard("")
    named = [
        (row, row.name)
        for row in table.rows
        if row.name is not None
        and (row.facts.exact not in places if row.entity in table.people else row.name.family in families)
    ]
    people, owner = people_of(Counter(name for _, name in named), _genders(table.rows, named))
    first = max(table.new_entity(), 1 + max(places.values(), default=0))
    called: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, name in named:
        if name in owner and row.entity in table.people:
            called[row.entity][first + owner[name]] += 1
        elif name in owner:
            row.move(first + owner[name], MOVED)
    members = _Members(called, {first + number: person.usual_gender for number, person in enumerate(people)})
    for row in cancellable(table.rows):
        entity = row.entity
        row.rivals = tuple(
            (members.meant(rival, row) if rival in called else rival, score) for rival, score in row.rivals
        )
        if row.mention.kind == "PROP" and entity in table.people and row.facts.exact in places:
            row.move(places[row.facts.exact], MOVED)
        elif entity in called:
            near = members.recently_named(entity, row)
            number = None if row.name is None else owner.get(row.name)
            person = members.meant(entity, row) if number is None else first + number
            if person == members.main(entity):
                row.entity = person  # the whole entity is this person
            else:
                row.move(person, MOVED)
            if row.name is not None or near is not None:
                members.remember(entity, row.entity, row)
    table.people = table.find_people()


def join_introduced(table: Table) -> None:
    """Makes one entity of a person without a name and the name that the text gives them: "His name was Ned Moss".

    The person must have appeared shortly before, because a "his" that the reader took for somebody else must not give
    a name to all that it knows about them.
    """
    words = table.document.words
    named = {row.entity for row in table.rows if row.name is not None}
    first: dict[int, int] = {}
    owners: dict[int, Row] = {}
    joined: dict[int, int] = {}
    for row in cancellable(table.rows):
        start = row.words.start
        first.setdefault(row.entity, start)
        if row.facts.pronoun in HE_OR_SHE:
            owners[start] = row
        owner = owners.get(start - 3)
        if row.name is None or owner is None or owner.entity in named or owner.entity not in table.people:
            continue
        is_introduction = words[start - 2] == "name" and words[start - 1] in _IS
        if is_introduction and start - first[owner.entity] <= SAME_CONVERSATION:
            joined.setdefault(owner.entity, row.entity)
    _join(table, joined)


def join_titled(table: Table) -> None:
    """Makes one entity of a person who is called by a title alone and the one whose name has it: the doctor, Dr. Moss.

    The title must clearly be this person's, and occur a few times. Those that show a certain gender are also common
    words ("the lady"), unless they have a capital ("the Count").
    """
    words = table.document.words
    titled: defaultdict[str, Counter[int]] = defaultdict(Counter)
    called: defaultdict[int, Counter[str]] = defaultdict(Counter)
    genders: defaultdict[int, Counter[int]] = defaultdict(Counter)
    named: set[int] = set()
    for row in cancellable(table.rows):
        if row.gender:
            genders[row.entity][row.gender] += 1
        if row.name is not None:
            named.add(row.entity)
            titled[row.name.title][row.entity] += 1
        elif not row.facts.pronoun:
            called[row.entity][_title_alone(words[slice(*row.words)])] += 1
    titled.pop("", None)
    joined: dict[int, int] = {}
    for entity, descriptions in called.items():
        title, count = descriptions.most_common(1)[0]
        if entity in named or entity not in table.people or title not in titled:
            continue
        (person, most), *others = titled[title].most_common(2)
        if most < CLEAR * max([1, *(count for _, count in others)]):
            continue
        if 2 * count > descriptions.total() and not genders_contradict(
            *map(clear_gender, (genders[entity], genders[person]))
        ):
            joined[entity] = person
    _join(table, joined)


def _title_alone(words: Sequence[str]) -> str:
    """The title that a mention consists of, apart from "the"; "" if it does not."""
    if len(words) != 2 or words[0].lower() != "the" or words[1].lower() not in TITLES:
        return ""
    title = TITLES[words[1].lower()]
    return title.name if not title.gender or not title.certain or words[1][0].isupper() else ""


def _join(table: Table, joined: Mapping[int, int]) -> None:
    """Makes each of some entities part of another."""
    for row in table.rows:
        row.entity = joined.get(row.entity, row.entity)
        row.rivals = tuple((joined.get(rival, rival), score) for rival, score in row.rivals)
    table.people = table.find_people()


class _Members:
    """The people in each entity of the reader, and the names in it that came last."""

    def __init__(self, called: dict[int, Counter[int]], genders: dict[int, int]) -> None:
        self._recent: defaultdict[int, dict[int, int]] = defaultdict(dict)  # where each was named last, in text order

        @cache
        def fitting(entity: int, gender: int) -> dict[int, None]:
            """The people of an entity who may be of a gender, the most frequently named first; all if nobody fits."""
            people = [person for person, _ in called[entity].most_common()]
            return dict.fromkeys([one for one in people if not genders_contradict(gender, genders[one])] or people)

        self._fitting = fitting

    def main(self, entity: int) -> int:
        """The person whose names an entity mostly has."""
        return next(iter(self._fitting(entity, 0)))

    def meant(self, entity: int, row: Row) -> int:
        """The person of an entity whom a mention would refer to."""
        near = self.recently_named(entity, row)
        return next(iter(self._fitting(entity, row.gender))) if near is None else near

    def recently_named(self, entity: int, row: Row) -> int | None:
        """The person of the last fitting name in an entity, if the mention is a "he" or "she" shortly after it."""
        if row.facts.pronoun not in HE_OR_SHE:
            return None
        fitting = self._fitting(entity, row.gender)
        for person, place in reversed(self._recent[entity].items()):
            if row.words.start - place > NAME_REACH:
                return None
            if person in fitting:
                return person
        return None

    def remember(self, entity: int, person: int, row: Row) -> None:
        """Notes that a mention in an entity refers to a person."""
        self._recent[entity].pop(person, None)
        self._recent[entity][person] = row.words.start


def _genders(rows: Sequence[Row], named: Sequence[tuple[Row, Name]]) -> dict[Name, Counter[int]]:
    """How often each name is in an entity that is clearly "he", and in one that is clearly "she".

    An entity that is often both mixes several people, and says nothing about the names in it. Nor does a stray "her".
    """
    pronouns: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row in rows:
        if row.facts.pronoun and row.gender:
            pronouns[row.entity][row.gender] += 1
    genders: defaultdict[Name, Counter[int]] = defaultdict(Counter)
    for row, name in named:
        if gender := clear_gender(pronouns[row.entity]):
            genders[name][gender] += 1
    return genders
