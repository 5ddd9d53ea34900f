"""Words that a text can do without: who says something ("said Ann"), and who is addressed ("Go, Ann.").

Without them, the speaker or addressee has to be found from the rest of the text, and the answer is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longcoref.english.lexicon import SPEECH_VERBS
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation

_AFTER_VOCATIVE = frozenset((",", ".", "!", "?"))
_SHORTEST = 2  # words of a quotation that says something, its opening mark included
_APART = 30  # words after the quotation before it, within which a quotation is part of a conversation


@dataclass(frozen=True, slots=True)
class Removal:
    """Words to leave out, and the quotations that the person named by them says or hears.

    `comma` is the place of a comma that becomes a full stop, if there is one. If the text `joins`, the two quotations
    around the tag become one.
    """

    words: WordSpan
    quotations: tuple[Quotation, ...]
    comma: int | None = None
    joins: bool = False


def removable_tag(
    words: Sequence[str],
    name: WordSpan,
    quotations: Sequence[Quotation],
    ending: Mapping[int, int],
    paragraphs: Sequence[bool],
) -> Removal | None:
    """The tag that names the speaker, where the text goes on well without it: "Go," said Ann. becomes "Go."

    `ending` has the number of the quotation that ends at a place, `paragraphs` says where they start.
    """
    start, end = name
    if end + 1 >= len(words):
        return None
    if start and words[start - 1] in SPEECH_VERBS and start - 1 in ending:
        number, after = ending[start - 1], end
    elif start in ending and words[end] in SPEECH_VERBS:
        number, after = ending[start], end + 1
    else:
        return None
    quotation = quotations[number]
    close = quotation.words.end - 1
    apart = abs(quotation.words.start - quotations[number - 1].words.end) if number else _APART + 1
    if words[after] not in (".", ",") or after + 1 >= len(words) or apart > _APART:
        return None
    if close - quotation.words.start < _SHORTEST:
        return None
    comma = close - 1 if words[close - 1] == "," and words[after] == "." else None
    if paragraphs[after + 1] and words[after] == ".":
        return Removal(WordSpan(close + 1, after + 1), (quotation,), comma)
    if number + 1 < len(quotations) and quotations[number + 1].words.start == after + 1:
        return Removal(WordSpan(close, after + 2), (quotation, quotations[number + 1]), comma, joins=True)
    return None


def removable_vocative(words: Sequence[str], name: WordSpan, quotation: Quotation) -> Removal | None:
    """The name that addresses somebody in a quotation: "Go, Ann." becomes "Go."."""
    start, end = name
    if start <= quotation.words.start or words[start - 1] != ",":
        return None
    if end >= quotation.words.end or words[end] not in _AFTER_VOCATIVE:
        return None
    return Removal(WordSpan(start - 1, end), (quotation,))
