"""Debian's Chromium without a window, for the scripts and tests that look at pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
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


def texts(driver: webdriver.Chrome, selector: str) -> list[str]:
    """The texts of all elements that a selector fits, read again if a redraw replaces one of them meanwhile."""

    def read(_: object) -> tuple[list[str]]:
        return ([element.text for element in driver.find_elements(By.CSS_SELECTOR, selector)],)

    found: tuple[list[str]] = WebDriverWait(driver, 30, ignored_exceptions=[StaleElementReferenceException]).until(read)
    return found[0]
