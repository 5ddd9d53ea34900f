"""Takes all pictures of the reader page and of the server's page in docs/, with the model that ships.

python scripts/draw_page.py [docs]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import longcoref
from browser import open_browser, resize, settle
from longcoref.render.html import Trace, page
from longcoref.text import tokenize

ROOT = Path(__file__).parent.parent
STORY = ROOT / "examples" / "story.txt"
READ = "return document.getElementById('reading-bar').value"
PASTE = """
const field = document.getElementById("start-text");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""


def main() -> None:
    """Writes page-light.png, page-dark.png, page-network.png, page-narrow.png and server.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs")
    folder = parser.parse_args().folder
    resolver = longcoref.load(threads=1)
    document = tokenize(STORY.read_text(encoding="utf-8"), id="story")
    mentions = list(resolver.mentions(document))
    with tempfile.TemporaryDirectory() as temporary, open_browser() as driver:
        path = Path(temporary) / "story.html"
        shown = page(resolver.result(document, mentions), document.text, trace=Trace(mentions))
        path.write_text(shown, encoding="utf-8")
        driver.get(path.as_uri())
        draw_page(driver, folder)
        with server() as address:
            driver.get(address)
            draw_server(driver, folder)


@contextmanager
def server() -> Iterator[str]:
    """A server at a free port; gives its address."""
    command = [sys.executable, "-m", "longcoref", "serve", "--port", "0", "--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            said = process.stderr.readline() if process.stderr else ""
            yield said[said.index("http://") :].split()[0]
        finally:
            process.terminate()


def draw_page(driver: webdriver.Chrome, folder: Path) -> None:
    """Writes the pictures of the reader page."""

    def save(name: str) -> None:
        settle(driver)
        driver.save_screenshot(str(folder / f"page-{name}.png"))

    def press(*keys: str) -> None:
        for key in keys:
            driver.switch_to.active_element.send_keys(key)

    WebDriverWait(driver, 30).until(lambda _: driver.find_elements(By.CSS_SELECTOR, ".entity"))
    resize(driver, 1360, 900)
    driver.execute_script("document.getElementById('text').scrollTop = 170")
    save("light")
    driver.find_elements(By.CSS_SELECTOR, ".entity")[0].click()
    press("g")
    save("network")
    press("g")
    driver.find_elements(By.CSS_SELECTOR, ".entity")[2].click()
    press(*"nnnnn")
    driver.find_element(By.ID, "tab-memory").click()
    driver.find_element(By.ID, "tab-chapters").click()
    driver.find_element(By.ID, "theme").click()
    save("dark")
    driver.find_element(By.ID, "theme").click()
    driver.find_element(By.ID, "tab-timeline").click()
    resize(driver, 400, 860)
    press("n")
    save("narrow")


def draw_server(driver: webdriver.Chrome, folder: Path) -> None:
    """Writes the picture of a text while the server reads it."""
    resize(driver, 1360, 900)
    driver.execute_script(PASTE, STORY.read_text(encoding="utf-8"))
    driver.find_element(By.ID, "start-read").click()
    WebDriverWait(driver, 120, poll_frequency=0.05).until(lambda _: driver.execute_script(READ) > 0.5)
    settle(driver)
    driver.save_screenshot(str(folder / "server.png"))


if __name__ == "__main__":
    main()
