"""Resolved text: every mention that is less informative than its entity's name is replaced by that name.

A pronoun is replaced by a noun or a name, a noun by a name, and a name by a fuller one. A mention inside a replaced one
disappears with it; inside one that stays, it is considered on its own. A name that contains a pronoun ("her husband")
is resolved as well, but never through itself.
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
from longcoref.mention import MentionRecord
from longcoref.result import Result, ResultCluster

_AFTER_OBJECT = OPENS_NOUN_PHRASE | NEVER_POSSESSED  # "her" before one of these is an object, not a possessive
_REFLEXIVE = re.compile(r"\w+sel(?:f|ves)", re.IGNORECASE)
_DEPTH = 3  # a name inside a name inside a name is as far as anybody can follow


def write_resolved(results: Iterable[Result], stream: IO[str], *, pronouns_only: bool = False) -> None:
    """Writes each text with mentions replaced by names; with `pronouns_only`, only pronouns."""
    for number, result in enumerate(results):
        stream.write("\n" if number else "")
        stream.write(resolved_text(result, pronouns_only=pronouns_only).rstrip() + "\n")


write_resolved_pronouns = partial(write_resolved, pronouns_only=True)


def resolved_text(result: Result, *, pronouns_only: bool = False) -> str:
    """The text of a result with mentions replaced by names; with `pronouns_only`, only pronouns."""
    document = result.known_document
    return _Resolving(result, document, pronouns_only=pronouns_only).text(0, len(document.text))


class _Resolving:
    """The replacement of mentions in one text."""

    def __init__(self, result: Result, document: Document, *, pronouns_only: bool) -> None:
        self._document, self._pronouns_only = document, pronouns_only
        # Of mentions with the same start the longest comes first, so that outer ones come before inner ones.
        self._mentions = sorted(result.mentions, key=lambda pair: (pair[0].start, -pair[0].end))
        self._starts = [mention.start for mention, _ in self._mentions]
        self._naming = {cluster.id: named for cluster in result if (named := _naming_mention(cluster)) is not None}
        self._apostrophe = "’" if "’" in document.text else "'"
        self._openings = {_first_letter(document, sentence.start) for sentence in document.sentences}

    def text(self, start: int, end: int, within: tuple[int, ...] = ()) -> str:
        """The characters `start` to `end`, resolved; mentions of the entities in `within` are not replaced."""
        pieces = []
        position, last = start, None
        around: list[tuple[int, int]] = []  # end and entity of the enclosing mentions that were not replaced
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            mention, cluster = self._mentions[index]
            if mention.start < position or mention.end > end:
                continue  # inside or across a replaced mention, or extending beyond `end`
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
        """Whether only a comma or white space is between: "Anna, the cook" must not become "Anna, Anna"."""
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
            return True  # if "her lamp" is a mention, "her" is possessive
        following = re.match(r"\s+(\w+)", self._document.text[mention.end : mention.end + 60])
        # A capital letter starts a name: people called her Wren.
        return following is not None and following[1].islower() and following[1] not in _AFTER_OBJECT

    def _starting(self, start: int) -> tuple[int, int]:
        """The range of the mentions that start at this character."""
        return bisect_left(self._starts, start), bisect_left(self._starts, start + 1)


def _naming_mention(cluster: ResultCluster) -> MentionRecord | None:
    """The first mention that the cluster is named after; None if it has only pronouns."""
    named = [mention for mention in cluster if mention.kind != "PRON"] if cluster.name else []
    same = (mention for mention in named if without_possessive(" ".join(mention.text.split())) == cluster.name)
    return next(same, None) or min(named, key=lambda mention: KINDS.index(mention.kind), default=None)


def _first_letter(document: Document, word: int) -> int:
    """The offset of the first word from `word` on that is not only quotes and dashes."""
    while word + 1 < len(document.words) and not any(letter.isalnum() for letter in document.words[word]):
        word += 1
    return document.offsets[word].start
