"""The display name of an entity: its most informative mention, found without keeping all mentions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from longcoref.clusters import KINDS
from longcoref.english.lexicon import POSSESSIVE_DETERMINERS, POSSESSIVE_ENDINGS

_MAX_STRINGS = 64  # kept per entity; the first ones introduce it
_MAX_WORDS = 6
_MAX_CHARACTERS = 60
_COMMON = 0.05  # a name must be this frequent, compared with the most frequent one


@dataclass(slots=True)
class NameChooser:
    """Counts the wordings of an entity's mentions of the most informative kind so far, and chooses one."""

    rank: int = len(KINDS)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, kind: str) -> None:
        """Takes the next mention's text; `kind` is one of `KINDS`."""
        rank = KINDS.index(kind)
        if rank > self.rank:
            return
        if rank < self.rank:
            self.rank = rank
            self.counts.clear()
        name = " ".join(text.split())
        if rank < KINDS.index("PRON"):
            name = without_possessive(name)
        if name and (name in self.counts or len(self.counts) < _MAX_STRINGS):
            self.counts[name] += 1

    def best(self) -> str:
        """The most informative name: one that covers the other wordings, is frequent, and no longer than necessary."""
        if not self.counts:
            return ""
        words = {name: frozenset(name.lower().split()) for name in self.counts}
        short = [name for name in self.counts if len(name.split()) <= _MAX_WORDS and "and" not in words[name]]
        least = max(2.0, _COMMON * max(self.counts.values()))
        common = [name for name in short if self.counts[name] >= least] or short or list(self.counts)
        common = [name for name in common if not self._is_owned(name)] or common

        def merit(name: str) -> tuple[int, int, int]:
            covered = sum(count for other, count in self.counts.items() if words[other] <= words[name])
            return covered, self.counts[name], -len(name)

        return _cut(max(common, key=merit))

    def _is_owned(self, name: str) -> bool:
        """Whether a wording is a more frequent one with its owner: "her Wren" beside "Wren"."""
        owner, _, rest = name.partition(" ")
        return owner.lower() in POSSESSIVE_DETERMINERS and self.counts[rest] > self.counts[name]


def without_possessive(name: str) -> str:
    """The name without a possessive ending."""
    for ending in POSSESSIVE_ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending).rstrip()
    return name


def _cut(name: str) -> str:
    if len(name) <= _MAX_CHARACTERS:
        return name
    return name[: _MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
