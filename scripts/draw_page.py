"""Takes the pictures of the reader page in docs/: light, dark with the memory, and narrow.

longcoref resolve examples/story.txt -o story.html && python scripts/draw_page.py story.html docs
"""

from __future__ import annotations

import argparse
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from browser import open_browser, resize, settle


def main() -> None:
    """Writes page-light.png, page-dark.png and page-narrow.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()

    with open_browser() as driver:

        def save(name: str) -> None:
            settle(driver)
            driver.save_screenshot(str(arguments.folder / f"page-{name}.png"))

        driver.get(arguments.page.resolve().as_uri())
        WebDriverWait(driver, 30).until(lambda _: driver.find_elements(By.CSS_SELECTOR, ".entity"))
        resize(driver, 1360, 900)
        driver.execute_script("document.getElementById('text').scrollTop = 170")
        save("light")
        driver.find_elements(By.CSS_SELECTOR, ".entity")[2].click()
        for _ in range(5):
            driver.switch_to.active_element.send_keys("n")
        driver.find_element(By.ID, "tab-memory").click()
        driver.find_element(By.ID, "theme").click()
        save("dark")
        driver.find_element(By.ID, "theme").click()
        driver.find_element(By.ID, "tab-timeline").click()
        resize(driver, 430, 860)
        driver.switch_to.active_element.send_keys("n")
        save("narrow")


if __name__ == "__main__":
    main()
