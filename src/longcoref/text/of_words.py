"""Sentences of text that is already split into words, without line ends or spaces to go by (OntoGUM).

Such words keep the full stop of an abbreviation ("Mr."), so a full stop alone ends a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

_FULL_STOPS = frozenset((".", "。"))
# They end a sentence unless it clearly continues: "Who ?" he said.
_UNSURE = frozenset(("?", "!", "...", "…", "....", ". . .", "?!", "!?", "??", "!!", "!!!", "???"))
_CLOSING = frozenset(("”", "’", "''", ")", "]", "}", "»"))


def split_words_into_sentences(words: Sequence[str]) -> list[list[str]]:
    """The words, split after each full stop, question or exclamation mark and the closing marks that follow it.

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
        if word not in _FULL_STOPS and word not in _UNSURE:
            continue
        while position < len(words):
            mark = words[position]
            if mark == '"' and quoted:
                quoted = False
            elif mark not in _CLOSING and mark not in _FULL_STOPS and mark not in _UNSURE:
                break
            position += 1
        goes_on = position < len(words) and words[position][0].islower() and words[position - 1] not in _FULL_STOPS
        if not goes_on:
            sentences.append(list(words[start:position]))
            start = position
    if start < len(words):
        sentences.append(list(words[start:]))
    return sentences
