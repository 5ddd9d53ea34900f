"""Measures a reader page in Chromium: size, time until it can be used, time of a step, and of showing the network.

python scripts/measure_page.py [--words 120000]      a made-up novel
python scripts/measure_page.py --page novel.html     a page that longcoref resolve wrote
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By

from browser import open_browser
from longcoref.features.facts import mention_facts
from longcoref.memory import Action, ActionKind
from longcoref.memory.decision import Decision
from longcoref.mention import MentionRecord
from longcoref.render.html import Trace, page
from longcoref.spans import WordSpan

CELLS = 20
WORDS = ["the", "of", "and", "to", "in", "that", "it", "was", "for", "with", "had", "not", "at", "on", "by", "which"]
PRONOUNS = ["he", "she", "him", "her"]
COUNT = 60
STEPS = f"""
const done = arguments[0];
(async () => {{
  for (let count = 0; count < {COUNT}; count++) {{
    const key = count % 3 === 2 ? "p" : "n";
    document.body.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
  }}
  done();
}})();
"""
NETWORK = """
const done = arguments[0];
(async () => {
  for (const key of ["g", "g"]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
  }
  done();
})();
"""


def novel(words: int, entities: int = 3000) -> tuple[dict[str, Any], str, list[MentionRecord]]:
    """A result, its text and its trace: about every fourth word is a mention, a few entities have most of them."""
    chance = random.Random(1)
    clusters: list[list[dict[str, Any]]] = [[] for _ in range(entities)]
    pieces: list[str] = []
    trace: list[MentionRecord] = []
    cells: dict[int, int] = {}
    place = 0
    for number in range(words):
        word, entity = chance.choice(WORDS), None
        if chance.random() < 0.29:
            entity = min(int(chance.paretovariate(0.55)) - 1, entities - 1)
            word = f"Name{entity}" if chance.random() < 0.4 else chance.choice(PRONOUNS)
            end = place + len(word)
            kind = "PROP" if word[0] == "N" else "PRON"
            clusters[entity].append(
                {"start": place, "end": end, "text": word, "kind": kind, "score": round(chance.random(), 4)}
            )
            decision = decide(cells, entity, chance)
            trace.append(
                MentionRecord(
                    words=WordSpan(number, number + 1),
                    start=place,
                    end=end,
                    text=word,
                    sentence=0,
                    kind=kind,
                    type=None,
                    facts=mention_facts([word]),
                    entity=entity,
                    score=0.5,
                    decision=decision,
                )
            )
        separator = ".\n\n" if number % 70 == 69 else "\n" if number % 14 == 13 else " "
        pieces += [word, separator]
        place += len(word) + len(separator)
    records = [
        {"id": id, "name": f"Name{id}", "type": "PER", "mentions": mentions}
        for id, mentions in enumerate(clusters)
        if mentions
    ]
    return {"schema": "longcoref/1", "clusters": records}, "".join(pieces), trace


def decide(cells: dict[int, int], entity: int, chance: random.Random) -> Decision:
    """What a memory might do with a mention; `cells` has the cell of each entity that is held."""
    kind, evicted = ActionKind.LINK, None
    if entity not in cells:
        kind = ActionKind.NEW
        cell = len(cells)
        if cell == CELLS:
            kind, evicted = ActionKind.EVICT, chance.choice(list(cells))
            cell = cells.pop(evicted)
        cells[entity] = cell
    return Decision(
        Action(kind, cells[entity]), entity, evicted, 1.5, np.ones(1, np.float32), None, np.ones(0, np.float32)
    )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=120_000)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    if arguments.page:
        measure(arguments.page)
        return
    record, text, trace = novel(arguments.words)
    print(f"{arguments.words} words, {len(trace)} mentions")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "novel.html"
        path.write_text(page(record, text, title="A novel", trace=Trace(trace)), encoding="utf-8")
        measure(path)


def measure(path: Path) -> None:
    """Prints the figures of a page."""
    print(f"{path.stat().st_size / 1e6:.1f} MB")
    with open_browser() as driver:
        driver.set_script_timeout(600)
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        loads = []
        for _ in range(5):
            driver.get(path.as_uri())
            loads.append(busy(driver))
        nodes = driver.execute_script("return document.querySelectorAll('*').length")
        print(f"ready after {median(loads):.2f} s of processor time (median of 5), with {nodes} elements")
        for row in (0, 12):
            entity = driver.find_elements(By.CSS_SELECTOR, ".entity")[row]
            name = entity.text.replace("\n", " ")
            driver.execute_script("arguments[0].click()", entity)
            before = busy(driver)
            driver.execute_async_script(STEPS)
            print(f"a step of {name}: {(busy(driver) - before) / COUNT * 1000:.1f} ms, with its frame")
        for time in ("first time", "second time"):
            before = busy(driver)
            driver.execute_async_script(NETWORK)
            print(f"showing the network for the {time}: {(busy(driver) - before) * 1000:.0f} ms, with its frame")


def busy(driver: webdriver.Chrome) -> float:
    """The processor time of the page's main thread since it was opened, in seconds; other work does not change it."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


if __name__ == "__main__":
    main()
