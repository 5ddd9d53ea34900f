"""Resolved text: every mention that is less informative than its entity's name is replaced by that name.

A pronoun is replaced by a noun or a name, a noun by a name, and a name by a fuller one. A mention inside a replaced one
disappears with it; inside one that stays, it is considered on its own. A name that contains a pronoun ("her husband")
is resolved as well; if the pronoun stays, the name is not used. A pronoun also stays where the verb would not agree
with a name ("I think"), and wherever the only name is shortened for display or is itself a pronoun.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, NamedTuple

from longcoref.book.naming import without_possessive
from longcoref.clusters import KINDS
from longcoref.document import Document
from longcoref.english.agreement import verbs_after_naming
from longcoref.english.lexicon import (
    ADDRESSES,
    ADJECTIVES_IN_LY,
    FUNCTION_WORDS,
    MAYBE_POSSESSED,
    NEVER_POSSESSED,
    OPENS_NOUN_PHRASE,
    PLURAL,
    POSSESSIVE_PRONOUNS,
)
from longcoref.features.facts import is_pronoun, mention_facts
from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster
from longcoref.result import Result
from longcoref.spans import CharSpan

OFFSET_COLUMNS = ("start", "end", "original_start", "original_end", "cluster", "text", "original")
_AFTER_OBJECT = OPENS_NOUN_PHRASE | NEVER_POSSESSED  # "her" before one of these is an object, not a possessive
_REFLEXIVE = re.compile(r"\w+sel(?:f|ves)", re.IGNORECASE)
_REFLEXIVES = {  # "Anna hurt myself" would be wrong, so "I hurt myself" stays
    **dict.fromkeys(("i", "me", "my", "mine"), ("myself",)),
    **dict.fromkeys(("you", "your", "yours"), ("yourself", "yourselves")),
    **dict.fromkeys(("we", "us", "our", "ours"), ("ourselves",)),
}
_DEPTH = 3  # a name inside a name inside a name is as far as anybody can follow
_SHORTENED = "…"


@dataclass(frozen=True, slots=True)
class Replacing:
    """Which mentions are replaced by names.

    `pronouns_only` leaves nouns and names as they are. Only mentions of entities of these `types` are replaced, with a
    probability of at least `min_score`, and at most `max_distance` words after the entity was last named.
    """

    pronouns_only: bool = False
    types: Collection[str] | None = None
    min_score: float = 0.0
    max_distance: int | None = None


EVERYTHING = Replacing()


class Replacement(NamedTuple):
    """A part of a resolved text that differs from the original: where it is, where it was, and the cluster it names.

    The form of a verb may change with its subject; such a part names no cluster.
    """

    span: CharSpan
    original: CharSpan
    cluster: int | None


@dataclass(frozen=True)
class ResolvedText:
    """A text with mentions replaced by names, and the replacements in text order."""

    text: str
    replacements: tuple[Replacement, ...] = field(repr=False)

    @cached_property
    def _starts(self) -> list[int]:
        return [replacement.span.start for replacement in self.replacements]

    def original(self, offset: int) -> int:
        """The offset in the original text of the character at `offset`; inside a replacement, where that begins."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        span, original, _ = self.replacements[number]
        return original.start if offset < span.end else original.end + offset - span.end


def write_resolved(results: Iterable[tuple[Result, Replacing]], stream: IO[str]) -> None:
    """Writes each text with mentions replaced by names."""
    for number, (result, replacing) in enumerate(results):
        stream.write("\n" if number else "")
        stream.write(resolved(result, replacing).text.rstrip() + "\n")


def write_offsets(results: Iterable[tuple[Result, Replacing]], stream: IO[str]) -> None:
    """Writes one row per replacement in the resolved text of each result, with both offsets and both wordings."""
    stream.write("\t".join(("document", *OFFSET_COLUMNS)) + "\n")
    for result, replacing in results:
        made, text = resolved(result, replacing), result.known_document.text
        for span, original, cluster in made.replacements:
            wordings = (" ".join(whole[slice(*part)].split()) for whole, part in ((made.text, span), (text, original)))
            cells = (" ".join(result.id.split()), *span, *original, "" if cluster is None else cluster, *wordings)
            stream.write("\t".join(map(str, cells)) + "\n")


def resolved(result: Result, replacing: Replacing) -> ResolvedText:
    """The text of a result with mentions replaced by names."""
    text = result.known_document.text
    pieces, replacements = [], []
    position = length = 0
    for piece in _Resolving(result, result.known_document, replacing).pieces(0, len(text)):
        start, end = piece.original
        length += start - position
        pieces += [text[position:start], piece.text]
        replacements.append(Replacement(CharSpan(length, length + len(piece.text)), piece.original, piece.cluster))
        length += len(piece.text)
        position = end
    return ResolvedText("".join([*pieces, text[position:]]), tuple(replacements))


class _Piece(NamedTuple):
    """New text in place of some of the original."""

    original: CharSpan
    text: str
    cluster: int | None


@dataclass(frozen=True, slots=True)
class _Naming:
    """The name of a cluster for use in running text, and the mention that has it; None if a person gave the name."""

    name: str
    mention: MentionRecord | None
    kind: str
    plural: bool


class _Resolving:
    """The replacement of mentions in one text."""

    def __init__(self, result: Result, document: Document, replacing: Replacing) -> None:
        self._document, self._replacing = document, replacing
        # Of mentions with the same start the longest comes first, so that outer ones come before inner ones.
        self._mentions = sorted(result.mentions, key=lambda pair: (pair[0].start, -pair[0].end))
        self._starts = [mention.start for mention, _ in self._mentions]
        self._namings = {cluster.id: naming for cluster in result if (naming := _naming(cluster)) is not None}
        self._apostrophe = "’" if "’" in document.text else "'"
        self._openings = {_first_letter(document, sentence.start) for sentence in document.sentences}
        self._near = self._named_shortly_before() if replacing.max_distance is not None else None

    def pieces(self, start: int, end: int, within: tuple[int, ...] = ()) -> Iterator[_Piece]:
        """What is replaced from `start` to `end`; mentions of the entities in `within` are not."""
        position, last = start, None
        around: list[tuple[int, int]] = []  # end and entity of the enclosing mentions that were not replaced
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            mention, cluster = self._mentions[index]
            if mention.start < position or mention.end > end:
                continue  # inside or across a replaced mention, or extending beyond `end`
            beside = last is not None and last[1] == cluster.id and self._is_beside(last[0], mention.start)
            last = mention.end, cluster.id
            made: list[_Piece] = []
            around = [pair for pair in around if pair[0] > mention.start]
            entities = {*within, *(entity for _, entity in around)}  # "my Italy" stays, and so does its "Italy"
            if cluster.id not in entities and not beside and self._is_wanted(mention, cluster):
                made = self._made(mention, cluster, (*within, *(entity for _, entity in around)))
            if not made or made[0].original.start < position or made[-1].original.end > end:
                around.append(last)
                continue
            yield from made
            position = made[-1].original.end

    def _text(self, start: int, end: int, within: tuple[int, ...]) -> str:
        parts, position = [], start
        for piece in self.pieces(start, end, within):
            parts += [self._document.text[position : piece.original.start], piece.text]
            position = piece.original.end
        return "".join([*parts, self._document.text[position:end]])

    def _is_beside(self, end: int, start: int) -> bool:
        """Whether only a comma or white space is between: "Anna, the cook" must not become "Anna, Anna"."""
        return end > start or not self._document.text[end:start].strip(" ,\t\r\n")

    def _named_shortly_before(self) -> set[tuple[int, int]]:
        """The spans of the mentions whose entity was named at most `max_distance` words before."""
        near, named = set(), dict[int, int]()
        for mention, cluster in self._mentions:
            place = named.get(cluster.id)
            if place is not None and mention.words.start - place <= (self._replacing.max_distance or 0):
                near.add((mention.start, mention.end))
            if mention.kind != "PRON":
                named[cluster.id] = mention.words.end - 1
        return near

    def _is_wanted(self, mention: MentionRecord, cluster: ResultCluster) -> bool:
        """Whether the name of its cluster says more than a mention, and the options allow to replace it."""
        naming, replacing = self._namings.get(cluster.id), self._replacing
        if naming is None or _REFLEXIVE.fullmatch(mention.text) or mention.score < replacing.min_score:
            return False
        first, *others = mention.text.lower().split() or [""]
        if first in ("my", "your") and others and set(others) <= ADDRESSES:
            return False  # my dear Anna
        if self._document.text[max(0, mention.start - 1) : mention.start].isalpha():
            return False  # part of a word: gimme
        if replacing.pronouns_only and mention.kind != "PRON":
            return False
        if replacing.types is not None and cluster.type not in replacing.types:
            return False
        if self._near is not None and (mention.start, mention.end) not in self._near:
            return False
        if mention.facts.gender == PLURAL and not mention.facts.pronoun and not naming.plural:
            return False
        if naming.kind == "PROP" == mention.kind:
            return not set(naming.name.lower().split()) <= set(without_possessive(mention.text).lower().split())
        return KINDS.index(naming.kind) < KINDS.index(mention.kind)

    def _made(self, mention: MentionRecord, cluster: ResultCluster, within: tuple[int, ...]) -> list[_Piece]:
        """The name in place of a mention, and the verbs that change with it; nothing if the mention has to stay."""
        document, naming = self._document, self._namings[cluster.id]
        first, end = mention.words
        forms = {}
        possessive = self._is_possessive(mention)
        if possessive is None:
            return []
        if mention.facts.pronoun and end - first == 1:
            sentence = document.words[slice(*document.sentences[mention.sentence])]
            if any(word.lower() in _REFLEXIVES.get(mention.text.lower(), ()) for word in sentence):
                return []
            changed = verbs_after_naming(
                document.words,
                first,
                plural=naming.plural,
                person=naming.kind == "PROP" and cluster.type in ("PER", None),
                joined=end < len(document.words) and document.offsets[end].start == mention.end,
            )
            if changed is None:
                return []
            forms = dict(changed)
        name = self._name(cluster, naming, within)
        if name is None:
            return []
        name = self._cased(mention, name)
        if possessive:
            name += f"{self._apostrophe}{'' if naming.plural and name.endswith('s') else 's'}"
        pieces = [_Piece(document.offsets[word], form, None) for word, form in forms.items()]
        return sorted([*pieces, _Piece(CharSpan(mention.start, mention.end), name, cluster.id)])

    def _cased(self, mention: MentionRecord, name: str) -> str:
        """The name with a capital letter where the mention has one, unless it is "I", or where a sentence begins."""
        first = name.split(maxsplit=1)[0]
        capital = mention.text[0].isupper() and mention.text != "I" and mention.kind != "PROP"
        if capital or mention.start in self._openings:
            return name[0].upper() + name[1:]
        return name[0].lower() + name[1:] if first.lower() in OPENS_NOUN_PHRASE and first[1:].islower() else name

    def _name(self, cluster: ResultCluster, naming: _Naming, within: tuple[int, ...]) -> str | None:
        """The name to insert, itself resolved; None if a pronoun is left in it, because it could mean anybody there."""
        name, mention = naming.name, naming.mention
        if mention is not None and len(within) < _DEPTH:
            inner = self._text(mention.start, mention.end, (*within, cluster.id))
            name = name if inner == mention.text else without_possessive(" ".join(inner.split()))
        return None if any(is_pronoun(word) and word.lower() != "one" for word in re.findall(r"\w+", name)) else name

    def _is_possessive(self, mention: MentionRecord) -> bool | None:
        """Whether a mention is the owner of what follows; None if that cannot be told: "turned her back"."""
        text = mention.text.lower()
        if text in POSSESSIVE_PRONOUNS or without_possessive(text) != text:
            return True
        if text != "her":
            return False
        if any(self._mentions[index][0].end > mention.end for index in range(*self._starting(mention.start))):
            return True  # if "her lamp" is a mention, "her" is possessive
        following = re.match(r"\s+(\w+)(-\w|\W*)(\w*)", self._document.text[mention.end : mention.end + 60])
        # A capital letter starts a name: people called her Wren.
        if following is None or not following[1].islower():
            return False
        word, between, after = following.groups()
        if between[1:].isalpha():
            return True  # her never-ending laugh
        if word in _AFTER_OBJECT:
            return False
        if word in MAYBE_POSSESSED:
            return None
        ends = bool(between.strip()) or not after
        if word.endswith("ly") and word not in ADJECTIVES_IN_LY:
            # He touched her gently on the arm; her slightly open mouth.
            return False if ends or after.lower() in FUNCTION_WORDS else None
        return not (ends and word in ("first", "last", "best"))

    def _starting(self, start: int) -> tuple[int, int]:
        """The range of the mentions that start at this character."""
        return bisect_left(self._starts, start), bisect_left(self._starts, start + 1)


def _naming(cluster: ResultCluster) -> _Naming | None:
    """The name of a cluster for use in running text; None if it is only a pronoun, or shortened for display."""
    named = [mention for mention in cluster if mention.kind != "PRON" and not mention.facts.pronoun]
    wording = next((mention for mention in named if _wording(mention) == cluster.name), None)
    shortened = cluster.name.endswith(_SHORTENED)
    if not cluster.name or is_pronoun(cluster.name):
        return None
    if wording is None and shortened and any(_wording(m).startswith(cluster.name[:-1]) for m in named):
        return None
    kind = "PROP" if wording is None else wording.kind
    words = cluster.name.split()
    ends_like_plural = words[-1].lower().endswith("s") and not words[-1].lower().endswith("ss")
    several = kind == "NOM" or words[0].lower() == "the"
    plural = mention_facts(words).gender == PLURAL or (ends_like_plural and several)
    return _Naming(cluster.name, wording, kind, plural)


def _wording(mention: MentionRecord) -> str:
    return without_possessive(" ".join(mention.text.split()))


def _first_letter(document: Document, word: int) -> int:
    """The offset of the first word from `word` on that is not only quotes and dashes."""
    while word + 1 < len(document.words) and not any(letter.isalnum() for letter in document.words[word]):
        word += 1
    return document.offsets[word].start
