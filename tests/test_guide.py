"""The guide shows what its commands print, and its recipe for networks makes networks."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest.importorskip("spacy")

from write_guide import GUIDE, ROOT, written


def blocks(page: str) -> list[tuple[str, list[str]]]:
    """The language and the words of every block, numbers as 0."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return [(language, re.sub(r"[0-9]+", "0", text).split()) for language, text in found]


def test_the_guide_shows_what_its_commands_print() -> None:
    page = GUIDE.read_text(encoding="utf-8")
    shown, printed = blocks(page), blocks(written(page))
    assert [language for language, _ in shown] == [language for language, _ in printed]
    for (_, before), (_, now) in zip(shown, printed, strict=True):
        # Another processor rounds the encoder's numbers otherwise, and a mention may change sides.
        alike = difflib.SequenceMatcher(None, before, now, autojunk=False).ratio()
        assert alike > 0.85, f"{' '.join(before)[:80]}: run python scripts/write_guide.py"


def test_who_is_with_whom(tmp_path: Path) -> None:
    paragraphs = ["CHAPTER 1", "Ann met <Tom>.", "Ann slept.", "CHAPTER 2", "Ann, <Tom> and Ruth sang."]
    text = "\r\n\r\n".join(paragraphs)
    clusters = []
    for name in ("Ann", "<Tom>", "Ruth"):
        mentions = [{"start": found.start(), "end": found.end()} for found in re.finditer(name, text)]
        clusters.append({"name": name, "type": "PER", "mentions": mentions * 10})
    (tmp_path / "text.txt").write_bytes(text.encode())
    (tmp_path / "result.json").write_text(json.dumps({"clusters": clusters}), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("text.txt", "result.json", "network.graphml")]
    command = [sys.executable, str(ROOT / "examples" / "who_with_whom.py"), *files]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert re.sub(" +", " ", run.stdout.splitlines()[1]) == " 2 Ann and <Tom> 1 1"
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = ElementTree.parse(tmp_path / "network.graphml").getroot()
    assert [node.findtext(f"{space}data") for node in graph.iter(f"{space}node")] == ["Ann", "<Tom>", "Ruth"]
    edges = {
        (edge.get("source"), edge.get("target")): edge.findtext(f"{space}data") for edge in graph.iter(f"{space}edge")
    }
    assert edges == {("0", "1"): "2", ("0", "2"): "1", ("1", "2"): "1"}
