"""The word lists of `lexicon.toml` and `given_names.txt`, loaded once and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from longcoref.toml import tomllib

# Bits of a gender and number.
MASCULINE, FEMININE, NEUTER, PLURAL = 1, 2, 4, 8
_BITS = {"": 0, "masculine": MASCULINE, "feminine": FEMININE, "neuter": NEUTER, "plural": PLURAL}

_TABLES: Mapping[str, Any] = tomllib.loads((files(__package__) / "lexicon.toml").read_text(encoding="utf-8"))


def _words(section: str, name: str) -> frozenset[str]:
    return frozenset(_TABLES[section][name].split())


@dataclass(frozen=True, slots=True)
class Title:
    """A title that may precede a personal name, with the flags that `lexicon.toml` explains.

    `certain` is False if the title shows only the usual gender of people who have it.
    """

    name: str
    gender: int
    certain: bool
    given: bool
    married: bool | None
    plural: bool
    lower: bool
    forms: frozenset[str]
    dotted: frozenset[str]


def _title(name: str, row: Mapping[str, Any]) -> Title:
    abbreviations = frozenset(row.get("abbreviations", "").split())
    return Title(
        name,
        _BITS[row.get("gender", "")],
        not row.get("usually", False),
        row.get("given", False),
        row.get("married"),
        row.get("plural", False),
        row.get("lower", False),
        abbreviations | {name},
        abbreviations | ({name} if row.get("dotted", False) else frozenset()),
    )


_ALL_TITLES = [_title(name, row) for name, row in _TABLES["titles"].items()]
TITLES = {form: title for title in _ALL_TITLES for form in title.forms}
"""The titles by all their forms, in lower case and without a full stop."""
_SAINTS = _words("names", "saints")
SAINTS = _SAINTS | {f"{word}." for word in _SAINTS}
MENTION_TITLES = frozenset(TITLES) | {f"{form}." for title in _ALL_TITLES for form in title.dotted} | SAINTS
"""Words in the name of a mention that do not identify the name."""

NOT_NAMES, NAME_PARTICLES = _words("names", "not_names"), _words("names", "particles")
FULL_NAME: dict[str, str] = {form: line.split()[0] for line in _TABLES["names"]["nicknames"] for form in line.split()}
"""The full form of each given name that has short forms, itself included."""
_GIVEN = (files(__package__) / "given_names.txt").read_text(encoding="utf-8").splitlines()
GIVEN_GENDER = {line[2:]: FEMININE if line[0] == "f" else MASCULINE for line in _GIVEN if line[0] != "#"}
"""The gender of the pronouns that usually refer to people with a given name."""

PRONOUNS = {
    word: (number, _BITS[row["gender"]])
    for number, row in enumerate(_TABLES["pronouns"]["classes"], 1)
    for word in row["words"].split()
}
"""The class and the gender of each pronoun. Class 0 is for words that are not pronouns."""
PRONOUN_CLASSES = len(_TABLES["pronouns"]["classes"]) + 1
OBJECT_PRONOUNS, POSSESSIVE_DETERMINERS = _words("pronouns", "objects"), _words("pronouns", "possessives")

GENDERED_WORDS = {
    word: _BITS[gender] for gender in ("masculine", "feminine", "plural") for word in _words("nouns", gender)
} | {
    word: title.gender
    for title in _ALL_TITLES
    if title.certain and title.gender
    for word in (*title.forms, *(f"{form}." for form in title.dotted))
}
DETERMINERS, AFTER_HEAD = _words("nouns", "determiners"), _words("nouns", "after_head")
ONESELF = _words("nouns", "oneself")
COPULAS, AROUND_COPULAS = _words("nouns", "copulas"), _words("nouns", "around_copulas")
POSSESSIVE_ENDINGS = ("'s", "’s", "'", "’")
COORDINATING = frozenset(("and", "or", "nor"))

SPEECH_VERBS, PREPOSITIONS = _words("speech", "verbs"), _words("speech", "prepositions")
AROUND_VOCATIVES = _words("speech", "around_vocatives")

ABBREVIATIONS = _words("sentences", "abbreviations")
BEFORE_NUMBERS = _words("sentences", "before_numbers")
DOTTED_TITLES = (
    _words("sentences", "before_names")
    | {form.capitalize() for title in _ALL_TITLES for form in title.dotted if len(form) > 1}
    | {form for title in _ALL_TITLES if title.lower for form in title.dotted if len(form) > 1}
) - ABBREVIATIONS
"""Words whose full stop never ends a sentence. Capitalised ones also match all capitals."""
SENTENCE_OPENERS, SAINTS_LIKE_OPENERS = _words("sentences", "openers"), _words("sentences", "saints")

POSSESSIVE_PRONOUNS = _words("rewriting", "possessive_pronouns")
OPENS_NOUN_PHRASE, NEVER_POSSESSED = _words("rewriting", "opens_noun_phrase"), _words("rewriting", "never_possessed")
MAYBE_POSSESSED = _words("rewriting", "maybe_possessed")

NUMBERED_HEADINGS, OTHER_HEADINGS = _words("chapters", "numbered_headings"), _words("chapters", "other_headings")

FUNCTION_WORDS = _words("language", "function_words") | frozenset(PRONOUNS)
NOT_SPEAKERS = _words("scripts", "not_speakers")

BEFORE_OBJECTS, CLAUSE_OPENERS = _words("hiding", "before_objects"), _words("hiding", "clause_openers")
COMMON_VERBS, AFTER_SHORT_IS = _words("hiding", "common_verbs"), _words("hiding", "after_short_is")

THIRD_PERSON_FORMS: Mapping[str, str] = _TABLES["agreement"]["third_person"]
PLURAL_FORMS: Mapping[str, str] = _TABLES["agreement"]["plural"]
UNCHANGING_VERBS, NOT_PAST = _words("agreement", "unchanging"), _words("agreement", "not_past")
ADVERBS, NO_VERB = _words("agreement", "adverbs"), _words("agreement", "no_verb")
BEFORE_QUESTION, SET_PHRASES = _words("agreement", "before_question"), _words("agreement", "set_phrases")
ADJECTIVES_IN_LY = _words("agreement", "adjectives_in_ly")
ADDRESSES, STAYING_PRONOUNS = _words("agreement", "addresses"), _words("agreement", "staying")
