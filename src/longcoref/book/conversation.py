"""The speakers of a conversation, decided together.

People take turns, so who speaks one quotation depends on who spoke the two before, and a tag after the third says
something about all of them. The probability of a speaker is the sum over all ways in which the turns may have gone:
the forward-backward algorithm of a linear chain, whose states are the last two speakers.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from longcoref.book.choice import normalized
from longcoref.book.numbers import HISTORIES
from longcoref.cancellation import cancellable


class Turns(NamedTuple):
    """The last speaker of a conversation, and the last one before who is somebody else."""

    last: int | None = None
    other: int | None = None

    def then(self, speaker: int | None) -> Turns:
        """The turns after one more quotation, whose speaker may be unknown."""
        return Turns(*_then(self, speaker))


_Turns = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Utterance:
    """How likely everybody is to speak a quotation, as masses that need not sum to 1.

    `alone` does not depend on the turns. Who spoke before in the conversation has `returning` in addition (`usual` if
    they are not in it), and the sum is multiplied by one of the `turns`: that of the last speaker, or of the other one.
    """

    alone: Mapping[int, float]
    returning: Mapping[int, float]
    usual: float
    turns: tuple[float, float]

    def masses(self, before: _Turns) -> dict[int | None, float]:
        """The mass of each speaker after these turns; nobody has one if there is no candidate."""
        found = cast("dict[int | None, float]", dict(self.alone))
        for entity, factor in zip(before, self.turns, strict=True):
            if entity is not None:
                found[entity] = (found.get(entity, 0.0) + self.returning.get(entity, self.usual)) * factor
        return found or {None: 1.0}


def decide(conversation: Sequence[Utterance]) -> list[dict[int, float]]:
    """The probability of each speaker of each quotation, given the whole conversation."""
    forward: list[dict[_Turns, float]] = [{Turns(): 1.0}]
    for utterance in cancellable(conversation):
        reached: defaultdict[_Turns, float] = defaultdict(float)
        for before, share in forward[-1].items():
            for speaker, mass in utterance.masses(before).items():
                reached[_then(before, speaker)] += share * mass
        likely = heapq.nlargest(HISTORIES, reached, key=reached.__getitem__)
        forward.append(normalized({turns: reached[turns] for turns in likely}))
    ahead = dict.fromkeys(forward.pop(), 1.0)
    decided = []
    for utterance, reached_before in zip(reversed(conversation), reversed(forward), strict=True):
        found: defaultdict[int, float] = defaultdict(float)
        behind: dict[_Turns, float] = {}
        for before, share in reached_before.items():
            total = 0.0
            for speaker, mass in utterance.masses(before).items():
                weighed = mass * ahead.get(_then(before, speaker), 0.0)
                total += weighed
                if speaker is not None:
                    found[speaker] += share * weighed
            behind[before] = total
        decided.append(normalized(found))
        ahead = normalized(behind)
    return decided[::-1]


def _then(before: _Turns, speaker: int | None) -> _Turns:
    """`Turns.then` as a plain tuple, which is made much faster."""
    return before if speaker is None or speaker == before[0] else (speaker, before[0])
