"""README, guide and reader page documentation show exactly what their commands print; the network recipe works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("spacy")

from write_guide import PAGES, ROOT, encoding_once, regenerated


@pytest.fixture(scope="module", autouse=True)
def encoded_once() -> Iterator[None]:
    with encoding_once():
        yield


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_exactly_what_its_commands_print(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert regenerated(page) == page, f"{name} is out of date: run python scripts/write_guide.py"


@pytest.mark.parametrize(
    ("shown", "printed"), [("138 entities", "137 entities"), ("137  entities", "137 entities"), ("", "137 entities")]
)
def test_a_single_wrong_character_is_found(shown: str, printed: str) -> None:
    page = "```python\nprint('{printed}')\n```\n\n```\n{shown}\n```\n"
    wrong, right = (page.format(printed=printed, shown=text) for text in (shown, printed))
    assert regenerated(wrong) == regenerated(right) == right != wrong


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
