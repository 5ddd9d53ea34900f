"""`longcoref info`: print versions, threads and the model, for a bug report."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

import longcoref
from longcoref.cli.options import JsonOption
from longcoref.config import config_table
from longcoref.runtime.encoder import OnnxEncoder
from longcoref.runtime.model import find_model, open_model, shipped_models
from longcoref.runtime.processor import multiplies_bytes

_PACKAGES = ("numpy", "onnxruntime", "tokenizers", "safetensors", "typer", "rich")
_EXTRAS = ("torch", "transformers", "scipy", "spacy", "pandas", "matplotlib", "fastapi", "uvicorn")
_PROCESSOR = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def info(
    model: Annotated[
        str | None,
        typer.Argument(help="Model directory, or name of a shipped model.", show_default="the shipped one"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print versions, threads and the settings of a model, for a bug report.

    Examples:
      longcoref info
      longcoref info models/mine --json

    """
    facts: dict[str, Any] = {"program": _program()}
    if model is not None or shipped_models():
        facts |= _model(model)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")  # never truncate a value
    for section, values in facts.items():
        table.add_section()
        for key, value in values.items():
            table.add_row(f"{section} {key.replace('_', ' ')}", _shown(value))
    Console().print(table)


def _program() -> dict[str, Any]:
    versions = {"longcoref": longcoref.__version__, "python": platform.python_version()}
    installed = {package: _version(package) for package in (*_PACKAGES, *_EXTRAS)}
    return {
        **versions,
        **{package: number for package, number in installed.items() if number},
        "system": platform.platform(),
        "processor": _processor(),
        "multiplies_bytes": multiplies_bytes(),
        "processors": os.cpu_count(),
        "encoding": sys.stdout.encoding,
        "shipped_models": shipped_models(),
    }


def _processor() -> str:
    """The processor model: its instruction set determines how the encoder's numbers are rounded."""
    facts = Path("/proc/cpuinfo")
    found = _PROCESSOR.search(facts.read_text(errors="replace")) if facts.is_file() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _model(name: str | None) -> dict[str, Any]:
    opened = open_model(name)
    folder = find_model(name)
    facts: dict[str, Any] = {
        "name": opened.name,
        "path": str(folder),
        "megabytes": round(sum(file.stat().st_size for file in folder.iterdir()) / 1e6, 1),
        "fingerprint": opened.fingerprint[:16],
    }
    if isinstance(opened.encoder, OnnxEncoder):
        facts |= {"encoder_weights": opened.encoder.weights, "threads": opened.encoder.threads}
    sections = {key: config_table(getattr(opened.config, key)) for key in ("encoder", "model", "proposals", "memory")}
    sections = {f"{key} settings" if key == "model" else key: table for key, table in sections.items()}
    known = {key: value for key, value in opened.facts.items() if isinstance(value, dict) and key != "files"}
    return {"model": facts, **sections, **known}


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
