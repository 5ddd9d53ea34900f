"""Resolved text: every mention that says less than its entity's name is replaced by that name.

A mention is replaced where the name says more: a pronoun by a noun or a name, a noun by a name, a name by a fuller one.
The outermost mention that is replaced takes what lies inside it along; one that stays is looked into. A name that has a
pronoun in it ("her husband") is resolved, too, but never by way of itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import partial
from typing import IO

from longcoref.book.naming import without_possessive
from longcoref.clusters import KINDS
from longcoref.document import Document
from longcoref.english.lexicon import NEVER_POSSESSED, OPENS_NOUN_PHRASE, POSSESSIVE_PRONOUNS
from longcoref.errors import UsageError
from longcoref.mention import MentionRecord
from longcoref.result import Result, ResultCluster

_AFTER_OBJECT = OPENS_NOUN_PHRASE | NEVER_POSSESSED  # "her" before one of these is an object, not a possessive
_REFLEXIVE = re.compile(r"\w+sel(?:f|ves)", re.IGNORECASE)
_DEPTH = 3  # a name inside a name inside a name is as far as anybody can follow


def write_resolved(results: Iterable[Result], stream: IO[str], *, pronouns_only: bool = False) -> None:
    """Writes each text with names in place of mentions; with `pronouns_only`, in place of pronouns only."""
    for number, result in enumerate(results):
        stream.write("\n" if number else "")
        stream.write(resolved_text(result, pronouns_only=pronouns_only).rstrip() + "\n")


write_resolved_pronouns = partial(write_resolved, pronouns_only=True)


def resolved_text(result: Result, *, pronouns_only: bool = False) -> str:
    """The text of a result with names in place of mentions; with `pronouns_only`, in place of pronouns only."""
    if result.document is None:
        raise UsageError("resolved text needs the text, but this result was read piece by piece and has none")
    return _Resolving(result, result.document, pronouns_only=pronouns_only).text(0, len(result.document.text))


class _Resolving:
    """One text on its way to being resolved."""

    def __init__(self, result: Result, document: Document, *, pronouns_only: bool) -> None:
        self._document, self._pronouns_only = document, pronouns_only
        # Of mentions that begin together the longest comes first, so that the outer one is met before the inner.
        self._mentions = sorted(result.mentions, key=lambda pair: (pair[0].start, -pair[0].end))
        self._starts = [mention.start for mention, _ in self._mentions]
        self._naming = {cluster.id: named for cluster in result if (named := _naming_mention(cluster)) is not None}
        self._apostrophe = "’" if "’" in document.text else "'"
        self._openings = {_first_letter(document, sentence.start) for sentence in document.sentences}

    def text(self, start: int, end: int, within: tuple[int, ...] = ()) -> str:
        """The characters `start` to `end`, resolved; mentions of the entities in `within` stay as they are."""
        pieces = []
        position, last = start, None
        around: list[tuple[int, int]] = []  # end and entity of the mentions around this place that stay as they are
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            mention, cluster = self._mentions[index]
            if mention.start < position or mention.end > end:
                continue  # inside or across one that was replaced, or reaching beyond this stretch
            beside = last is not None and last[1] == cluster.id and self._is_beside(last[0], mention.start)
            last = mention.end, cluster.id
            if cluster.id in within or beside or not self._says_less(mention, cluster):
                around.append(last)
                continue
            around = [pair for pair in around if pair[0] > mention.start]
            name = self._replacement(mention, cluster, (*within, *(entity for _, entity in around)))
            pieces += [self._document.text[position : mention.start], name]
            position = mention.end
        return "".join([*pieces, self._document.text[position:end]])

    def _is_beside(self, end: int, start: int) -> bool:
        """Whether only a comma or blank is between: "Anna, the cook" is not to become "Anna, Anna"."""
        return end > start or not self._document.text[end:start].strip(" ,\t\r\n")

    def _says_less(self, mention: MentionRecord, cluster: ResultCluster) -> bool:
        naming = self._naming.get(cluster.id)
        if naming is None or _REFLEXIVE.fullmatch(mention.text) or (self._pronouns_only and mention.kind != "PRON"):
            return False
        if naming.kind == "PROP" == mention.kind:
            return not set(cluster.name.lower().split()) <= set(without_possessive(mention.text).lower().split())
        return KINDS.index(naming.kind) < KINDS.index(mention.kind)

    def _replacement(self, mention: MentionRecord, cluster: ResultCluster, within: tuple[int, ...]) -> str:
        name = self._name(cluster, within)
        first = name.split(maxsplit=1)[0]
        if mention.start in self._openings:
            name = name[0].upper() + name[1:]
        elif first.lower() in OPENS_NOUN_PHRASE and first[1:].islower():
            name = name[0].lower() + name[1:]
        if not self._is_possessive(mention):
            return name
        plural = name.endswith("s") and self._naming[cluster.id].kind == "NOM"  # the boats', but Mr. Jones's
        return f"{name}{self._apostrophe}{'' if plural else 's'}"

    def _name(self, cluster: ResultCluster, within: tuple[int, ...]) -> str:
        naming = self._naming[cluster.id]
        if len(within) >= _DEPTH:
            return cluster.name
        inner = self.text(naming.start, naming.end, (*within, cluster.id))
        return cluster.name if inner == naming.text else without_possessive(" ".join(inner.split()))

    def _is_possessive(self, mention: MentionRecord) -> bool:
        text = mention.text.lower()
        if text in POSSESSIVE_PRONOUNS or without_possessive(text) != text:
            return True
        if text != "her":
            return False
        if any(self._mentions[index][0].end > mention.end for index in range(*self._starting(mention.start))):
            return True  # her lamp is hers where "her lamp" is a mention
        following = re.match(r"\s+(\w+)", self._document.text[mention.end : mention.end + 60])
        # A capital letter begins a name: people called her Wren.
        return following is not None and following[1].islower() and following[1] not in _AFTER_OBJECT

    def _starting(self, start: int) -> tuple[int, int]:
        """From where to where the mentions stand that begin at this character."""
        return bisect_left(self._starts, start), bisect_left(self._starts, start + 1)


def _naming_mention(cluster: ResultCluster) -> MentionRecord | None:
    """The first mention that the cluster is named after; None where nothing names it but pronouns."""
    named = [mention for mention in cluster if mention.kind != "PRON"] if cluster.name else []
    same = (mention for mention in named if without_possessive(" ".join(mention.text.split())) == cluster.name)
    return next(same, None) or min(named, key=lambda mention: KINDS.index(mention.kind), default=None)


def _first_letter(document: Document, word: int) -> int:
    """Where the first word from `word` on stands that is more than quotes and dashes."""
    while word + 1 < len(document.words) and not any(letter.isalnum() for letter in document.words[word]):
        word += 1
    return document.offsets[word].start
