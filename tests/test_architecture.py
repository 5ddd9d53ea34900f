"""Who may import whom (docs/design.md, section 3), and what a bare import loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import longcoref

PACKAGE = Path(longcoref.__file__).parent

FOUNDATION = {"cancellation", "spans", "clusters", "document", "config", "errors", "files", "plan", "temporary", "toml"}
LOGIC = {"english", "text", "formats", "memory", "metrics", "features", "mention"}
SURFACE = {"resolver", "reading", "pipe", "result", "outcome", "corrections", "summary", "render"}
ENDS = {"cli", "server", "spacy_component", "__main__"}

# What each top-level module or folder may import of longcoref, beside itself; a dotted name is one module of a folder.
MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(FOUNDATION, FOUNDATION),
    **dict.fromkeys(LOGIC, FOUNDATION),
    "text": FOUNDATION | {"english"},
    "features": FOUNDATION | {"english", "text", "memory"},
    "mention": FOUNDATION | {"english", "features", "memory"},
    "book": FOUNDATION | {"english", "text", "features", "memory", "mention", "formats"},  # formats: to fit weights
    "formats": FOUNDATION | {"text"},  # plain text and OntoGUM come without sentences
    "extraction": FOUNDATION | {"formats"},  # how files are opened, and which are not plain text
    "runtime": FOUNDATION | LOGIC,
    "nn": FOUNDATION | LOGIC | {"runtime.windows", "runtime.pieces"},
    "calibration": FOUNDATION | LOGIC | {"runtime"},
    "evaluation": FOUNDATION | LOGIC | {"runtime", "book", "outcome", "calibration"},
    "silver": FOUNDATION | LOGIC | SURFACE | {"book"},
    "benchmark": FOUNDATION | LOGIC | SURFACE | {"runtime"},
    "corpus": FOUNDATION | LOGIC | SURFACE | {"runtime", "extraction", "__init__"},  # its version
    "training": FOUNDATION | LOGIC | {"nn", "runtime", "calibration", "evaluation", "benchmark"},
    "analysis": FOUNDATION | LOGIC,
    **dict.fromkeys(SURFACE, FOUNDATION | LOGIC | SURFACE | {"runtime", "book"}),
    "__init__": FOUNDATION | SURFACE | {"mention", "text"},
    **dict.fromkeys(
        ENDS,
        FOUNDATION
        | LOGIC
        | SURFACE
        | {"book", "runtime", "nn", "evaluation", "benchmark", "training", "analysis", "silver", "__init__"},
    ),
    "__main__": {"cli"},
}

MAY_IMPORT["cli"] = MAY_IMPORT["cli"] | {"server", "extraction", "corpus"}  # a command starts it

# Heavy packages and the only places that may import them, wherever the import stands.
HEAVY: dict[str, set[str]] = {
    "torch": {"nn", "training"},
    "transformers": {"nn", "training"},
    "spacy": {"spacy_component"},
    "scipy": {"metrics", "analysis", "training"},
    "matplotlib": {"analysis"},
    **{name: {"server"} for name in ("fastapi", "uvicorn", "prometheus_client")},
    **{name: {"corpus"} for name in ("pyarrow", "ray", "fsspec")},
    **{name: {"extraction"} for name in ("pypdf", "striprtf")},
}


def imported_names(module: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a module imports: at the top, inside functions, or by a literal name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{origin}.{alias.name}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"optional_module", "import_module", "__import__"}:
                yield node.lineno, str(node.args[0].value)


def broken_rules(sources: Mapping[str, str]) -> list[str]:
    """The imports that the tables above do not allow, given the source of each module by its full name."""
    broken = []
    for module, source in sources.items():
        own = module.removeprefix("longcoref.").split(".")[0]
        if own not in MAY_IMPORT:
            broken.append(f"{module}: has no place in the table of levels")
            continue
        for line, name in imported_names(module, source):
            root, *rest = name.split(".")
            if root in HEAVY and own not in HEAVY[root]:
                broken.append(f"{module}:{line}: imports {root}")
            if root != "longcoref":
                continue
            target = rest[0] if rest and rest[0] in MAY_IMPORT else "__init__"
            allowed = {own} | MAY_IMPORT[own]
            if target not in allowed and ".".join(rest[:2]) not in allowed:
                broken.append(f"{module}:{line}: imports {name}")
    return broken


def package_sources() -> dict[str, str]:
    sources = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        sources[".".join(["longcoref", *parts])] = path.read_text(encoding="utf-8")
    return sources


def test_no_import_points_up() -> None:
    sources = package_sources()
    assert "longcoref.metrics.muc" in sources
    assert broken_rules(sources) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("longcoref.document", "from longcoref.metrics import muc"),
        ("longcoref.document", "import longcoref"),
        ("longcoref.memory.oracle", "from longcoref import cli"),
        ("longcoref.memory.oracle", "from longcoref import Document"),
        ("longcoref.metrics.muc", "from longcoref.formats import read_corpus"),
        ("longcoref.metrics.muc", "from ..formats import read_corpus"),
        ("longcoref.runtime.windows", "def late():\n    import longcoref.nn.teacher"),
        ("longcoref.runtime.windows", "def late():\n    import torch.nn"),
        ("longcoref.runtime.windows", "optional_module('torch', extra='train', needed_for='speed')"),
        ("longcoref.runtime.windows", "importlib.import_module('longcoref.nn')"),
        ("longcoref.nn.teacher", "from longcoref.runtime.clusterer import cluster"),
        ("longcoref.nn.teacher", "from longcoref.training import loop"),
        ("longcoref.analysis.errors", "from longcoref.runtime import windows"),
        ("longcoref.analysis.errors", "from longcoref.nn import teacher"),
        ("longcoref.analysis.errors", "from longcoref.cli.score import score"),
        ("longcoref.training.loop", "from longcoref.cli import main"),
        ("longcoref.evaluation", "from longcoref.training import loop"),
        ("longcoref.resolver", "from longcoref.nn import export"),
        ("longcoref.book.speakers", "from longcoref.runtime import reading"),
        ("longcoref.memory.cells", "from longcoref.features.facts import MentionFacts"),
        ("longcoref.cli.resolve", "import torch"),
        ("longcoref.novelty", "import json"),
    ],
)
def test_a_wrong_arrow_is_found(module: str, source: str) -> None:
    assert len(broken_rules({module: source})) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("longcoref.document", "from longcoref.clusters import Cluster\nimport numpy"),
        ("longcoref.memory.oracle", "from longcoref.memory.cells import Cell\nfrom .cells import Cell"),
        ("longcoref.nn.teacher", "import torch\nfrom longcoref.runtime.windows import split"),
        ("longcoref.nn.teacher", "from longcoref.runtime import windows"),
        ("longcoref.cli.train", "def train():\n    from longcoref.training import loop"),
        ("longcoref.cli.app", "import longcoref"),
    ],
)
def test_a_right_arrow_is_not(module: str, source: str) -> None:
    assert broken_rules({module: source}) == []


def loaded_by(code: str) -> set[str]:
    """The top-level packages in memory after a fresh interpreter has run some code."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_importing_longcoref_loads_no_extra() -> None:
    loaded = loaded_by("import longcoref")
    assert "longcoref" in loaded
    assert loaded.isdisjoint(HEAVY)


PUBLIC = [
    "CharSpan",
    "Cluster",
    "Document",
    "LongcorefError",
    "Mention",
    "MentionRecord",
    "Quotation",
    "Reading",
    "Resolver",
    "Result",
    "ResultCluster",
    "WordSpan",
    "document_of_words",
    "load",
]


def test_the_public_list_is_exact() -> None:
    assert longcoref.__all__ == PUBLIC
    for name in PUBLIC:
        assert getattr(longcoref, name).__name__ == name
    assert set(PUBLIC) <= set(dir(longcoref))
    with pytest.raises(AttributeError, match="no attribute 'Resolvr'"):
        _ = longcoref.Resolvr


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_can_be_imported_first(name: str) -> None:
    assert loaded_by(f"from longcoref import {name}").isdisjoint(HEAVY)


def test_importing_longcoref_does_not_load_the_runtime() -> None:
    assert "onnxruntime" not in loaded_by("import longcoref")
    assert "onnxruntime" in loaded_by("from longcoref import load")


HELP = """
from longcoref.cli import main
try:
    main(["--help"])
except SystemExit as done:
    assert done.code == 0, done.code
"""


def test_help_loads_no_extra() -> None:
    loaded = loaded_by(HELP)
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_loaded_extra_is_seen() -> None:
    assert "scipy" in loaded_by("import scipy.sparse")
