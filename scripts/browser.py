"""Debian's Chromium without a window, for the scripts and tests that look at pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1300,900",
)


def browser_is_installed() -> bool:
    """Whether there is a browser to open."""
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


@contextmanager
def open_browser(downloads: Path | None = None) -> Iterator[webdriver.Chrome]:
    """A browser with a profile of its own that keeps the log of its console, closed at the end."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def resize(driver: webdriver.Chrome, width: int, height: int) -> None:
    """Gives the page a size, one pixel to the point."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    settle(driver)


def settle(driver: webdriver.Chrome) -> None:
    """Waits until what was asked for is drawn."""
    driver.execute_async_script("const done = arguments[0]; setTimeout(() => requestAnimationFrame(done), 400)")


Answer = TypeVar("Answer")


class View:
    """A page in a browser, which may redraw any part of itself at any moment."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def element(self, selector: str) -> WebElement:
        """The first element that a selector fits."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def again(self, act: Callable[[], Answer]) -> Answer:
        """What `act` gives, asked again if a redraw replaces an element that it has found."""
        waiting = WebDriverWait(self.driver, 30, ignored_exceptions=[StaleElementReferenceException])
        answer: tuple[Answer] = waiting.until(lambda _: (act(),))
        return answer[0]

    def click(self, selector: str) -> None:
        """Clicks an element."""
        self.again(lambda: self.element(selector).click())

    def text(self, selector: str) -> str:
        """The text of an element."""
        return self.again(lambda: self.element(selector).text)

    def attribute(self, selector: str, name: str) -> str:
        """An attribute of an element, or a property such as its value."""
        return self.again(lambda: self.element(selector).get_attribute(name)) or ""

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector fits, read at one moment."""
        seen = (
            "return [...document.querySelectorAll(arguments[0])]"
            ".map((one) => one.checkVisibility() ? one.innerText.trim() : '')"
        )
        return cast("list[str]", self.driver.execute_script(seen, selector))
