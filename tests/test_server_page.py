"""The server's page in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import alert_is_present
from selenium.webdriver.support.wait import WebDriverWait

import longcoref
from browser import View
from longcoref.book.revision import NOTHING
from longcoref.resolver import Resolver
from longcoref.server.access import Access
from longcoref.server.app import build_app
from longcoref.server.limits import Limits
from longcoref.text import tokenize
from serving import LONG, SECONDS, TEXT, held_resolver, running, serving


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return longcoref.load(threads=1)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running("--max-bytes", "6000") as (_, address):
        yield address


class Page(View):
    """The server's page, used as a person would."""

    def wait(self, condition: Callable[[], object], seconds: float = SECONDS) -> None:
        WebDriverWait(self.driver, seconds).until(lambda _: condition())

    def paste(self, text: str) -> None:
        """Puts a text into the field as the clipboard would, and has it read."""
        field = self.element("#start-text")
        self.driver.execute_script("arguments[0].select(); document.execCommand('insertText', false, arguments[1])",
                                   field, text)  # fmt: skip
        self.click("#start-read")

    def read(self, text: str) -> None:
        self.paste(text)
        done = "return !document.getElementById('start').open && document.getElementById('reading').hidden"
        self.wait(lambda: self.driver.execute_script(done))


@pytest.fixture
def page(driver: tuple[webdriver.Chrome, Path], address: str) -> Iterator[Page]:
    """The page as it opens; at the end, nothing may have gone wrong in it but what the server refused."""
    chrome, _ = driver
    chrome.get_log("browser")
    chrome.get(address)
    chrome.execute_script("localStorage.clear()")
    yield Page(chrome)
    refused = re.compile("status of 4(01|13)")
    assert [entry for entry in chrome.get_log("browser") if not refused.search(entry["message"])] == []


def test_a_pasted_text_is_read_and_shown(page: Page, resolver: Resolver) -> None:
    text = TEXT.replace("\r\n", "\n")
    page.read(text)
    result = resolver(text)
    counts = dict(zip(page.texts(".entity .name"), map(int, page.texts(".entity .count")), strict=True))
    assert counts == {cluster.name: len(cluster) for cluster in result if len(cluster) > 1}
    drawn = page.texts(".mention")
    assert {mention.text for mention, cluster in result.mentions if len(cluster) > 1} == set(drawn)
    page.click("#tab-memory")
    opened = Resolver(resolver.model, resolver.policy, book=NOTHING)(text)
    page.wait(lambda: f"{len(opened)} entities" in page.text("#strip-note"))
    # And another, shorter one in the same page, with nobody twice.
    page.click("#another")
    page.read("A ship came.")
    assert page.texts("#blocks") == ["A ship came."]
    assert page.texts(".entity .name") == ["A ship"]


def test_markup_in_a_text_stays_text(page: Page) -> None:
    text = "Lydia wrote <script>document.title = 'lost'</script> and <b onclick=x>she</b> smiled. Lydia <i>sang</i>."
    page.read(text)
    assert page.text("#blocks") == text
    assert page.driver.title == "Lydia wrote <script>document.title = 'lost'</script> and <b…"
    assert page.driver.find_elements(By.CSS_SELECTOR, "#blocks b, #blocks i, #blocks script") == []


def test_what_the_page_gives_is_what_the_server_says(
    page: Page, driver: tuple[webdriver.Chrome, Path], resolver: Resolver
) -> None:
    _, folder = driver
    page.read(LONG[:2000])
    page.click("#open-export")
    page.click("#download")
    page.wait(lambda: list(folder.glob("Nora*.json")))
    (file,) = folder.glob("Nora*.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    assert record["clusters"] == resolver(LONG[:2000]).as_json()["clusters"]
    assert record["text"] == LONG[:2000]
    assert record["words"] == [list(word) for word in tokenize(LONG[:2000]).offsets]


WATCH = """
globalThis.hues = {};
new MutationObserver(() => {
  for (const row of document.querySelectorAll(".entity:not(.single)")) {
    (hues[row.dataset.entity] ??= {})[row.style.getPropertyValue("--hue")] = true;
  }
}).observe(document.getElementById("cast-rows"), { childList: true });
"""


def test_an_entity_keeps_its_colour_until_the_end(page: Page) -> None:
    page.driver.execute_script(WATCH)
    page.read(LONG[:5000])
    hues = page.driver.execute_script("return Object.values(hues).map((seen) => Object.keys(seen).length)")
    assert len(hues) > 1
    assert set(hues) == {1}


def test_a_pasted_novel_has_a_title(page: Page) -> None:
    page.read("CHAPTER I\n\nTHE FERRY\n\nAnna came back to the harbour on a Sunday. She saw her dog.")
    assert page.text("#title") == "Anna came back to the harbour on a Sunday. She saw her dog."
    page.click("#another")
    page.read("THE FERRY\n\nCHAPTER I\n\nAnna came back. She saw her dog.")
    assert page.text("#title") == "The Ferry"


def test_corrections_of_a_text_are_there_when_it_is_read_again(page: Page) -> None:
    text = "Anna came back. She saw her dog, and Anna smiled."
    page.read(text)
    page.wait(lambda: page.texts(".entity"))
    page.click(".entity")
    page.element("#name").send_keys(" Hale\n")
    page.wait(lambda: any("Hale" in name for name in page.texts(".entity .name")))
    corrected = page.texts(".entity .name")
    page.driver.refresh()
    page.read(text)
    page.wait(lambda: page.texts(".entity .name") == corrected)
    page.click("#undo")
    page.wait(lambda: page.texts(".entity .name") != corrected)


def test_a_refusal_is_told_and_the_text_kept(page: Page) -> None:
    page.paste("Too long. " * 700)
    page.wait(lambda: "6000 bytes" in page.text("#start-error"))
    page.read("She came back, and her dog too.")


def test_reading_can_be_stopped(driver: tuple[webdriver.Chrome, Path], resolver: Resolver) -> None:
    """The encoder is held, so that reading cannot end by itself: only Stop can end it."""
    encoder, held = held_resolver(resolver)
    limits = Limits()
    page = Page(driver[0])
    with serving(build_app(held, limits), limits) as port:
        try:
            page.driver.get(f"http://127.0.0.1:{port}/")
            page.paste(LONG)
            assert encoder.begun.wait(SECONDS)
            page.wait(lambda: page.element("#reading").is_displayed())
            page.click("#reading-stop")
            page.wait(lambda: not page.element("#reading").is_displayed(), SECONDS / 4)  # well before the hold ends
        finally:
            encoder.free.set()


def test_the_page_asks_for_the_token(page: Page, resolver: Resolver) -> None:
    limits = Limits()
    with serving(build_app(resolver, limits, Access(token="0123456789abcdef")), limits) as port:
        page.driver.get(f"http://127.0.0.1:{port}/")
        assert not page.element("#start-token").is_displayed()
        page.paste("She came back, and her dog too.")
        page.wait(lambda: "token is required" in page.text("#start-error"))
        page.element("#start-token").send_keys("0123456789abcdef")
        page.click("#start-read")
        page.wait(lambda: page.texts("#blocks") == ["She came back, and her dog too."])
        page.wait(lambda: not page.element("#reading").is_displayed())


def test_another_text_does_not_replace_corrections_unasked(page: Page) -> None:
    page.read("Anna came back. She saw her dog, and Anna smiled.")
    page.wait(lambda: page.texts(".entity"))
    page.click(".entity")
    page.element("#name").send_keys(" Hale\n")
    corrected = page.texts(".entity .name")
    page.click("#another")
    page.paste("A ship came.")
    WebDriverWait(page.driver, 60).until(alert_is_present()).dismiss()
    page.driver.execute_script("document.getElementById('start').close()")
    assert page.texts(".entity .name") == corrected
    page.click("#another")
    page.click("#start-read")
    WebDriverWait(page.driver, 60).until(alert_is_present()).accept()
    page.wait(lambda: page.texts("#blocks") == ["A ship came."])
    page.wait(lambda: not page.element("#reading").is_displayed())
