"""What ships: the package and its data, and nothing that only the repository needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_architecture import imported_names, package_sources

ROOT = Path(__file__).parent.parent
ENTRIES = ("longcoref.__init__", "longcoref.__main__", "longcoref.spacy_component")


@pytest.fixture(scope="module")
def shipped() -> set[str]:
    """The paths in the wheel, as the build backend would write it."""
    wheel = pytest.importorskip("hatchling.builders.wheel")
    files = wheel.WheelBuilder(str(ROOT)).recurse_included_files()
    return {Path(file.distribution_path).as_posix() for file in files}


def test_the_wheel_has_the_package_and_its_data(shipped: set[str]) -> None:
    modules = {f"{name.replace('.', '/')}.py" for name in package_sources()}
    assert {path for path in shipped if path.endswith(".py")} == modules
    model = ("model.toml", "tokenizer.json", "encoder.onnx", "heads.safetensors")
    assert {f"longcoref/models/default/{name}" for name in model} <= shipped
    assert "longcoref/py.typed" in shipped


def test_the_wheel_has_nothing_else_of_the_repository(shipped: set[str]) -> None:
    assert {path.split("/")[0] for path in shipped} == {"longcoref"}
    assert {path for path in shipped if {"reproduction", "scripts", "tests", "configs"} & set(path.split("/"))} == set()


def reachable(sources: dict[str, str], entries: tuple[str, ...]) -> set[str]:
    """The modules that are imported from the entries, directly or not, at the top or inside a function."""
    found, waiting = set(entries), list(entries)
    while waiting:
        module = waiting.pop()
        for _, name in imported_names(module, sources[module]):
            parts = name.split(".")
            parents = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
            for near in (each for parent in parents for each in (parent, f"{parent}.__init__")):
                if near in sources and near not in found:
                    found.add(near)
                    waiting.append(near)
    return found


def test_no_module_ships_that_nothing_imports_or_runs() -> None:
    sources = package_sources()
    run = tuple(name for name, source in sources.items() if 'if __name__ == "__main__":' in source)  # python -m NAME
    assert reachable(sources, ENTRIES + run) == set(sources)
    assert "longcoref.orphan" not in reachable({**sources, "longcoref.orphan": "import longcoref"}, ENTRIES + run)
