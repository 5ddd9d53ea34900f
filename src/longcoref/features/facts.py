"""Facts about the words of a mention that need no vector: strings to match, gender and number.

They are cues that become features with learned weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from sys import intern

from longcoref.english.lexicon import (
    AFTER_HEAD,
    DETERMINERS,
    GENDERED_WORDS,
    MENTION_TITLES,
    PLURAL,
    POSSESSIVE_ENDINGS,
    PRONOUNS,
)
from longcoref.english.names import Name, parse_name

FIRST_PERSON, SECOND_PERSON = 5, 7  # the classes of "I" and "you"
HE_OR_SHE = (1, 2)  # the classes of pronouns that refer to one person
THIRD_PERSON = {1: "he", 2: "she", 4: "they"}  # the classes that show a gender, or leave it open

_UNTELLING = MENTION_TITLES | DETERMINERS | frozenset(POSSESSIVE_ENDINGS)  # they do not tell entities apart


@dataclass(frozen=True, slots=True)
class MentionFacts:
    """Facts about the words of a mention, wherever it occurs.

    `exact` is its wording in lower case without the determiner, `head` its head word, and `tokens` its content words;
    all are empty for a pronoun, whose class is `pronoun` (0 otherwise). `gender` is a set of bits, 0 if unknown. `name`
    is the personal name in the mention, if there is one.
    """

    pronoun: int
    gender: int
    named: bool
    exact: str
    head: str
    tokens: tuple[str, ...]
    name: Name | None = None


def is_title(word: str) -> bool:
    """Whether a word is a title before names: Mr., Captain, Aunt."""
    return word.lower() in MENTION_TITLES


def is_pronoun(word: str) -> bool:
    """Whether a word is a pronoun: she, them, who."""
    return word.lower() in PRONOUNS


def mention_facts(words: Iterable[str]) -> MentionFacts:
    """The facts of a mention with these words. Most mentions of a text repeat a few wordings, which share theirs."""
    return _facts_of(tuple(words))


@lru_cache(maxsize=512)
def _facts_of(words: tuple[str, ...]) -> MentionFacts:
    lower = [intern(word.lower()) for word in words]  # facts live as long as the mentions, and words recur
    if len(words) == 1 and lower[0] in PRONOUNS:
        number, gender = PRONOUNS[lower[0]]
        return MentionFacts(number, gender, False, "", "", ())
    first = 1 if len(words) > 1 and lower[0] in DETERMINERS else 0
    last = next((index for index in range(first + 1, len(words)) if lower[index] in AFTER_HEAD), len(words))
    while last > first + 1 and lower[last - 1] in POSSESSIVE_ENDINGS:
        last -= 1
    head = lower[last - 1]
    gender = GENDERED_WORDS.get(head, 0)
    if not gender and lower[first] in MENTION_TITLES:
        gender = GENDERED_WORDS.get(lower[first], 0)
    if "and" in lower[first:]:
        gender = PLURAL
    telling = (word for word in lower[first:last] if word not in _UNTELLING and any(map(str.isalnum, word)))
    tokens = tuple(dict.fromkeys(telling))
    named = words[last - 1][:1].isupper()
    name = parse_name(" ".join(words)) if named and gender != PLURAL else None
    if name is not None and not gender:
        gender = name.usual_gender
    return MentionFacts(0, gender, named, intern(" ".join(lower[first:])), head, tokens, name)
