"""The grammatical case of a name, as far as the words around it show it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from longcoref.english.lexicon import (
    AFTER_SHORT_IS,
    BEFORE_OBJECTS,
    CLAUSE_OPENERS,
    COMMON_VERBS,
    FEMININE,
    MASCULINE,
    SPEECH_VERBS,
)
from longcoref.spans import WordSpan

POSSESSIVES = frozenset(("'s", "’s"))
_VERBS = SPEECH_VERBS | COMMON_VERBS


class Case(Enum):
    """The grammatical case of a name, as far as a pronoun shows it."""

    SUBJECT = 0
    OBJECT = 1
    POSSESSIVE = 2


PRONOUNS_OF = {MASCULINE: ("he", "him", "his"), FEMININE: ("she", "her", "her")}
"""By gender, the pronoun of each case."""


def case_of(words: Sequence[str], span: WordSpan, *, opens_sentence: bool) -> Case | None:
    """The case of a name by the words next to it; None where they do not tell."""
    start, end = span
    before = words[start - 1].lower() if start else "."
    after = words[end].lower() if end < len(words) else "."
    if words[end - 1] in POSSESSIVES or after in POSSESSIVES:
        owned = words[end + (after in POSSESSIVES)] if end + (after in POSSESSIVES) < len(words) else "."
        is_noun = owned[:1].isalpha() and owned.lower() not in AFTER_SHORT_IS and not owned.endswith("ing")
        return Case.POSSESSIVE if is_noun else None
    is_verb = after in _VERBS or (after.endswith("ed") and len(after) > 4)
    if (opens_sentence or before in CLAUSE_OPENERS) and is_verb:
        return Case.SUBJECT
    if before in BEFORE_OBJECTS and after not in ("and", "or", "—", "--", "'s") and not is_verb:
        return Case.OBJECT
    if before in SPEECH_VERBS and after in (",", ".", ";", ":"):
        return Case.SUBJECT
    return None
