"""Sentences of text that comes as words already, without line ends or spaces to look at (OntoGUM).

Such words keep the point of an abbreviation ("Mr."), so a lone point ends a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

_POINTS = frozenset((".", "。"))
# They end a sentence unless it plainly goes on: "Who ?" he said.
_UNSURE = frozenset(("?", "!", "...", "…", "....", ". . .", "?!", "!?", "??", "!!", "!!!", "???"))
_CLOSING = frozenset(("”", "’", "''", ")", "]", "}", "»"))


def split_words_into_sentences(words: Sequence[str]) -> list[list[str]]:
    """The words, cut after each final point, question or exclamation mark and the closing marks behind it.

    A straight quotation mark closes if one is open in the sentence so far.
    """
    sentences: list[list[str]] = []
    start = position = 0
    quoted = False
    while position < len(words):
        word = words[position]
        position += 1
        if word == '"':
            quoted = not quoted
        if word not in _POINTS and word not in _UNSURE:
            continue
        while position < len(words):
            mark = words[position]
            if mark == '"' and quoted:
                quoted = False
            elif mark not in _CLOSING and mark not in _POINTS and mark not in _UNSURE:
                break
            position += 1
        goes_on = position < len(words) and words[position][0].islower() and words[position - 1] not in _POINTS
        if not goes_on:
            sentences.append(list(words[start:position]))
            start = position
    if start < len(words):
        sentences.append(list(words[start:]))
    return sentences
