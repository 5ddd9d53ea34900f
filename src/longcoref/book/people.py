"""From the names of a whole text to the people who have them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from longcoref.book.numbers import CLEAR
from longcoref.book.table import clear_gender, genders_contradict
from longcoref.cancellation import cancellable
from longcoref.english.names import Name, contradict


@dataclass(slots=True)
class Person:
    """Names of one person with how often each occurs, and the genders of the pronouns that refer to them.

    Names are kept without middle parts, which nothing depends on, so a person has few.
    """

    names: Counter[Name] = field(default_factory=Counter)
    genders: Counter[int] = field(default_factory=Counter)
    count: int = 0

    def add(self, name: Name, count: int, genders: Counter[int]) -> None:
        """Gives the person a name."""
        self.names[name.short] += count
        self.genders.update(genders)
        self.count += count

    @property
    def gender(self) -> int:
        """The gender that titles show, or else pronouns; 0 if neither is clear."""
        return self._titles(lambda name: name.gender) or clear_gender(self.genders)

    @property
    def usual_gender(self) -> int:
        """The gender, or else the one that people with these titles usually have; 0 if nothing is clear."""
        return self.gender or self._titles(lambda name: name.usual_gender)

    def _titles(self, gender_of: Callable[[Name], int]) -> int:
        votes = Counter[int]()
        for name, count in self.names.items():
            votes[gender_of(name)] += CLEAR * count
        del votes[0]
        return clear_gender(votes)

    def fits(self, name: Name, genders: Counter[int]) -> bool:
        """Whether a name that pronouns of these genders refer to can be this person's."""
        own, theirs = name.gender or clear_gender(genders), self.gender
        if not any(name.shares_given(other) for other in self.names):
            own, theirs = own or name.usual_gender, self.usual_gender
        if genders_contradict(own, theirs):
            return False
        if name.titled and not any(
            other.family == name.titled or (other.title == name.title and name.calls_by_given(other))
            for other in self.names
        ):
            return False  # Mrs. Rachel is a Mrs. Rachel Hallow, not any Rachel
        # Percy and Blakeney, each alone, are one person if somebody is called Percy Blakeney.
        parts = {part for other in self.names if len(other.parts) > 1 for part in (other.given, other.family)}
        compared = (other for other in self.names if not (name.alone in parts and other.alone in parts))
        against = sum(self.names[other] for other in compared if _contradict(name.short, other))
        return CLEAR * against <= self.count - against


@lru_cache(maxsize=65536)
def _contradict(first: Name, second: Name) -> bool:
    return contradict(first, second)


class _Register:
    """People by their names, so that a name is compared only with people whom it may fit."""

    def __init__(self) -> None:
        self.people: list[Person] = []
        self._by_part: defaultdict[str, set[int]] = defaultdict(set)
        self._by_full: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._by_initial: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._by_letter: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, name: Name, number: int, count: int, genders: Counter[int]) -> None:
        """Gives a name to a person."""
        self.people[number].add(name, count, genders)
        for part in {name.given, name.family, name.alone, *name.parts} - {""}:
            self._by_part[part].add(number)
        if len(name.parts) > 1:
            if len(name.given) == 1:
                self._by_letter[name.given].add(number)
            self._by_full[name.given, name.family].add(number)
            self._by_initial[name.given[:1], name.family].add(number)

    def near(self, name: Name) -> set[int]:
        """The people who share a part with a name; for a full name, a given name that agrees and the family name.

        Full names are added first, and two of them are one person's only if both parts agree. A given name that nobody
        has may be the L. of L. Arden.
        """
        if len(name.parts) == 1:
            parts = {name.given, name.family, name.alone} - {""}
            found = set[int]().union(*(self._by_part.get(part, ()) for part in parts))
            return found or (self._by_letter.get(name.alone[:1], set()) if name.usual_gender else found)
        if len(name.given) == 1:
            return self._by_initial.get((name.given, name.family), set())
        return self._by_full.get((name.given, name.family), set()) | self._by_full.get(
            (name.given[:1], name.family), set()
        )


def people_of(names: Mapping[Name, int], genders: Mapping[Name, Counter[int]]) -> tuple[list[Person], dict[Name, int]]:
    """The people that the names of a text belong to, and the number of the person of each name.

    `names` has how often each name occurs, `genders` the pronouns that refer to it. Full names come first, then names
    with a title, then single names; frequent names before rare ones. A name that fits several people belongs to the one
    who is named much more often than the others, or else to nobody.
    """
    register = _Register()
    people, owner = register.people, dict[Name, int]()

    def rank(name: Name) -> tuple[bool, bool, bool, int]:
        # Of two women with one family name, the one who also has a given name is more often Miss than Mrs.
        return len(name.parts) < 2, not name.title, name.married is True, -names[name]

    for name in cancellable(sorted(names, key=rank)):
        shown = genders.get(name, Counter())
        fitting = [number for number in register.near(name) if people[number].fits(name, shown)]
        fitting = sorted(_same_part(name, fitting, people), key=lambda number: (-people[number].count, number))
        if not fitting:
            number = len(people)
        elif len(fitting) == 1 or people[fitting[0]].count >= CLEAR * people[fitting[1]].count:
            number = fitting[0]
        elif name.title and names[name] >= people[fitting[0]].count:
            number = len(people)  # the family member who is called by the family name: the others have a given name
        else:
            continue
        if number == len(people):
            people.append(Person())
        register.add(name, number, names[name], shown)
        owner[name] = number
    return people, owner


def _same_part(name: Name, numbers: Iterable[int], people: Sequence[Person]) -> list[int]:
    """Of people who share a part with a name, those who have it in the same position, if there are any.

    If some of them have it in the same form, it is theirs.
    """
    numbers = list(numbers)
    if len(name.parts) > 1:
        return [n for n in numbers if any(name.family == other.family or not other.family for other in people[n].names)]
    if name.titled:
        same = exact = [n for n in numbers if any(other.family == name.titled for other in people[n].names)]
    else:
        key = name.given or name.alone
        same = [n for n in numbers if key and any(key in (other.given, other.alone) for other in people[n].names)]
        exact = [n for n in same if any(name.parts[0] == other.parts[0] for other in people[n].names)]
    most = max((people[n].count for n in numbers), default=0)
    # Thomas is Thomas Sam rather than Tom Brown, and Hyde is Mr. Hyde rather than a Hyde Stevenson named once, on a
    # title page.
    kept = ([n for n in found if CLEAR * people[n].count > most] for found in (exact, same))
    return next(filter(None, kept), numbers)
