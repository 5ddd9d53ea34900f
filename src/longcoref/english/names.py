"""Names of persons: their parts, whether two of them can be one person's, and which ones of a text are.

A name has a title, and parts of which the first is the given name and the last the family name; a title of respect
with one part has the family name only. Everything here is what the conventions of English novels say, not a score:
Mr. and Mrs. Hallow are two people, Jane Hallow and Ann Hallow too, Kate may be Catherine, and a name that stands alone
belongs to whom it fits if it fits one person only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from longcoref.english.lexicon import (
    FULL_NAME,
    GIVEN_NAME_TITLES,
    MARRIED_TITLES,
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

    @property
    def short(self) -> Name:
        """The name without its middle parts, on which nothing depends."""
        return Name(self.title, (self.parts[0], self.parts[-1])) if len(self.parts) > 2 else self

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
