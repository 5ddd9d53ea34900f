"""The Dockerfile, the compose file and the systemd units, as far as they can be checked without running them."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from longcoref.cli.app import build_app

ROOT = Path(__file__).parent.parent


def dockerfile(instruction: str) -> list[str]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.removeprefix(instruction).strip() for line in text.splitlines() if line.startswith(f"{instruction} ")]


def unit(name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ROOT / "deploy" / name, encoding="utf-8")
    return parser


def commands() -> dict[str, list[str]]:
    entry = json.loads(dockerfile("ENTRYPOINT")[0])
    composed = re.search(r"command: (\[.*\])", (ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert composed is not None
    return {
        "Dockerfile": entry + json.loads(dockerfile("CMD")[0]),
        "compose.yaml": entry + json.loads(composed[1]),
        "longcoref.service": shlex.split(unit("longcoref.service")["Service"]["ExecStart"]),
    }


@pytest.mark.parametrize("place", ["Dockerfile", "compose.yaml", "longcoref.service"])
def test_the_server_accepts_its_options(place: str) -> None:
    program, command, *options = commands()[place]
    assert (Path(program).name, command) == ("longcoref", "serve")
    every: Any = typer.main.get_command(build_app())
    every.commands["serve"].make_context("serve", options)  # raises for an unknown option or value


def test_what_the_image_copies_is_sent_to_the_build() -> None:
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = [name for line in dockerfile("COPY") if not line.startswith("--from") for name in line.split()[:-1]]
    assert {f"!{name}" for name in copied} <= set(sent)
    assert all((ROOT / name).exists() for name in copied)


def test_the_units_belong_together() -> None:
    service, socket = unit("longcoref.service"), unit("longcoref.socket")
    assert service["Unit"]["Requires"] == "longcoref.socket"
    assert service["Service"]["SuccessExitStatus"] == "143"
    assert re.fullmatch(r"127\.0\.0\.1:\d+", socket["Socket"]["ListenStream"])
