"""What a cell and the archive are said to cost is what they cost."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from longcoref.features.facts import mention_facts
from longcoref.features.matching import keys_of
from longcoref.features.speech import PlacedFacts
from longcoref.memory import LearnedMemory
from longcoref.memory.actions import Action, ActionKind
from longcoref.runtime.archive import IN_MEMORY, Archive
from longcoref.runtime.cell_state import CellContent
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.footprint import DECISIONS_AT_ONCE, bytes_of_archive, bytes_per_cell, peak_bytes
from longcoref.runtime.heads import Heads
from longcoref.runtime.model import open_model


def peak_of(heads: Heads, cells: int) -> int:
    """The most bytes while a memory is filled with entities of two names, and the last mention meets them all."""
    random = np.random.default_rng(1)
    tracemalloc.start()
    clusterer = Clusterer(heads, LearnedMemory(cells))
    for start in range(0, cells, 64):
        x = random.normal(size=(64, heads.span_width)).astype(np.float32)
        names = [["Mr.", f"Given{start + row}", f"Family{start + row}"] for row in range(64)]
        facts = [PlacedFacts(mention_facts(words), start, False) for words in names]
        actions = [Action(ActionKind.NEW, start + row) for row in range(64)]
        for _ in clusterer.cluster(x, np.ones(64, np.float32), facts, actions):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_cell_costs_what_is_said(tiny_model: Path) -> None:
    heads = open_model(tiny_model, threads=1).heads
    small, large = 576, 832
    measured = (peak_of(heads, large) - peak_of(heads, small)) / (large - small)
    said = bytes_per_cell(heads) - 8 * DECISIONS_AT_ONCE  # no decision was kept
    assert measured <= said <= 3 * measured


def test_the_archive_costs_what_is_said(tiny_model: Path) -> None:
    heads = open_model(tiny_model, threads=1).heads
    tracemalloc.start()
    archive = Archive(heads.span_width, heads.config.hidden)
    for entity in range(IN_MEMORY):
        names = [["Mr.", f"Given{entity}", f"Family{entity}"], [f"Nickname{entity}"]]
        keys = [key for words in names for key in keys_of(mention_facts(words))]
        vector, part = (np.full(size, entity, np.float32) for size in (heads.span_width, heads.config.hidden))
        archive.put(entity, CellContent(vector, part, 1.0, [entity + 1000 * number for number in range(9)], keys))
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured <= bytes_of_archive(heads) <= 4 * measured


def test_the_peak_of_this_process_is_seen() -> None:
    before = peak_bytes()
    held = np.ones(before // 8 + 8_000_000)  # more than the process ever had
    assert peak_bytes() >= before + 8_000_000
    assert len(held)
