"""The word lists of `lexicon.toml`, loaded once and frozen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Bits of a gender and number.
MASCULINE, FEMININE, NEUTER, PLURAL = 1, 2, 4, 8
_BITS = {"": 0, "masculine": MASCULINE, "feminine": FEMININE, "neuter": NEUTER, "plural": PLURAL}

_TABLES: Mapping[str, Any] = tomllib.loads((files(__package__) / "lexicon.toml").read_text(encoding="utf-8"))


def _words(section: str, name: str) -> frozenset[str]:
    return frozenset(_TABLES[section][name].split())


_TITLE_GENDERS = {
    "men": MASCULINE,
    "ranks": MASCULINE,
    "male_kin": MASCULINE,
    "wives": FEMININE,
    "maids": FEMININE,
    "women": FEMININE,
    "female_kin": FEMININE,
    "either": 0,
}
TITLE_GENDER = {title: gender for group, gender in _TITLE_GENDERS.items() for title in _words("titles", group)}
"""The gender that each title of a name shows, 0 for none."""
MARRIED_TITLES, UNMARRIED_TITLES = _words("titles", "wives"), _words("titles", "maids")
GIVEN_NAME_TITLES = _words("titles", "before_given")
UNCAPITALISED_TITLES = _words("titles", "uncapitalised")
MENTION_TITLES = _words("titles", "in_mentions")
DOTTED_TITLES = _words("titles", "with_full_stop")

NOT_NAMES, NAME_PARTICLES = _words("names", "not_names"), _words("names", "particles")
FULL_NAME: dict[str, str] = {form: line.split()[0] for line in _TABLES["names"]["nicknames"] for form in line.split()}
"""The full form of each given name that has short forms, itself included."""

PRONOUNS = {
    word: (number, _BITS[row["gender"]])
    for number, row in enumerate(_TABLES["pronouns"]["classes"], 1)
    for word in row["words"].split()
}
"""The class and the gender of each pronoun. Class 0 is left for words that are none."""
PRONOUN_CLASSES = len(_TABLES["pronouns"]["classes"]) + 1
OBJECT_PRONOUNS, POSSESSIVE_DETERMINERS = _words("pronouns", "objects"), _words("pronouns", "possessives")

GENDERED_WORDS = {
    word: _BITS[gender] for gender in ("masculine", "feminine", "plural") for word in _words("nouns", gender)
}
DETERMINERS, AFTER_HEAD = _words("nouns", "determiners"), _words("nouns", "after_head")
POSSESSIVE_ENDINGS = ("'s", "’s", "'", "’")

SPEECH_VERBS, PREPOSITIONS = _words("speech", "verbs"), _words("speech", "prepositions")

ABBREVIATIONS = _words("sentences", "abbreviations")
BEFORE_NUMBERS = _words("sentences", "before_numbers")
SENTENCE_OPENERS = _words("sentences", "openers")

POSSESSIVE_PRONOUNS = _words("rewriting", "possessive_pronouns")
OPENS_NOUN_PHRASE, NEVER_POSSESSED = _words("rewriting", "opens_noun_phrase"), _words("rewriting", "never_possessed")

NUMBERED_HEADINGS, OTHER_HEADINGS = _words("chapters", "numbered_headings"), _words("chapters", "other_headings")

BEFORE_OBJECTS, CLAUSE_OPENERS = _words("hiding", "before_objects"), _words("hiding", "clause_openers")
COMMON_VERBS, AFTER_SHORT_IS = _words("hiding", "common_verbs"), _words("hiding", "after_short_is")
