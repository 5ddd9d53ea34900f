"""Names of persons: their parts, whether two of them can be one person's, and which ones of a text are.

A name has a title, and parts of which the first is the given name and the last the family name; a title of respect
with one part has the family name only. Everything here is what the conventions of English novels say, not a score:
Mr. and Mrs. Hallow are two people, Jane Hallow and Ann Hallow too, Kate may be Catherine, and a name that stands alone
belongs to whom it fits if it fits one person only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from longcoref.english.lexicon import (
    FEMININE,
    FULL_NAME,
    GIVEN_NAME_TITLES,
    MARRIED_TITLES,
    MASCULINE,
    NAME_PARTICLES,
    NOT_NAMES,
    POSSESSIVE_ENDINGS,
    TITLE_GENDER,
    UNCAPITALISED_TITLES,
    UNMARRIED_TITLES,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name as it was written: a title or "", and its parts, all in small letters."""

    title: str
    parts: tuple[str, ...]

    @property
    def gender(self) -> int:
        """What the title says: bits of `facts`, 0 for nothing."""
        return TITLE_GENDER.get(self.title, 0)

    @property
    def given(self) -> str:
        """The given name, "" where none is sure; that of a nickname is the name it stands for."""
        if len(self.parts) > 1 or self.title in GIVEN_NAME_TITLES:
            return FULL_NAME.get(self.parts[0], self.parts[0])
        return ""

    @property
    def family(self) -> str:
        """The family name, "" where none is sure."""
        if len(self.parts) > 1:
            return self.parts[-1]
        return self.parts[0] if self.title and self.title not in GIVEN_NAME_TITLES else ""

    @property
    def titled(self) -> str:
        """The only part of a name behind a title like Mr.: the family name, or a given one; else ""."""
        return self.family if len(self.parts) == 1 else ""

    def calls_by_given(self, other: Name) -> bool:
        """Whether this may be the given name of a full one behind its title: Mr. Ned of Mr. Ned Hallow."""
        short = FULL_NAME.get(self.titled, self.titled)
        return bool(short and other.family) and short == other.given and other.title in ("", self.title)

    @property
    def alone(self) -> str:
        """The only part of a name of which nothing says whether it is given or family, else ""."""
        return "" if self.title or len(self.parts) > 1 else FULL_NAME.get(self.parts[0], self.parts[0])


@lru_cache(maxsize=4096)
def parse_name(text: str) -> Name | None:
    """The name that a mention is, None if it is none: "my dear Miss Hallow" is Miss Hallow, "the old mill" nobody."""
    words = text.replace("_", " ").split()
    while words and words[0].lower() in NOT_NAMES and not (len(words) > 1 and _title(words[0])):
        words = words[1:]
    title = ""
    while len(words) > 1 and (found := _title(words[0])):
        title, words = found, words[1:]
    parts: list[str] = []
    for word in words:
        if parts and len(word) > 1 and _title(word):
            break  # "Tom Mrs. Hallow" is two people
        bare = word.rstrip(",;:!?")
        for ending in POSSESSIVE_ENDINGS:
            bare = bare.removesuffix(ending)
        if bare[:1].isupper() and all(letter.isalpha() or letter in "-.'’" for letter in bare):
            parts.append(bare.lower().rstrip("."))
        elif not (bare in NAME_PARTICLES and parts):
            break
        if bare != word:
            break  # what stands behind "Tom's" or "Tom," is no part of the name
    if not parts or parts[0] in NOT_NAMES or parts[0] in TITLE_GENDER:
        return None
    return Name(title, tuple(parts))


def _title(word: str) -> str:
    bare = word.lower().rstrip(".")
    return bare if bare in TITLE_GENDER and (word[:1].isupper() or bare in UNCAPITALISED_TITLES) else ""


def contradict(first: Name, second: Name) -> bool:
    """Whether two names cannot be one person's."""
    if first.gender and second.gender and first.gender != second.gender:
        return True
    if {first.title, second.title} & MARRIED_TITLES and {first.title, second.title} & UNMARRIED_TITLES:
        return True
    for one, other in ((first, second), (second, first)):
        if one.alone and other.alone:
            return one.alone != other.alone
        if one.alone:
            known = {other.given, other.family, other.parts[0]} - {""}
            return one.alone not in known and one.parts[0] not in known and bool(other.given and other.family)
    if first.given and second.given and not _same_given(first.given, second.given):
        return True
    if first.calls_by_given(second) or second.calls_by_given(first):
        return False
    return bool(first.family and second.family and first.family != second.family)


def _same_given(first: str, second: str) -> bool:
    """Whether given names agree; an initial agrees with what it may stand for."""
    short, long = sorted((first, second), key=len)
    return first == second or (len(short) == 1 and long.startswith(short))


@dataclass(slots=True)
class Person:
    """Names that are one person's, with how often each occurs, and what pronouns said of the gender."""

    names: Counter[Name] = field(default_factory=Counter)
    genders: Counter[int] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """How often the person is named."""
        return sum(self.names.values())

    def fits(self, name: Name, genders: Counter[int]) -> bool:
        """Whether a name that occurs with pronouns of these genders can be the person's."""
        if (name.gender or clear_gender(genders)) | self.gender == MASCULINE | FEMININE:
            return False
        if name.titled and not any(
            other.family == name.titled or (other.title == name.title and name.calls_by_given(other))
            for other in self.names
        ):
            return False  # Mrs. Rachel is a Mrs. Rachel Hallow, not any Rachel
        # Percy and Blakeney, each alone, are one if somebody is called Percy Blakeney.
        parts = {part for other in self.names if len(other.parts) > 1 for part in (other.given, other.family)}
        apart = (other for other in self.names if not (name.alone in parts and other.alone in parts))
        against = sum(self.names[other] for other in apart if _contradict(name, other))
        return 4 * against <= self.count

    @property
    def gender(self) -> int:
        """What titles say, else what pronouns say; 0 if neither is clear."""
        titles = Counter[int]()
        for name, count in self.names.items():
            if name.gender:
                titles[name.gender] += 3 * count
        return clear_gender(titles) or clear_gender(self.genders)

    def add(self, name: Name, count: int, genders: Counter[int]) -> None:
        """The person is also called so."""
        self.names[name] += count
        self.genders.update(genders)


def clear_gender(genders: Mapping[int, int]) -> int:
    """The gender that at least three pronouns, and three of four, agree on; 0 if none."""
    total = sum(genders.values())
    return next((gender for gender, count in genders.items() if count >= 3 and 4 * count >= 3 * total), 0)


@lru_cache(maxsize=65536)
def _contradict(first: Name, second: Name) -> bool:
    return contradict(first, second)


def persons_of(names: Mapping[Name, int], genders: Mapping[Name, Counter[int]]) -> tuple[list[Person], dict[Name, int]]:
    """The persons that the names of a text belong to, and the number of the person of each name.

    `names` has how often each occurs, `genders` which pronouns refer to whom it names. Full names come first, then
    names with a title, then those that stand alone; the frequent ones first. A name that fits several persons belongs
    to one who is named three times as often as the next, else to nobody.
    """
    persons: list[Person] = []
    owner: dict[Name, int] = {}
    by_part: dict[str, set[int]] = {}

    def give(name: Name, number: int) -> None:
        persons[number].add(name, names[name], genders.get(name, Counter()))
        owner[name] = number
        for part in (name.given, name.family, name.alone, *name.parts):
            if part:
                by_part.setdefault(part, set()).add(number)

    def rank(name: Name) -> tuple[bool, bool, bool, int]:
        # Of two women with one family name, she who also has a given name is more often Miss than Mrs.
        return len(name.parts) < 2, not name.title, name.title in MARRIED_TITLES, -names[name]

    for name in sorted(names, key=rank):
        said = genders.get(name, Counter())
        near = set().union(*(by_part.get(part, set()) for part in (name.given, name.family, name.alone) if part))
        fitting = sorted(
            (number for number in near if persons[number].fits(name, said)), key=lambda n: -persons[n].count
        )
        fitting = _same_place(name, fitting, persons)
        if not fitting:
            persons.append(Person())
            give(name, len(persons) - 1)
        elif len(fitting) == 1 or persons[fitting[0]].count >= 3 * persons[fitting[1]].count:
            give(name, fitting[0])
        elif name.title and names[name] >= persons[fitting[0]].count:
            persons.append(Person())  # one of a family who goes by the family name: the others have a given name
            give(name, len(persons) - 1)
    return persons, owner


def _same_place(name: Name, numbers: Iterable[int], persons: Sequence[Person]) -> list[int]:
    """Of persons who share a part with a name, those for whom it is the same part, where there are any."""
    numbers = list(numbers)
    key = name.given or name.alone
    same = [n for n in numbers if key and any(key in (other.given, other.alone) for other in persons[n].names)]
    if name.titled:
        same = [n for n in numbers if any(other.family == name.titled for other in persons[n].names)]
    if len(name.parts) > 1:
        return [
            n for n in numbers if any(name.family == other.family or not other.family for other in persons[n].names)
        ]
    return same or numbers
