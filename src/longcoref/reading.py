"""One text that is read piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from longcoref.errors import UsageError
from longcoref.mention import MentionRecord
from longcoref.result import Result
from longcoref.runtime.state import HalfRead, save_state
from longcoref.text import tokenize

if TYPE_CHECKING:
    from longcoref.resolver import Resolver


class Reading:
    """One text that is read piece by piece: `feed` it, look at the result `so_far`, `finish` it, or `save` it.

    The entity numbers of the mentions that `feed` returns are provisional: post-processing needs the whole text, moves
    mentions and renumbers the clusters. `Result.cluster_of` tells where a mention ended up.
    """

    def __init__(self, resolver: Resolver, half: HalfRead | None = None) -> None:
        """`half` is the part of the text that was read before."""
        self._resolver = resolver
        self._stream = resolver.stream() if half is None else half.stream
        self._pieces = [] if half is None else [half.text]
        self._mentions = [] if half is None else list(half.mentions)
        self._finished = False

    def feed(self, text: str) -> list[MentionRecord]:
        """Takes the next piece of the text; returns the newly decided mentions, with provisional entities."""
        self._check_open()
        self._pieces.append(text)
        return self._keep(self._stream.feed(text))

    def so_far(self) -> Result:
        """The provisional clusters of what has been decided so far."""
        return self._resolver.provisional(self._mentions)

    def finish(self, *, id: str = "") -> Result:
        """Ends the text and returns its result."""
        self._check_open()
        self._keep(self._stream.finish())
        self._finished = True
        return self._resolver.result(tokenize("".join(self._pieces), id=id), self._mentions)

    def save(self, path: str | Path) -> None:
        """Writes the text and what was decided so far to a file, from which `Resolver.resume` continues."""
        self._check_open()
        half = HalfRead("".join(self._pieces), self._mentions, self._stream)
        save_state(path, half, self._resolver.model, self._resolver.policy)

    def _check_open(self) -> None:
        if self._finished:
            raise UsageError("this reading is finished: open another for the next text")

    def _keep(self, mentions: Iterable[MentionRecord]) -> list[MentionRecord]:
        kept = [mention.without_decision() for mention in mentions if mention.entity is not None]
        self._mentions += kept
        return kept
