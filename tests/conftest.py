"""Where the corpora are, how hypothesis runs, and one browser for all tests that look at pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("longcoref", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("longcoref")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder with lrec2020-coref, litbank and gum. Under CI it must be there; elsewhere the test is skipped."""
    root = Path(os.environ.get("LONGCOREF_DATA", ROOT.parent / "shared" / "data"))
    if not (root / "lrec2020-coref").is_dir():
        message = f"the corpora are not at {root}: set LONGCOREF_DATA to the folder that holds lrec2020-coref"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return root


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory with a tiny encoder and random weights."""
    pytest.importorskip("torch")
    from model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """A browser, and the folder of its downloads. Under CI it must be there; elsewhere the test is skipped."""
    from browser import browser_is_installed, open_browser

    if not browser_is_installed():
        message = "no browser: install Debian's packages chromium and chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("page")
    with open_browser(downloads=folder) as chrome:
        yield chrome, folder
