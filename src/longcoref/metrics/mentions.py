"""Mention detection: are the right spans found, whatever cluster they are in?"""

from __future__ import annotations

from itertools import chain

from longcoref.metrics.alignment import Alignment
from longcoref.metrics.score import Counts


def mentions(alignment: Alignment) -> Counts:
    """Counts for mention detection, by exact span."""
    key = set(chain.from_iterable(alignment.key))
    response = set(chain.from_iterable(alignment.response))
    common = len(key & response)
    return Counts(common, len(key), common, len(response))
