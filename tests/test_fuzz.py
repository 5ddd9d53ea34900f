"""A short run of every fuzz target; `make fuzz` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import CORPUS, NEED_A_MODEL, opened, random_run, reader_names


@pytest.mark.parametrize("name", reader_names())
def test_readers_refuse_damaged_files_with_our_own_errors(name: str) -> None:
    assert random_run(name, 800)["refused"] > 0


@pytest.mark.parametrize("name", NEED_A_MODEL)
def test_states_models_and_requests_are_refused_with_our_own_errors(name: str) -> None:
    pytest.importorskip("torch")
    assert random_run(name, 100)["refused"] > 0


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.input")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_input_that_once_broke_a_law_breaks_none_today(path: Path) -> None:
    with opened(path.parent.name) as (target, _):
        target(path.read_bytes())
