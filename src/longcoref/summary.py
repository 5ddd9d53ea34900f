"""Name, type and size of a cluster, computed mention by mention without keeping the mentions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from longcoref.book.naming import NameChooser
from longcoref.mention import MentionRecord


@dataclass(slots=True)
class Summary:
    """What is known of a cluster after some of its mentions."""

    count: int = 0
    _names: NameChooser = field(default_factory=NameChooser)
    _types: Counter[str] = field(default_factory=Counter)

    def add(self, mention: MentionRecord, *, naming: bool = True) -> None:
        """Takes the next mention; with `naming=False`, one that the cluster must not be named after."""
        self.count += 1
        if naming:
            self._names.add(mention.text, mention.kind)
        if mention.type is not None:
            self._types[mention.type] += 1

    def as_json(self) -> list[Any]:
        """Everything, as JSON values."""
        return [self.count, self._names.rank, self._names.counts, self._types]

    @classmethod
    def of(cls, values: list[Any]) -> Summary:
        """The inverse of `as_json`."""
        count, rank, names, types = values
        return cls(count, NameChooser(rank, Counter(names)), Counter(types))

    @property
    def name(self) -> str:
        """The most informative wording."""
        return self._names.best()

    @property
    def type(self) -> str | None:
        """The most frequent type, None if the model has no types."""
        return next((type for type, _ in self._types.most_common(1)), None)
