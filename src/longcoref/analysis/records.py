"""Statistics of the records of `longcoref evaluate --records`: difficulty of documents, use of the memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from longcoref.errors import InputError, optional_module

Record = Mapping[str, Any]
_NEEDED = ("words", "gold_entities", "most_in_memory", "ignored", "conll_f1")


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The records of a file, one for each document."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from error
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"expected a JSON object, got {line[:40]!r}", path, number) from error
        missing = [name for name in _NEEDED if not isinstance(record, dict) or name not in record]
        if missing:
            raise InputError(
                f"is no record of a document: {missing[0]!r} is missing; longcoref evaluate --records writes them",
                path,
                number,
            )
        records.append(record)
    if not records:
        raise InputError("holds no record; longcoref evaluate --records writes one for each document", path)
    return records


def correlations(records: Sequence[Record]) -> dict[str, float | None]:
    """Spearman's correlation of a document's CoNLL F1 with its length in words and with its number of entities."""
    scores = [record["conll_f1"] for record in records]
    return {name: spearman([record[name] for record in records], scores) for name in ("words", "gold_entities")}


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The correlation of ranks; None if one side is constant, so that there is nothing to rank."""
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    stats = optional_module("scipy.stats", extra="eval", needed_for="correlation")
    return float(stats.spearmanr(first, second).statistic)


def memory_use(records: Sequence[Record]) -> dict[str, float]:
    """The most entities in memory at once, as a mean and a maximum over documents, and the ignored mentions."""
    held = [record["most_in_memory"] for record in records]
    return {
        "average_entities": mean(held),
        "max_entities": max(held),
        "ignored_per_document": mean(record["ignored"] for record in records),
    }
