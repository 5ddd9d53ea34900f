"""An inverted index of the strings of all entities in memory.

It finds the cells whose entity shares a word, a head or the whole wording with a mention. A mention is looked up by its
own few strings, so the work does not grow with the memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from longcoref.features.facts import MentionFacts
from longcoref.features.pairs import NO_MATCH, SAME_HEAD, SAME_STRING, SAME_TOKEN


def keys_of(facts: MentionFacts) -> Iterator[tuple[int, str]]:
    """The strings of a mention with the level of match that each gives, weakest first."""
    for token in facts.tokens:
        yield SAME_TOKEN, token
    if facts.head:
        yield SAME_HEAD, facts.head
    if facts.exact:
        yield SAME_STRING, facts.exact


def match_levels_of(facts: MentionFacts, entities: Iterable[Iterable[tuple[int, str]]]) -> list[int]:
    """The best level of match of a mention with each of some entities that have these strings."""
    own = set(keys_of(facts))
    return [max(own.intersection(keys), default=(NO_MATCH, ""))[0] for keys in entities]


class MatchIndex:
    """The strings of all entities in memory, by cell."""

    def __init__(self, entries: Iterable[tuple[int, int, str]] = ()) -> None:
        self._cells: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
        self._keys: defaultdict[int, set[tuple[int, str]]] = defaultdict(set)
        for cell, level, string in entries:
            self._add(cell, (level, string))

    def entries(self) -> list[tuple[int, int, str]]:
        """Cell, level and string of every entry, as `MatchIndex` takes them."""
        return [(cell, *key) for cell, keys in self._keys.items() for key in keys]

    def levels(self, facts: MentionFacts, count: int) -> npt.NDArray[np.int64]:
        """The best level of match of a mention with each of the first `count` cells."""
        levels = np.zeros(count, dtype=np.int64)
        for key in keys_of(facts):
            for cell in self._cells.get(key, ()):
                levels[cell] = key[0]
        return levels

    def add(self, cell: int, facts: MentionFacts) -> None:
        """Adds a mention of the entity in `cell`."""
        for key in keys_of(facts):
            self._add(cell, key)

    def _add(self, cell: int, key: tuple[int, str]) -> None:
        self._cells[key].add(cell)
        self._keys[cell].add(key)

    def keys(self, cell: int) -> list[tuple[int, str]]:
        """The strings of the entity in `cell`, with their levels."""
        return sorted(self._keys.get(cell, ()))

    def put(self, cell: int, keys: Iterable[tuple[int, str]]) -> None:
        """Adds an entity with these strings to `cell`."""
        for key in keys:
            self._add(cell, key)

    def forget(self, cell: int) -> None:
        """Removes the entity in `cell`, which was evicted."""
        for key in self._keys.pop(cell, ()):
            self._cells[key].discard(cell)
            if not self._cells[key]:
                del self._cells[key]
