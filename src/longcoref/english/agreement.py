"""What happens to the verbs around a pronoun when a name takes its place: "I'm" becomes "Anna is"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longcoref.english.lexicon import (
    ADDRESSES,
    ADVERBS,
    BEFORE_QUESTION,
    COORDINATING,
    NO_VERB,
    NOT_PAST,
    OPENS_NOUN_PHRASE,
    PLURAL_FORMS,
    SET_PHRASES,
    STAYING_PRONOUNS,
    THIRD_PERSON_FORMS,
    UNCHANGING_VERBS,
)

_SUBJECTS = frozenset(("i", "you", "we", "they"))  # their verbs do not agree with a name
_ONE = frozenset(("i", "me", "my", "mine", "he", "him", "his", "she", "her", "hers", "it", "its"))
_GROUP = frozenset(("we", "us", "our", "ours"))
_FARTHEST = 3  # words from a pronoun to its verb


def verbs_after_naming(
    words: Sequence[str], place: int, *, plural: bool, person: bool, joined: bool
) -> Mapping[int, str] | None:
    """The new forms of words, by their places, if a name replaces the pronoun at `place`; None if it should stay.

    `plural` says that the name is one of several, `person` that it is a personal name, and `joined` that there is no
    white space after the pronoun, so that the next word may be a contraction.
    """
    pronoun = words[place].lower()
    before = _plain(words, place - 1)
    after = _plain(words, place + 1)
    if pronoun in STAYING_PRONOUNS or before in SET_PHRASES or (pronoun in ("my", "your") and after in ADDRESSES):
        return None
    if (plural and pronoun in _ONE) or (person and not plural and pronoun in _GROUP):
        return None
    if joined and after.startswith("'") and after != "'s":
        forms = PLURAL_FORMS if plural else THIRD_PERSON_FORMS
        return {place + 1: f" {forms[after]}"} if after in forms else None  # "'d" is "had" or "would"
    if joined and after == "'s" and _is_present(_plain(words, place + 2)):
        return {place + 1: " is"}
    if plural or pronoun not in _SUBJECTS:
        return {}
    return _question(words, place, pronoun) or _statement(words, place, pronoun)


def _is_present(word: str) -> bool:
    """Whether "'s" before a word is "is" and cannot be "has": she's the cook, she's coming."""
    return word in OPENS_NOUN_PHRASE or (word.endswith("ing") and len(word) > len("thing"))


def _question(words: Sequence[str], place: int, pronoun: str) -> Mapping[int, str] | None:
    """The form of a verb that precedes its subject: "Am I" becomes "Is Anna". None if there is none."""
    verb = place - (2 if _plain(words, place - 1) == "n't" else 1)
    form = THIRD_PERSON_FORMS.get(_plain(words, verb))
    opening = _plain(words, verb - 1)
    # "You" is an object as well: "if I were you".
    asked = pronoun != "you" or not opening[:1].isalpha() or opening in BEFORE_QUESTION
    return {verb: _like(words[verb], form)} if form is not None and asked else None


def _statement(words: Sequence[str], place: int, pronoun: str) -> Mapping[int, str] | None:
    """The form of the verb that follows its subject, empty if it stays as it is; None if nothing is known about it."""
    if pronoun != "you" and _plain(words, place - (2 if _plain(words, place - 1) == "n't" else 1)) in UNCHANGING_VERBS:
        return {}  # "could I"
    verb = place + 1
    while verb < place + _FARTHEST and (_plain(words, verb) in ADVERBS or _plain(words, verb).endswith("ly")):
        verb += 1
    form = _plain(words, verb)
    if form.startswith(("_", "*")):
        return None  # an emphasised verb: you _are_
    if not form[:1].isalpha() or form in UNCHANGING_VERBS or form in NO_VERB:
        return {}
    if form.endswith("ed") and form not in NOT_PAST:
        return {}
    together = _plain(words, place - 1) in COORDINATING
    if together and pronoun == "i" and form in ("are", "were"):
        return {}  # Tom and I were
    if form not in THIRD_PERSON_FORMS or (together and form != "am"):
        return None
    return {verb: _like(words[verb], THIRD_PERSON_FORMS[form])}


def _plain(words: Sequence[str], place: int) -> str:
    """A word in lower case with a straight apostrophe; empty outside the text."""
    return words[place].lower().replace("’", "'") if 0 <= place < len(words) else ""


def _like(word: str, form: str) -> str:
    """The form with a capital letter if the word has one."""
    return form.capitalize() if word[:1].isupper() else form
