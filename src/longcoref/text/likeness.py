"""Whether a text is what the model knows: English prose."""

from __future__ import annotations

from collections.abc import Sequence

from longcoref.english.lexicon import FUNCTION_WORDS

_FEWEST = 30  # words, below which nothing is said
_ENGLISH = 0.12  # the least share of function words among the words of an English text
_LETTERS = 0.5  # the least share of words with letters in prose
_SENTENCE = 150  # words without the end of a sentence, on average, are no sentences
_ENDS = frozenset(".!?…")


def warning_about(words: Sequence[str]) -> str | None:
    """What is unusual about the words of a text, in one line; None if it looks like English prose, or is short.

    `scripts/measure_warnings.py` has the figures behind the limits.
    """
    if len(words) < _FEWEST:
        return None
    letters = [word.lower() for word in words if word[0].isalpha() or word[0] in "'’"]
    if len(letters) < _LETTERS * len(words):
        return "this looks like a table or code rather than prose: the result is unreliable"
    if sum(word in FUNCTION_WORDS for word in letters) < _ENGLISH * len(letters):
        return "this does not look like English, the only language that the model knows: the result is unreliable"
    if len(words) > _SENTENCE * (1 + sum(word[-1] in _ENDS for word in words)):
        return "this text has hardly any ends of sentences: the result is less reliable"
    return None
