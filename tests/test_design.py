"""docs/design.md names what exists: the functions on the path of a text, and the dependencies."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def section(number: int) -> str:
    """The text of a numbered section."""
    return re.split(r"^## \d+\. ", DESIGN, flags=re.MULTILINE)[number]


def named(path: str) -> Any:
    """The object of a dotted path below `longcoref`; raises if there is none."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["longcoref", *parts[:end]]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise AttributeError(path)


ROWS = re.findall(r"^\| \d+ \| (.*?) \|", section(2), flags=re.MULTILINE)
PATH = [name for row in ROWS for name in re.findall(r"`([\w.]+)`", row)]


def test_the_path_of_a_text_is_a_list_of_functions() -> None:
    assert len(PATH) > 15


@pytest.mark.parametrize("path", PATH)
def test_a_function_on_the_path_of_a_text_is_where_the_page_says(path: str) -> None:
    found = named(path)
    assert callable(found)
    defined = found.__module__.removeprefix("longcoref.")
    assert path.startswith(f"{defined}.") or defined.startswith(path.rsplit(".", 1)[0])  # or exported by its package


def test_a_function_that_does_not_exist_is_found() -> None:
    with pytest.raises(AttributeError):
        named("runtime.reading.Reader.reed")


def test_every_dependency_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: wanted for name, wanted in project["optional-dependencies"].items() if name != "dev"}
    wanted = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    names = {re.split(r"[<>=;\[ ]", line)[0] for line in wanted}
    assert {name for name in names if name not in section(1)} == set()
    assert {name for name in extras if f"[{name}]" not in section(1)} == set()
