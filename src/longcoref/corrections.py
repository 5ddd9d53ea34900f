"""What a person decided about a text, and the entities that keep every decision.

A correction refers to an entity by one of its mentions, because entities are numbered anew by every run. `arrange`
takes the entities of the mentions, however they were found, and changes them until they agree with all decisions;
everything that no decision is about stays together as it was. docs/formats.md has the format.

Later decisions prevail. The decision about a mention is the last one that moves or removes it, and a reference to a
mention counts unless a later decision moves or removes that mention. The claims that remain are taken from the last to
the first, and one that contradicts those already taken is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longcoref.clusters import KINDS
from longcoref.document import Document
from longcoref.errors import UsageError, quoted, unknown_name
from longcoref.formats.records import Record, is_list_of
from longcoref.spans import CharSpan, WordsAt, WordSpan
from longcoref.text.quotations import ROLES


@dataclass(frozen=True, slots=True)
class Same:
    """The entities of two mentions are one."""

    entity: CharSpan
    other: CharSpan

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        return {"decision": "same", "entity": self.entity, "other": self.other}


@dataclass(frozen=True, slots=True)
class Move:
    """Mentions belong to the entity of the mention `target`, or to a new one, and not to that of `source`.

    Mentions that were not found are added, of this `kind`.
    """

    mentions: tuple[CharSpan, ...]
    source: CharSpan | None = None
    target: CharSpan | None = None
    kind: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        record = {"decision": "move", "mentions": self.mentions, "from": self.source, "to": self.target}
        return record if self.kind is None else {**record, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class Remove:
    """Spans are no mentions."""

    mentions: tuple[CharSpan, ...]

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        return {"decision": "remove", "mentions": self.mentions}


@dataclass(frozen=True, slots=True)
class Rename:
    """The entity of a mention has this name."""

    entity: CharSpan
    name: str

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        return {"decision": "name", "entity": self.entity, "name": self.name}


@dataclass(frozen=True, slots=True)
class Retype:
    """The entity of a mention has this type, or none."""

    entity: CharSpan
    type: str | None

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        return {"decision": "type", "entity": self.entity, "type": self.type}


@dataclass(frozen=True, slots=True)
class Attribute:
    """The entity of a mention, or nobody known, has a role in a quotation."""

    role: str
    quote: CharSpan
    entity: CharSpan | None

    def as_json(self) -> dict[str, Any]:
        """The decision as JSON values."""
        return {"decision": self.role, "quote": self.quote, "entity": self.entity}


Correction = Same | Move | Remove | Rename | Retype | Attribute


def read_corrections(record: Record) -> tuple[Correction, ...]:
    """The corrections of a document in our JSON."""
    return () if record.get("corrections") is None else tuple(map(_correction, record.records("corrections")))


def _correction(record: Record) -> Correction:
    decision = record.string("decision")
    if decision == "same":
        return Same(_place(record, "entity"), _place(record, "other"))
    if decision == "move":
        kind = record.string("kind")
        if kind is not None and kind not in KINDS:
            raise record.error(f"{record.path}kind: {unknown_name('kind', kind, KINDS)}")
        moved = _places(record)
        source, target = (None if record.get(key) is None else _place(record, key) for key in ("from", "to"))
        if source in moved or target in moved:
            raise record.error(f"{record.path}mentions: a mention cannot be moved to or from its own entity")
        return Move(moved, source, target, kind)
    if decision == "remove":
        return Remove(_places(record))
    if decision == "name":
        name = record.string("name")
        if not name:
            raise record.error(f"{record.path}name: expected a name, got {quoted(name)}")
        return Rename(_place(record, "entity"), name)
    if decision == "type":
        return Retype(_place(record, "entity"), record.string("type"))
    if decision in ROLES:
        entity = None if record.get("entity") is None else _place(record, "entity")
        return Attribute(decision, _place(record, "quote"), entity)
    known = ("same", "move", "remove", "name", "type", *ROLES)
    raise record.error(f"{record.path}decision: {unknown_name('decision', str(decision), known)}")


def _place(record: Record, key: str) -> CharSpan:
    return _span(record, key, record.get(key))


def _places(record: Record) -> tuple[CharSpan, ...]:
    spans = tuple(_span(record, f"mentions[{number}]", span) for number, span in enumerate(record.array("mentions")))
    if not spans:
        raise record.error(f"{record.path}mentions: expected at least one mention")
    return spans


def _span(record: Record, key: str, value: Any) -> CharSpan:
    if not is_list_of(value, int) or len(value) != 2 or not 0 <= value[0] < value[1]:
        raise record.error(f"{record.path}{key}: expected [start, end], got {quoted(value)}")
    return CharSpan(*value)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The entities of a text after corrections.

    `entities` has the entity of every mention, in text order and numbered in it, also of those that are new; `kinds`
    has the kinds that were given for them, and `decided` are the mentions that a decision is about. `became` tells for
    each earlier entity which one it is now. `names`, `types` and `roles` (by quotation and role) are what was decided
    about entities and quotations.
    """

    entities: dict[WordSpan, int]
    decided: frozenset[WordSpan]
    became: dict[int, int | None]
    kinds: dict[WordSpan, str]
    names: dict[int, str]
    types: dict[int, str | None]
    roles: dict[tuple[WordSpan, str], int | None]


def arrange(document: Document, found: Mapping[WordSpan, int], corrections: Sequence[Correction]) -> Arrangement:
    """The entities of a document after corrections, given those of the mentions that were found."""
    words_at = WordsAt(document.offsets)

    def words(place: CharSpan) -> WordSpan:
        span = words_at(*place)
        if span is None:
            raise UsageError(
                f"a correction refers to {place.start} to {place.end}, which does not begin and end with a word of "
                f"this text: {quoted(document.text[slice(*place)])}"
            )
        return span

    decisions = _Decisions(found, corrections, words)
    groups = _groups(decisions)
    keys = _keys(decisions, groups)
    numbers: dict[WordSpan | int, int] = {}
    entities = {span: numbers.setdefault(key, len(numbers)) for span, key in sorted(keys.items())}
    names, types = {}, {}
    roles: dict[tuple[WordSpan, str], int | None] = {}
    for place, correction in enumerate(corrections):
        if isinstance(correction, Attribute) and correction.entity is None:
            roles[words(correction.quote), correction.role] = None
        if not isinstance(correction, Rename | Retype | Attribute) or correction.entity is None:
            continue
        mention = decisions.meant(words(correction.entity), place)
        if mention is None:
            continue
        entity = entities[mention]
        if isinstance(correction, Rename):
            names[entity] = correction.name
        elif isinstance(correction, Retype):
            types[entity] = correction.type
        else:
            roles[words(correction.quote), correction.role] = entity
    return Arrangement(
        entities,
        frozenset(decisions.subjects),
        decisions.became(entities),
        {
            words(span): move.kind
            for move in corrections
            if isinstance(move, Move) and move.kind
            for span in move.mentions
        },
        names,
        types,
        roles,
    )


@dataclass(slots=True)
class _Decisions:
    """The corrections in words, with what each mention has to do with them.

    `last` is the number of the last decision that moves or removes a mention by itself; `removed` are the mentions that
    stay removed; `subjects` are those that a decision is about and that are mentions.
    """

    found: Mapping[WordSpan, int]
    corrections: Sequence[Correction]
    words: Callable[[CharSpan], WordSpan]
    last: dict[WordSpan, int] = field(default_factory=dict)
    removed: set[WordSpan] = field(default_factory=set)
    subjects: set[WordSpan] = field(default_factory=set)
    _members: dict[int, list[WordSpan]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, correction in enumerate(self.corrections):
            if isinstance(correction, Move | Remove):
                for span in map(self.words, correction.mentions):
                    self.last[span] = place
                    (self.removed.add if isinstance(correction, Remove) else self.removed.discard)(span)
            # A later reference to a removed mention says that it is one.
            self.removed.difference_update(map(self.words, _references(correction)))
        for span, entity in sorted(self.found.items()):
            self._members.setdefault(entity, []).append(span)
        self.subjects = set(self.last) - self.removed
        for place, correction in enumerate(self.corrections):
            for reference in _references(correction):
                mention = self.meant(self.words(reference), place)
                if mention is not None:
                    self.subjects.add(mention)

    def free(self, entity: int) -> list[WordSpan]:
        """The mentions of an entity as found, without those that were moved or removed, in text order."""
        return [span for span in self._members[entity] if span not in self.last]

    def moved(self, place: int) -> list[WordSpan]:
        """The mentions that the decision at this place has the last word on."""
        correction = self.corrections[place]
        spans = correction.mentions if isinstance(correction, Move) else ()
        return [span for span in dict.fromkeys(map(self.words, spans)) if self.last[span] == place]

    def counts(self, span: WordSpan, place: int) -> bool:
        """Whether the decision at this place means the mention that it refers to, because no later one moves it."""
        return self.last.get(span, -1) <= place and span not in self.removed

    def meant(self, span: WordSpan, place: int) -> WordSpan | None:
        """The mention that a reference means: itself or, if it was moved away later, one of those that it left behind.

        None if it left none.
        """
        if self.counts(span, place):
            return span
        rest = self.free(self.found[span]) if span in self.found else []
        return min(rest, key=lambda other: abs(other.start - span.start), default=None)

    def became(self, entities: Mapping[WordSpan, int]) -> dict[int, int | None]:
        """What each entity is now: the entity of the first mention that was left in it, or that is left of it."""
        return {
            entity: next((entities[span] for span in (*self.free(entity), *members) if span in entities), None)
            for entity, members in self._members.items()
        }

    @property
    def found_entities(self) -> Iterable[int]:
        """The entities as found, in text order."""
        return self._members


def _references(correction: Correction) -> Iterator[CharSpan]:
    """The mentions that stand for entities in a decision."""
    if isinstance(correction, Same):
        yield correction.entity
        yield correction.other
    elif isinstance(correction, Move):
        yield from (span for span in (correction.source, correction.target) if span is not None)
    elif not isinstance(correction, Remove) and correction.entity is not None:
        yield correction.entity


class _Groups:
    """Mentions that belong together, and groups that must stay apart."""

    def __init__(self) -> None:
        self._parents: dict[WordSpan, WordSpan] = {}
        self._apart: dict[WordSpan, set[WordSpan]] = {}

    def root(self, span: WordSpan) -> WordSpan:
        """The mention that stands for a group."""
        while (parent := self._parents.get(span, span)) != span:
            self._parents[span] = self._parents.get(parent, parent)
            span = parent
        return span

    def unite(self, first: WordSpan, second: WordSpan) -> bool:
        """Makes two groups one, unless they must stay apart; tells whether they are one now."""
        one, other = self.root(first), self.root(second)
        if one == other:
            return True
        if other in self._apart.get(one, ()):
            return False
        self._parents[other] = one
        for third in self._apart.pop(other, set()):
            self._apart[third].discard(other)
            self.separate(third, one)
        return True

    def separate(self, first: WordSpan, second: WordSpan) -> None:
        """Keeps two groups apart, unless they are one."""
        one, other = self.root(first), self.root(second)
        if one != other:
            self._apart.setdefault(one, set()).add(other)
            self._apart.setdefault(other, set()).add(one)


def _groups(decisions: _Decisions) -> _Groups:
    """The groups of the mentions that decisions are about."""
    groups = _Groups()
    wishes: list[tuple[WordSpan, WordSpan]] = []
    for place in reversed(range(len(decisions.corrections))):
        correction = decisions.corrections[place]
        if isinstance(correction, Same):
            one, other = decisions.words(correction.entity), decisions.words(correction.other)
            if decisions.counts(one, place) and decisions.counts(other, place):
                groups.unite(one, other)
            else:
                left, right = decisions.meant(one, place), decisions.meant(other, place)
                wishes += [(left, right)] if left is not None and right is not None else []
        elif isinstance(correction, Move) and (moved := decisions.moved(place)):
            target = None if correction.target is None else decisions.words(correction.target)
            hub = target if target is not None and decisions.counts(target, place) else moved[0]
            for span in moved:
                groups.unite(hub, span)
            if target is not None and hub != target and (rest := decisions.meant(target, place)) is not None:
                wishes.append((hub, rest))
            source = None if correction.source is None else decisions.words(correction.source)
            if source is not None and decisions.counts(source, place):
                for span in moved:
                    groups.separate(span, source)
    for one, other in wishes:
        groups.unite(one, other)
    for entity in decisions.found_entities:  # together as found, where no decision says otherwise
        seen: list[WordSpan] = []
        for span in decisions.free(entity):
            if span in decisions.subjects:
                any(groups.unite(other, span) for other in reversed(seen))
                seen.append(span)
    return groups


def _keys(decisions: _Decisions, groups: _Groups) -> dict[WordSpan, WordSpan | int]:
    """For each mention the group that it is in, or the entity as found if no decision is about any of its mentions."""
    keys: dict[WordSpan, WordSpan | int] = {span: groups.root(span) for span in decisions.subjects}
    for entity in decisions.found_entities:
        members = decisions.free(entity)
        decided = [span for span in members if span in decisions.subjects]
        for span in members:
            keys.setdefault(span, groups.root(_nearest(decided, span)) if decided else entity)
    return keys


def _nearest(spans: Sequence[WordSpan], span: WordSpan) -> WordSpan:
    """The nearest of some mentions in text order."""
    place = bisect_left(spans, span)
    return min(spans[max(0, place - 1) : place + 1], key=lambda other: abs(other.start - span.start))
