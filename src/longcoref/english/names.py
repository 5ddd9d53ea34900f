"""Personal names: their parts, and whether two of them can belong to one person.

A name has a title and parts, of which the first is the given name and the last the family name; after a title like Mr.
a single part is the family name. These are conventions of English novels, not scores: Mr. and Mrs. Hallow are two
people, and so are Jane Hallow and Ann Hallow; Kate may be Catherine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from longcoref.english.lexicon import (
    FULL_NAME,
    GIVEN_GENDER,
    NAME_PARTICLES,
    NOT_NAMES,
    POSSESSIVE_ENDINGS,
    SAINTS,
    TITLES,
    Title,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A personal name: a title in its full form, or "", and the parts of the name, all in lower case."""

    title: str
    parts: tuple[str, ...]

    @property
    def gender(self) -> int:
        """The gender that the title shows, 0 if it shows none."""
        title = self._title
        return title.gender if title is not None and title.certain else 0

    @property
    def usual_gender(self) -> int:
        """The gender that the title shows, or else that people with this name or title usually have; 0 if unknown."""
        return self.gender or self._given_gender or (0 if self._title is None else self._title.gender)

    @property
    def married(self) -> bool | None:
        """Whether the title is a married or an unmarried woman's; None if it does not say."""
        return None if self._title is None else self._title.married

    @property
    def given(self) -> str:
        """The given name in its full form, "" if it is not known."""
        if len(self.parts) > 1 or self._before_given:
            return FULL_NAME.get(self.parts[0], self.parts[0])
        return ""

    @property
    def family(self) -> str:
        """The family name, "" if it is not known."""
        if len(self.parts) > 1:
            return self.parts[-1]
        return self.parts[0] if self.title and not self._before_given else ""

    @property
    def titled(self) -> str:
        """The only part after a title like Mr., which is the family name or sometimes a given name; "" otherwise."""
        return self.family if len(self.parts) == 1 else ""

    @property
    def alone(self) -> str:
        """The only part of a name without a title, which may be a given or a family name; "" otherwise."""
        return "" if self.title or len(self.parts) > 1 else FULL_NAME.get(self.parts[0], self.parts[0])

    @property
    def short(self) -> Name:
        """The name without its middle parts, on which nothing depends."""
        return Name(self.title, (self.parts[0], self.parts[-1])) if len(self.parts) > 2 else self

    def calls_by_given(self, other: Name) -> bool:
        """Whether this may be a title with the given name of a full name: Mr. Ned for Mr. Ned Hallow."""
        short = FULL_NAME.get(self.titled, self.titled)
        return bool(short and other.family) and short == other.given and other.title in ("", self.title)

    def shares_given(self, other: Name) -> bool:
        """Whether both given names are known and agree."""
        return bool(self.given and other.given) and _same_given(self.given, other.given)

    @property
    def _given_gender(self) -> int:
        full = self.given or self.alone
        return GIVEN_GENDER.get(self.parts[0], GIVEN_GENDER.get(full, 0)) if full else 0

    @property
    def _title(self) -> Title | None:
        return TITLES.get(self.title)

    @property
    def _before_given(self) -> bool:
        return self._title is not None and self._title.given


@lru_cache(maxsize=4096)
def parse_name(text: str) -> Name | None:
    """The name in a mention, None if there is none: Miss Hallow in "my dear Miss Hallow", none in "the old mill"."""
    words = text.replace("_", " ").split()
    while words and words[0].lower() in NOT_NAMES and not (len(words) > 1 and _find_title(words[0])):
        words = words[1:]
    title: Title | None = None
    while len(words) > 1 and (found := _find_title(words[0])):
        title, words = found, words[1:]
    parts = _parts(words)
    if not parts or parts[0] in NOT_NAMES or parts[0] in TITLES or parts[0] in SAINTS:
        return None
    if title is not None and title.plural:
        return None  # Messrs. Hallow are several people
    return Name("" if title is None else title.name, tuple(parts))


def _parts(words: list[str]) -> list[str]:
    """The parts of the name that some words begin with."""
    parts: list[str] = []
    saint = False
    for number, word in enumerate(words, 1):
        if parts and len(word) > 1 and _find_title(word):
            break  # "Tom Mrs. Hallow" is two people
        bare = word.rstrip(",;:!?")
        for ending in POSSESSIVE_ENDINGS:
            bare = bare.removesuffix(ending)
        if bare[:1].isupper() and all(letter.isalpha() or letter in "-.'’" for letter in bare):
            if bare.lower() in SAINTS and bare == word and number < len(words) and words[number][:1].isupper():
                saint = True
                continue
            part = bare.lower().rstrip(".")
            parts.append(f"st {part}" if saint else part)
            saint = False
        elif not (bare in NAME_PARTICLES and parts):
            break
        if bare != word:
            break  # what follows "Tom's" or "Tom," is not part of the name
    return parts


def _find_title(word: str) -> Title | None:
    title = TITLES.get(word.lower().rstrip("."))
    return title if title is not None and (word[:1].isupper() or title.lower) else None


def contradict(first: Name, second: Name) -> bool:
    """Whether two names cannot belong to one person."""
    # A usual gender counts only as long as the given names leave it open: Captain Mary Hale is Miss Mary Hale.
    known = first.shares_given(second)
    genders = (first.gender, second.gender) if known else (first.usual_gender, second.usual_gender)
    if all(genders) and genders[0] != genders[1]:
        return True
    if {first.married, second.married} == {True, False}:
        return True
    for one, other in ((first, second), (second, first)):
        if one.alone and other.alone:
            return one.alone != other.alone
        if one.alone:
            parts = {other.given, other.family, other.parts[0]} - {""}
            shared = one.alone in parts or one.parts[0] in parts or _same_given(one.alone, other.given)
            return not shared and bool(other.given and other.family)
    if first.given and second.given and not _same_given(first.given, second.given):
        return True
    if first.calls_by_given(second) or second.calls_by_given(first):
        return False
    return bool(first.family and second.family and first.family != second.family)


def _same_given(first: str, second: str) -> bool:
    """Whether given names agree; an initial agrees with every name that begins with it."""
    short, long = sorted((first, second), key=len)
    return first == second or (len(short) == 1 and long.startswith(short))
