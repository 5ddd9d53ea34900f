"""Takes the picture of the server's page in docs/: a text while it is being read.

longcoref serve & python scripts/draw_server.py http://127.0.0.1:8000/ examples/story.txt docs
"""

from __future__ import annotations

import argparse
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from browser import open_browser, resize, settle

PASTE = """
const field = document.getElementById("start-text");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""
SHARE = "return document.getElementById('reading-bar').value"


def main() -> None:
    """Writes server.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("text", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    with open_browser() as driver:
        resize(driver, 1360, 900)
        driver.get(arguments.address)
        driver.execute_script(PASTE, arguments.text.read_text(encoding="utf-8"))
        driver.find_element(By.ID, "start-read").click()
        WebDriverWait(driver, 120, poll_frequency=0.05).until(lambda _: driver.execute_script(SHARE) > 0.5)
        settle(driver)
        driver.save_screenshot(str(arguments.folder / "server.png"))


if __name__ == "__main__":
    main()
