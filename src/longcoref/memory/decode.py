"""From actions back to clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from longcoref.memory.actions import Action
from longcoref.memory.cells import Cells

MentionType = TypeVar("MentionType")


def decode(mentions: Iterable[MentionType], actions: Iterable[Action]) -> list[Sequence[MentionType]]:
    """The clusters that result from the actions, in the order in which they were opened.

    Ignored and invalid mentions are in no cluster. An entity that was evicted and mentioned again has two clusters,
    unless it was recalled.
    """
    cells = Cells(archive={})
    clusters: list[list[MentionType]] = []
    for index, (mention, action) in enumerate(zip(mentions, actions, strict=True)):
        cells.apply(action, index)
        if action.cell is None:
            continue
        entity = cells.entities[action.cell]
        if entity == len(clusters):
            clusters.append([])
        clusters[entity].append(mention)
    return [tuple(cluster) for cluster in clusters]
