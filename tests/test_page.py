"""The reader page in a real browser: everything a reader does with it, and the file it gives back."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.alert import Alert
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import alert_is_present
from selenium.webdriver.support.wait import WebDriverWait

import longcoref
from browser import View
from longcoref.cli import main
from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.formats import read_corpus
from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.decision import Decision
from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster, annotation
from longcoref.render.book import copresence
from longcoref.render.html import Trace, page
from longcoref.result import Result
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import Quotation

STORY = (Path(__file__).parent.parent / "examples" / "story.txt").read_text(encoding="utf-8")
NAMES = {  # who is called how in the story; enough to fill a page, not an analysis
    "Lydia": "Lydia|Miss Arden",
    "Wren": "Wren",
    "Elias Crake": "Elias Crake|Crake",
    "Mrs. Hallow": "Mrs. Hallow",
    "the parrot": "[Tt]he parrot|a grey parrot",
    "Gannet Head": "Gannet Head",
    "the harbour office": "the harbour office",
}


def made_up_result(text: str, names: dict[str, str], *, id: str) -> Result:
    """A result with an entity for each name, whose mentions are what its pattern finds."""
    document = tokenize(text, id=id)
    first = {start: index for index, (start, _) in enumerate(document.offsets)}
    last = {end: index + 1 for index, (_, end) in enumerate(document.offsets)}
    clusters = []
    for number, (name, pattern) in enumerate(names.items()):
        mentions = tuple(
            MentionRecord.of(
                document,
                WordSpan(first[found.start()], last[found.end()]),
                kind="PROP" if name[0].isupper() else "NOM",
                type="PER",
                entity=number,
                score=0.9,
            )
            for found in re.finditer(rf"\b(?:{pattern})\b", text)
            if found.start() in first and found.end() in last
        )
        clusters.append(ResultCluster(number, name, "PER", mentions))
    return Result(tuple(clusters), "made-up", "learned", 2, id, document.with_clusters(annotation(clusters)))


def made_up_trace(result: Result) -> list[MentionRecord]:
    """Decisions as a memory of two cells might take them: the first two entities stay, the others share a cell."""
    trace: list[MentionRecord] = []
    holder: dict[int, int] = {}
    for mention, cluster in result.mentions:
        cell = min(cluster.id, 1)
        before = holder.get(cell)
        kind = ActionKind.LINK if before == cluster.id else ActionKind.NEW if before is None else ActionKind.EVICT
        evicted = before if kind is ActionKind.EVICT else None
        holder[cell] = cluster.id
        decision = Decision(Action(kind, cell), cluster.id, evicted, 1.5, np.ones(1, np.float32), None, np.ones(0))
        trace.append(replace(mention, decision=decision))
    last = replace(trace[-1].decided, entity=None, evicted=None)
    return [*trace, *(replace(trace[-1], decision=replace(last, action=action)) for action in (IGNORE, INVALID))]


def with_quotes(result: Result, voices: dict[str, tuple[int | None, int | None]]) -> Result:
    """The result with a quotation for each beginning in `voices`, which says who speaks, and to whom."""
    text = result.document.text if result.document else ""
    quotes = []
    for opening, (speaker, addressee) in voices.items():
        start = text.index(f'"{opening}')
        end = text.index('"', start + 1) + 1
        quotes.append(Quotation(WordSpan(0, 0), start, end, False, speaker, addressee, 0.75))
    return replace(result, quotes=tuple(quotes))


SELECT = """
const walker = document.createTreeWalker(document.getElementById("blocks"), NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const place = node.data.indexOf(arguments[0]);
  if (place < 0) continue;
  getSelection().setBaseAndExtent(node, place, node, place + arguments[0].length);
  return true;
}
return false;
"""


class Reader(View):
    """A browser with a page, driven as a person would."""

    def __init__(self, driver: webdriver.Chrome, folder: Path) -> None:
        super().__init__(driver)
        self.folder, self.opened = folder, 0

    def open(self, html: str, place: str = "") -> Reader:
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        self.opened += 1  # in the address, as another place in the same one would not load the file again
        self.driver.get(f"{path.as_uri()}?{self.opened}{place}")
        return self

    def click_button(self, place: str, label: str) -> None:
        """Clicks the button with this label that stands in `place`."""

        def click() -> None:
            buttons = self.driver.find_elements(By.CSS_SELECTOR, f"{place} button")
            button = next(button for button in buttons if button.text == label)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'nearest'})", button)
            button.click()

        self.again(click)

    def entity(self, name: str) -> WebElement:
        """The row of the cast with this name."""
        rows = self.driver.find_elements(By.CSS_SELECTOR, ".entity")
        return next(row for row in rows if row.find_element(By.CSS_SELECTOR, ".name").text == name)

    def choose(self, name: str) -> None:
        """Clicks the row of the cast with this name."""
        self.again(lambda: self.entity(name).click())

    def ask(self, key: str) -> None:
        """Presses a key that asks for an entity, and waits for the question."""
        self.press(key)
        self.wait_for("#banner", "Choose in the cast")

    def cast(self) -> dict[str, int]:
        """How often each entity of the cast is mentioned, as its row says."""
        rows = self.texts(".entity :is(.name, .count)")
        return dict(zip(rows[::2], map(int, rows[1::2]), strict=True))

    def press(self, *keys: str) -> None:
        """Presses keys one after the other, whatever has the focus."""
        for key in keys:
            self.again(lambda key=key: self.driver.switch_to.active_element.send_keys(key))

    def write(self, selector: str, text: str) -> None:
        field = self.element(selector)
        field.send_keys(Keys.CONTROL, "a")
        keys = text
        if max(map(ord, text), default=0) > 0xFFFF:  # some drivers have no keys for such characters
            self.driver.execute_cdp_cmd("Input.insertText", {"text": text.removesuffix("\n")})
            keys = Keys.ENTER if text.endswith("\n") else ""
        field.send_keys(keys)
        # The browser may handle keys after the driver has returned; the page redraws along with the value.
        if not text.endswith("\n"):  # Enter replaces the field
            WebDriverWait(self.driver, 30).until(lambda _: field.get_property("value") == text)

    def action(self, label: str) -> None:
        """Presses the button of the entity's panel with this label."""
        self.click_button("#details", label)

    def in_view(self, selector: str) -> bool:
        """Whether an element stands inside the visible part of the text."""
        return bool(
            self.driver.execute_script(
                "const a = document.querySelector(arguments[0]).getBoundingClientRect();"
                "const b = document.getElementById('text').getBoundingClientRect();"
                "return a.top >= b.top && a.bottom <= b.bottom",
                selector,
            )
        )

    def download(self) -> Path:
        """The file that the page gives when asked for the corrected result."""
        return self.save("#download", "*.json")

    def save(self, item: str, pattern: str) -> Path:
        """The file that an item of the menu gives."""
        for old in self.folder.glob(pattern):
            old.unlink()
        self.click("#open-export")
        self.click(item)
        WebDriverWait(self.driver, 30).until(lambda _: list(self.folder.glob(pattern)))
        return next(self.folder.glob(pattern))

    def record(self) -> Any:
        """The corrected result as the page gives it."""
        return json.loads(self.download().read_text(encoding="utf-8"))

    def chip(self, place: str, label: str) -> None:
        """Presses the button of a filter."""
        self.click_button(place, label)

    def banner(self, label: str) -> None:
        """Presses a button of the message at the top."""
        self.click_button("#banner", label)

    def mark(self, text: str) -> None:
        """Selects these words of the text, as with the mouse, and waits for the offer to make them a mention."""
        found = self.driver.execute_script(SELECT, text)
        assert found, text
        WebDriverWait(self.driver, 30).until(lambda _: self.element("#add").is_displayed())

    def offer(self, label: str) -> None:
        """Takes an offer for the selected words."""
        self.click_button("#add", label)

    def dialog(self) -> Alert:
        """The question that the page asks."""
        return WebDriverWait(self.driver, 30).until(alert_is_present())

    def wait_for(self, selector: str, text: str) -> None:
        WebDriverWait(self.driver, 30).until(lambda _: any(text in found for found in self.texts(selector)))


@pytest.fixture
def reader(driver: tuple[webdriver.Chrome, Path]) -> Iterator[Reader]:
    """A reader; at the end, nothing may have gone wrong in the page."""
    chrome, folder = driver
    blank = folder / "blank.html"
    blank.write_text("<!doctype html><title>Blank</title><link rel=icon href=data:,>", encoding="utf-8")
    chrome.get(blank.as_uri())
    chrome.execute_script("localStorage.clear()")
    chrome.get_log("browser")
    yield Reader(chrome, folder)
    assert chrome.get_log("browser") == []


@pytest.fixture(scope="module")
def story() -> Result:
    return made_up_result(STORY, NAMES, id="story")


@pytest.fixture(scope="module")
def story_page(story: Result) -> str:
    return page(story, STORY, title="The Lamp", trace=Trace(made_up_trace(story)))


def test_the_page_shows_the_text_and_the_cast(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    assert reader.cast() == {cluster.name: len(cluster) for cluster in story if len(cluster) > 1}
    assert "a woman with one trunk" in reader.text("#blocks")
    assert set(reader.texts(".mention")) <= {mention.text for mention, _ in story.mentions}


def test_only_what_is_near_the_view_is_in_the_tree(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    length = "return document.getElementById('blocks').textContent.length"
    assert reader.driver.execute_script(length) < len(STORY) / 2
    reader.driver.execute_script("document.getElementById('text').scrollTop = 1e9")
    last = STORY.split()[-1]
    WebDriverWait(reader.driver, 30).until(lambda _: last in reader.text("#blocks"))
    assert reader.driver.execute_script(length) < len(STORY) / 2


def test_an_entity_lights_up_and_keys_step_through_its_mentions(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    reader.choose("Wren")
    assert set(reader.texts(".mention.on")) == {"Wren"}
    count = len(story.clusters[1])
    seen = []
    for _ in range(count):
        reader.press("n")
        assert reader.in_view(".mention.now")
        seen.append(reader.text("#step"))
    assert sorted(seen) == sorted(f"{number} of {count}" for number in range(1, count + 1))
    reader.press("p")
    assert reader.text("#step") == seen[-2]
    assert f"Wren, mention {seen[-2]}" in reader.attribute("#live", "textContent")
    reader.press(Keys.ESCAPE)
    assert reader.texts(".mention.on") == []


def test_keys_go_through_all_mentions_while_nobody_is_chosen(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    shown = [(mention, cluster) for mention, cluster in story.mentions if len(cluster) > 1]
    for number in (0, 1):
        reader.press("n")
        mention, cluster = shown[number]
        assert reader.text(".mention.now") == mention.text
        assert reader.driver.switch_to.active_element == reader.element(".mention.now")
        tip = reader.text("#tip")
        assert cluster.name in tip
        assert "90 % sure" in tip
        assert "cell" in tip


def test_search_finds_text_across_lines_and_names(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.press("/")
    reader.press(*"captain hallow")
    found = len(re.findall(r"captain\s+hallow", STORY, re.IGNORECASE))
    assert found > STORY.lower().count("captain hallow")  # in one place a line ends between the two words
    assert reader.text("#hits") == f"{found} in the text"
    reader.press(Keys.ENTER)
    assert reader.text("#hits").endswith(f"of {found}")
    reader.write("#query", "wre")
    assert reader.texts(".entity .name") == ["Wren"]


def test_filters_say_what_only_is_shown(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    reader.write("#least", "1")
    assert len(reader.cast()) == len(story)
    reader.choose("the parrot")
    reader.click("#type option[value='VEH']")
    reader.press(Keys.ESCAPE)
    everything = reader.cast()
    reader.chip("#types", "vehicles")
    assert set(reader.cast()) == {"the parrot"}
    reader.chip("#types", "people")
    assert reader.cast() == everything
    reader.chip("#types", "vehicles")
    assert set(reader.cast()) == {*everything} - {"the parrot"}
    reader.chip("#types", "people")
    assert reader.cast() == everything
    reader.chip("#kinds", "descriptions")
    assert set(reader.texts(".mention")) <= {"a grey parrot", "the parrot", "The parrot", "the harbour office"}
    assert reader.texts(".mention")


def test_the_cast_is_sorted_as_asked(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    reader.write("#least", "1")
    names = reader.texts(".entity .name")
    counts = {cluster.name: len(cluster) for cluster in story}
    first = {cluster.name: cluster.mentions[0].start for cluster in story}
    assert [counts[name] for name in names] == sorted(counts.values(), reverse=True)
    reader.click("#sort option[value='name']")
    assert reader.texts(".entity .name") == sorted(names, key=str.lower)
    reader.click("#sort option[value='first appearance']")
    assert reader.texts(".entity .name") == sorted(names, key=lambda name: first[name])


def test_corrections_are_kept_in_the_file_that_every_command_reads(
    reader: Reader, story: Result, story_page: str
) -> None:
    reader.open(story_page)
    before = reader.cast()
    reader.choose("Lydia")
    reader.ask("m")
    reader.choose("Wren")
    reader.write("#name", "Lydia Wren\n")
    reader.click("#type option[value='ORG']")
    assert reader.cast()["Lydia Wren"] == before["Lydia"] + before["Wren"]
    document = read_document(reader.download())
    assert document.text == STORY
    merged = next(cluster for cluster in document.clusters or () if cluster.id == "0")
    assert {mention.type for mention in merged.mentions} == {"ORG"}
    original = {cluster.id: cluster.spans for cluster in (story.document or document).clusters or ()}
    assert merged.spans == tuple(sorted(original["0"] + original["1"]))
    others = {cluster.id: cluster.spans for cluster in document.clusters or () if cluster.id != "0"}
    assert others == {id: spans for id, spans in original.items() if id not in ("0", "1")}


def test_split_and_remove_and_undo(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    before = reader.cast()
    reader.choose("Elias Crake")
    reader.press("n", "n", "n")
    place = int(reader.text("#step").split()[0])
    reader.action("Split from here on")
    assert reader.cast()["Elias Crake"] == place - 1
    assert reader.cast()["Crake"] == before["Elias Crake"] - place + 1
    reader.action("Remove entity")
    assert "Crake" not in reader.cast()
    reader.choose("Lydia")
    reader.press("n")
    reader.action("Split off")
    reader.write("#least", "1")
    assert reader.cast()["Lydia"] in (before["Lydia"] - 1, 1)
    for _ in range(3):
        reader.click("#undo")
    reader.write("#least", "2")
    assert reader.cast() == before
    assert not reader.element("#undo").is_enabled()


def test_a_corrected_file_is_opened_again(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.choose("Lydia")
    reader.write("#name", "Lydia Arden\n")
    saved = reader.download()
    record = json.loads(saved.read_text(encoding="utf-8"))
    cast = reader.cast()
    reader.driver.execute_script("localStorage.clear()")
    reader.open(story_page)
    assert "Lydia Arden" not in reader.cast()
    reader.element("#file").send_keys(str(saved))
    reader.wait_for("#banner", "Opened")
    assert reader.cast() == cast
    assert json.loads(reader.download().read_text(encoding="utf-8")) == record


def test_merging_keeps_the_better_name(reader: Reader, story_page: str) -> None:
    """A proper name before a description, and the more frequent, whichever of the two was selected first."""
    reader.open(story_page)
    before = reader.cast()
    for names, better in ((("the parrot", "Gannet Head"), "Gannet Head"), (("Wren", "Lydia"), "Lydia")):
        for first, second in (names, names[::-1]):
            reader.choose(first)
            reader.ask("m")
            reader.choose(second)
            assert reader.attribute("#name", "value") == better
            assert reader.cast()[better] == before[first] + before[second]
            reader.press("u", Keys.ESCAPE)
            assert reader.cast() == before


def test_every_decision_is_recorded_and_can_be_undone_and_redone(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    original = reader.record()
    correct_everything(reader)
    corrected = reader.record()
    place = {
        word: [TALK.index(word), TALK.index(word) + len(word)] for word in ("Ann", "Bob", "Cat", "mill", "someone")
    }
    said = [TALK.index('"She'), TALK.index('"She') + len('"She ran,"')]
    i = TALK.index("I lost")
    assert corrected["corrections"] == [
        {"decision": "move", "mentions": [[i, i + 1]], "from": place["Ann"], "to": place["Cat"]},
        {"decision": "move", "mentions": [place["someone"]], "from": None, "to": None, "kind": "NOM"},
        {"decision": "name", "entity": place["someone"], "name": "A stranger"},
        {"decision": "type", "entity": place["someone"], "type": "PER"},
        {"decision": "move", "mentions": [place["mill"]], "from": None, "to": place["Cat"], "kind": "NOM"},
        {"decision": "speaker", "quote": said, "entity": place["someone"]},
        {"decision": "addressee", "quote": said, "entity": None},
        {"decision": "remove", "mentions": [place["mill"]]},
    ]
    clusters = {
        cluster["name"]: [mention["text"] for mention in cluster["mentions"]] for cluster in corrected["clusters"]
    }
    assert clusters["Cat"] == ["Cat", "I", "her", "She"]
    assert clusters["A stranger"] == ["someone"]
    assert next(c for c in corrected["clusters"] if c["name"] == "A stranger")["type"] == "PER"
    assert corrected["quotes"][3] == {"start": said[0], "end": said[1], "speaker": 3, "addressee": None}
    read = Result.from_json(json.dumps(corrected))
    assert [json.loads(json.dumps(one.as_json())) for one in read.corrections] == [
        {"from": None, "to": None, **one} if one["decision"] == "move" else one for one in corrected["corrections"]
    ]
    assert read.with_corrections(()).get_clusters() == read.get_clusters() == [*clusters.values()]
    reader.open(page(talk, TALK, title="Talk"))  # they are kept in the browser
    assert "8 corrections" in reader.text("#banner")
    assert reader.record() == corrected
    for _ in range(8):
        reader.click("#undo")
    assert not reader.element("#undo").is_enabled()
    assert reader.record() == original
    reader.open(page(talk, TALK, title="Talk"))  # and so are those that were undone
    assert reader.record() == original
    for _ in range(4):
        reader.click("#redo")
        reader.press(Keys.CONTROL + "y")
    assert not reader.element("#redo").is_enabled()
    assert reader.record() == corrected
    reader.click("#open-export")
    reader.click("#undo-all")
    assert reader.record() == original


def correct_everything(reader: Reader) -> None:
    """Makes a correction of every kind in the talk."""
    reader.choose("Ann")
    while reader.texts(".mention.now") != ["I"]:
        reader.press("n")
    reader.ask("v")
    reader.choose("Cat")
    assert reader.attribute("#name", "value") == "Cat"
    reader.press(Keys.ESCAPE)
    reader.mark("someon")  # widened to the whole word
    reader.offer("of a new entity")
    reader.write("#name", "A stranger\n")
    reader.click("#type option[value='PER']")
    reader.mark("mill")
    reader.offer("of another…")
    reader.choose("Cat")
    assert reader.text(".mention.now") == "mill"
    reader.click("[data-quote='3']")
    assert "Speaker not found" in reader.text("#details")
    reader.write("#least", "1")
    reader.action("Speaker…")
    reader.wait_for("#banner", "Choose in the cast")
    reader.choose("A stranger")
    assert reader.attribute("#name", "value") == "A stranger"
    reader.ask("S")
    reader.banner("Unknown")
    reader.choose("Cat")
    while reader.texts(".mention.now") != ["mill"]:
        reader.press("n")
    reader.press("d")


def test_damaged_corrections_in_the_browser_do_no_harm(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    original = reader.record()
    reader.choose("Ann")
    reader.write("#name", "Anna\n")
    for damage in ("{", '{"done": [{"decision": "name", "entity": [1, 2], "name": "X"}], "undone": [], "saved": true}'):
        reader.driver.execute_script(
            "for (const key of Object.keys(localStorage)) localStorage[key] = arguments[0]", damage
        )
        reader.open(page(talk, TALK, title="Talk"))
        assert reader.record() == original
        reader.choose("Ann")
        reader.write("#name", "Anna\n")


def test_chapters_are_listed_and_gone_to(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.click("#tab-chapters")
    titles = reader.texts("#chapter-list button")
    assert titles[0] == "Chapter I · The New Keeper"
    assert len(titles) == len(re.findall("^CHAPTER", STORY, re.MULTILINE))
    reader.driver.find_elements(By.CSS_SELECTOR, "#chapter-list button")[2].click()
    reader.wait_for("#place", titles[2])
    assert reader.texts("[aria-current]") == [titles[2]]
    assert reader.in_view("h2.block")
    reader.press("c")
    reader.wait_for("#place", titles[3])
    reader.press("C", "C")
    reader.wait_for("#place", titles[1])
    reader.driver.back()
    reader.wait_for("#place", titles[2])


def test_the_network_is_that_of_the_copresence_table(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    reader.press("g")
    names = {cluster.id: cluster.name for cluster in story}
    chapters = sorted({number for number, *_ in copresence(story)})
    for first, last in ((chapters[0], chapters[-1]), (2, 2), (3, 4)):
        for field, number in (("first", first), ("last", last)):
            reader.click(f"#range-{field} option[value='{number - 1}']")
        together: Counter[frozenset[str]] = Counter()
        for (number, _, one, other), count in copresence(story).items():
            if first <= number <= last:
                together[frozenset((names[one], names[other]))] += count
        lines = reader.driver.execute_script(
            "return Array.from(document.querySelectorAll('#network-picture line title'), (line) => line.textContent)"
        )
        found = [re.fullmatch(r"(.*) and (.*): together in (\d+) paragraphs?", line) for line in lines]
        assert {frozenset((m[1], m[2])): int(m[3]) for m in found if m} == together
    reader.click("#range-back")
    assert reader.attribute("#range-first", "value") == "0"
    reader.driver.find_element(By.CSS_SELECTOR, "[aria-label^='Lydia,']").click()
    assert reader.attribute("#name", "value") == "Lydia"
    picture = ElementTree.fromstring(reader.save("#save-network", "*.svg").read_text(encoding="utf-8"))
    assert "Lydia" in [label.text for label in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "oklch" not in ElementTree.tostring(picture, encoding="unicode")
    reader.press(Keys.ESCAPE)
    assert not reader.element("#network").is_displayed()


def test_the_address_names_the_person_and_the_place(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    address = reader.driver.current_url
    reader.choose("Wren")
    reader.press("n", "n")
    wren = story.clusters[1]
    place = int(reader.text("#step").split()[0]) - 1
    linked = f"{address}#person={wren.id}&word={wren.mentions[place].words.start}"
    WebDriverWait(reader.driver, 30).until(lambda _: reader.driver.current_url == linked)
    reader.choose("Lydia")
    assert f"#person={story.clusters[0].id}" in reader.driver.current_url
    reader.driver.back()
    assert reader.attribute("#name", "value") == "Wren"
    assert reader.text("#step") == f"{place + 1} of {len(wren)}"
    reader.open("<!doctype html><title>Elsewhere</title><link rel=icon href=data:,>")
    reader.open(story_page, linked.removeprefix(address))
    assert reader.attribute("#name", "value") == "Wren"
    assert reader.in_view(".mention.now")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("THE MILL ON THE HILL\n\nBy A. Writer\n\nCHAPTER I\n\nAnn left.", "The Mill on the Hill"),
        ("CHAPTER I\n\nTHE MILL\n\nAnn left the mill.", "some-file"),
        ("The Project Gutenberg eBook of X\n\nTitle: The Long\n  Road\n\nAuthor: Z\n\nAnn left.", "The Long Road"),
        ("Ann left the mill. She was late.\n\nTom came.", "some-file"),
    ],
)
def test_a_page_without_a_title_has_that_of_the_text(reader: Reader, text: str, title: str) -> None:
    reader.open(page(made_up_result(text, {"Ann": "Ann"}, id="some-file"), text))
    assert reader.text("#title") == reader.driver.title == title


def test_tables_have_the_corrected_cast_and_quotations(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    reader.choose("Ann")
    reader.write("#name", 'Ann "the" 🙂, miller\n')
    with reader.save("#save-cast", "*.cast.csv").open(encoding="utf-8-sig", newline="") as stream:
        cast = list(csv.DictReader(stream))
    assert {row["name"]: int(row["mentions"]) for row in cast} == {
        name: len(cluster) for name, cluster in zip(['Ann "the" 🙂, miller', "Bob <b>", "Cat"], talk, strict=True)
    }
    with reader.save("#save-quotes", "*.quotations.csv").open(encoding="utf-8-sig", newline="") as stream:
        quotes = list(csv.DictReader(stream))
    assert [row["quotation"] for row in quotes] == [TALK[quote.start : quote.end] for quote in talk.quotes]
    assert quotes[0]["speaker"] == 'Ann "the" 🙂, miller'


def test_everything_that_can_be_pressed_has_a_name(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.choose("Wren")
    reader.press("n", "g")
    nameless = reader.driver.execute_script(
        "return Array.from(document.querySelectorAll('button, input, select, [role=button], [tabindex=\"0\"]'))"
        ".filter((one) => !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML)"
    )
    assert nameless == []


MENTION = {"start": 0, "end": 5, "text": STORY[:5]}
BAD_FILES = {
    "a list": [1, 2],
    "of schema longcoref/1": {"schema": "longcoref/2", "clusters": []},
    "cluster: expected a list": {},
    "cluster 0: expected an object, got null": {"clusters": [None]},
    "cluster 0, mention: expected a list": {"clusters": [{"id": 0}]},
    "cluster 0, mentions: expected at least one": {"clusters": [{"id": 0, "mentions": []}]},
    "cluster 1, id: expected a unique id, got 0": {"clusters": [{"id": 0, "mentions": [MENTION]}] * 2},
    "cluster 0, id: expected a whole number or text": {"clusters": [{"id": [], "mentions": [MENTION]}]},
    "name: expected text of at most 1000 characters": {"clusters": [{"name": "x" * 200_000, "mentions": [MENTION]}]},
    "cluster 0, name: expected text": {"clusters": [{"name": 7, "mentions": [MENTION]}]},
    "cluster 0, type: expected text": {"clusters": [{"type": {}, "mentions": [MENTION]}]},
    "start: expected a whole number from 0, got -1": {"clusters": [{"mentions": [{"start": -1, "end": 4}]}]},
    "start: expected a whole number from 0, got 0.5": {"clusters": [{"mentions": [{"start": 0.5, "end": 4}]}]},
    'start: expected a whole number from 0, got "0"': {"clusters": [{"mentions": [{"start": "0", "end": 4}]}]},
    "end: expected a whole number above 4, got 4": {"clusters": [{"mentions": [{"start": 4, "end": 4}]}]},
    "end: expected a whole number above 0, got 1.5": {"clusters": [{"mentions": [{"start": 0, "end": 1.5}]}]},
    "the length of the text, got 99999999": {"clusters": [{"mentions": [{"start": 0, "end": 99_999_999}]}]},
    "mention 0 belongs to another text": {"clusters": [{"mentions": [{"start": 0, "end": 4, "text": "Anna"}]}]},
    "score: expected a number from 0 to 1, got 7": {"clusters": [{"mentions": [MENTION | {"score": 7}]}]},
    "kind: expected text": {"clusters": [{"mentions": [MENTION | {"kind": 7}]}]},
    "sentence: expected a whole number": {"clusters": [{"mentions": [MENTION | {"sentence": -1}]}]},
    "quote: expected a list": {"clusters": [], "quotes": {}},
    "quote 0, end: expected at most": {"clusters": [], "quotes": [{"start": len(STORY), "end": len(STORY) + 9}]},
    "speaker: expected the id of a cluster, got 3": {"clusters": [], "quotes": [{"start": 0, "end": 4, "speaker": 3}]},
    "continues: expected true or false": {"clusters": [], "quotes": [{"start": 0, "end": 4, "continues": 1}]},
    "text: expected a string": {"clusters": [], "text": 7},
    "the file, id: expected text": {"clusters": [], "id": 7},
    "memory: expected an object": {"clusters": [], "memory": 7},
    "correction: expected a list": {"clusters": [], "corrections": {}},
    'decision: expected one of same, move, remove, name, type, speaker, addressee, got "swap"':
        {"clusters": [], "corrections": [{"decision": "swap"}]},
    "entity 0: expected a pair of offsets": {"clusters": [], "corrections": [{"decision": "name", "name": "A"}]},
    "mentions: expected a list of at least one": {"clusters": [], "corrections": [{"decision": "remove"}]},
    "correction 0, name: expected text": {"clusters": [], "corrections": [{"decision": "name", "entity": [0, 1]}]},
    "to 0, end: expected at most":
        {"clusters": [], "corrections": [{"decision": "move", "mentions": [[0, 1]], "to": [0, 99_999_999]}]},
    "words 0: expected a pair of offsets": {"clusters": [], "words": [0, 4]},
    "words 0, end: expected at most": {"clusters": [], "text": "short", "words": [[0, 9]]},
}  # fmt: skip


def test_a_bad_file_is_refused_before_anything_changes(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.choose("Lydia")
    reader.write("#name", "Lydia Arden\n")
    shown = [reader.text(part) for part in ("#cast", "#text", "#details")]
    wrong = reader.folder / "wrong.json"
    for message, record in BAD_FILES.items():
        wrong.write_text(json.dumps(record if isinstance(record, list) else {"schema": "longcoref/1"} | record))
        reader.element("#file").send_keys(str(wrong))
        reader.wait_for("#banner", message)
        assert len(reader.text("#banner")) < 300
        assert [reader.text(part) for part in ("#cast", "#text", "#details")] == shown
    wrong.write_text("{")
    reader.element("#file").send_keys(str(wrong))
    reader.wait_for("#banner", "Cannot open")
    reader.click("#undo")  # the corrections are still there
    assert "Lydia" in reader.cast()


def test_corrections_are_not_lost_unasked(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    other = reader.folder / "other.txt"  # not .json, so that it is not taken for a download
    other.write_text(json.dumps({"schema": "longcoref/1", "text": "Ann left.", "clusters": []}))
    reader.choose("Lydia")
    reader.write("#name", "Lydia Arden\n")
    reader.element("#file").send_keys(str(other))
    reader.dialog().dismiss()
    assert "Lydia Arden" in reader.cast()
    reader.element("#file").send_keys(str(other))
    reader.dialog().accept()
    reader.wait_for("#blocks", "Ann left.")
    reader.open(story_page)
    assert "Lydia Arden" in reader.cast()
    reader.download()
    reader.open(story_page)  # the browser also knows that they are in a file
    reader.element("#file").send_keys(str(other))
    reader.wait_for("#blocks", "Ann left.")


def test_leaving_is_asked_about_only_if_the_browser_cannot_keep_the_corrections(
    reader: Reader, story_page: str
) -> None:
    leaving = (
        "const leaving = new Event('beforeunload', { cancelable: true });"
        "dispatchEvent(leaving); return leaving.defaultPrevented"
    )
    reader.open(story_page)
    reader.choose("Lydia")
    reader.write("#name", "Lydia Arden\n")
    assert reader.driver.execute_script(leaving) is False
    reader.driver.execute_script("Storage.prototype.setItem = () => { throw new Error('full') }")
    reader.write("#name", "Lydia\n")
    assert reader.driver.execute_script(leaving) is True
    reader.download()
    assert reader.driver.execute_script(leaving) is False


def test_a_name_of_any_length_is_drawn(reader: Reader) -> None:
    text = f"{'x' * 200_000} left. {'x' * 200_000} came."
    mentions = [{"start": 0, "end": 200_000}, {"start": 200_007, "end": 400_007}]
    record = {"schema": "longcoref/1", "clusters": [{"id": 0, "name": "x" * 200_000, "mentions": mentions}]}
    reader.open(page(record, text, title="Long"))
    assert reader.texts(".entity .count") == ["2"]


def test_the_memory_is_shown_if_there_is_a_trace(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    reader.click("#tab-memory")
    reader.wait_for("#strip-note", "2 cells")
    assert "1 mention ignored, 1 rejected" in reader.text("#strip-note")
    reader.choose("Wren")
    reader.press("n")
    assert "cell 2" in reader.text("#mention-box")
    reader.open(page(story, STORY, title="The Lamp"))
    assert not reader.element("#tab-memory").is_displayed()


def test_a_click_on_the_timeline_goes_there(reader: Reader, story: Result, story_page: str) -> None:
    reader.open(story_page)
    strip = reader.element("#timeline")
    # The last tick of the first row: past its middle by what the mention is past the middle of the text.
    share = story.clusters[0].mentions[-1].start / len(STORY)
    across = 150 + share * (strip.size["width"] - 164) - strip.size["width"] / 2
    down = 14 + 11 - strip.size["height"] / 2  # below the numbers of the chapters
    ActionChains(reader.driver).move_to_element_with_offset(strip, round(across), round(down)).click().perform()
    count = len(story.clusters[0])
    assert reader.text("#step") == f"{count} of {count}"
    assert reader.in_view(".mention.now")


def test_paper_gets_the_whole_text(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    reader.driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert reader.attribute("#blocks", "textContent") == STORY
    reader.driver.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(reader.attribute("#blocks", "textContent")) < len(STORY) / 2


def test_dark_and_light(reader: Reader, story_page: str) -> None:
    reader.open(story_page)
    colours = set()
    for _ in range(2):
        colours.add(reader.element("body").value_of_css_property("background-color"))
        reader.press("t")
    assert len(colours) == 2


def test_markup_in_a_text_stays_text(reader: Reader) -> None:
    text = "Ann <b>met</b> </script><script>document.title = 'lost'</script> <!-- Ann & Bob 🙂 Ann\r\n{{title}} Ann."
    result = made_up_result(text, {"Ann": "Ann", "<i>Bob</i>": "Bob"}, id="<id>")
    reader.open(page(result, text, title="</title><script>document.title = 'lost'</script>"))
    assert reader.driver.title == "</title><script>document.title = 'lost'</script>"
    assert reader.attribute("#blocks", "textContent") == text
    reader.write("#least", "1")
    assert set(reader.cast()) == {"Ann", "<i>Bob</i>"}
    assert read_document(reader.download()) == result.document


TALK = """Ann met Bob 🙂 at the mill.

"Did you see Cat?" asked Ann. "I lost her."

"I did, Ann," said Bob.

"She ran," <i>cried</i> someone.

"Thank you," said Ann.
"""
VOICES = {"Did": (0, 1), "I lost": (0, 1), "I did": (1, 0), "She ran": (None, 0), "Thank": (0, 1)}


@pytest.fixture
def talk() -> Result:
    names = {"Ann": "Ann|I(?= lost)", "Bob <b>": "Bob|I(?= did)|you", "Cat": "Cat|her|She"}
    result = with_quotes(made_up_result(TALK, names, id="talk"), VOICES)
    *first, last = result.quotes
    return replace(result, quotes=(*first, replace(last, continues=True)))


def test_quotations_have_the_colour_of_their_speaker_and_say_who_speaks(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    assert reader.attribute("#blocks", "textContent") == TALK
    assert reader.texts(".quote") == [TALK[quote.start : quote.end] for quote in talk.quotes]
    colours = [quote.value_of_css_property("color") for quote in reader.driver.find_elements(By.CSS_SELECTOR, ".quote")]
    plain = reader.element("#blocks").value_of_css_property("color")
    assert colours == [colours[0], colours[0], colours[2], plain, colours[0]]
    assert len({*colours}) == 3
    seen = []
    for _ in range(4):  # a quotation that goes on is no quotation of its own
        reader.press("q")
        assert reader.driver.switch_to.active_element == reader.element(".quote.now")
        reader.driver.execute_script("document.getAnimations().forEach((one) => one.finish())")
        seen.append(reader.text("#tip").splitlines())
    assert seen == [
        ["Ann", "speaks, quotation 1 of 2", "to Bob <b> · 75 % sure"],
        ["Ann", "speaks, quotation 2 of 2", "to Bob <b> · 75 % sure"],
        ["Bob <b>", "speaks, quotation 1 of 1", "to Ann · 75 % sure"],
        ["Speaker not found", "to Ann · 75 % sure"],
    ]
    assert 'Unknown speaker to Ann: "She ran,"' in reader.attribute("#live", "textContent")
    ActionChains(reader.driver).move_to_element(reader.element("[data-quote='2']")).perform()
    reader.wait_for("#tip", "Bob <b>")


def test_the_panel_steps_through_the_quotations_of_an_entity(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    assert reader.texts(".entity .spoken") == ["“2", "“1", ""]
    reader.choose("Ann")
    assert len(reader.texts(".quote.on")) == 3
    assert reader.text("#step-quote") == "– of 2"
    assert reader.texts(".wordings dt") == ["names"]
    for place in ("1 of 2", "2 of 2", "1 of 2"):
        reader.press("q")
        assert reader.text("#step-quote") == place
        assert reader.text("#step").startswith("–")
    assert reader.text("#mention-box").startswith('"Did you see Cat?"\nto Bob <b> · 75 % sure\n')
    reader.press("Q")
    assert reader.text("#step-quote") == "2 of 2"
    reader.press("n")  # goes on from the quotation: the mention inside it
    assert reader.text(".mention.now") == "I"
    assert "said by Ann to Bob <b>" in reader.text("#mention-box")
    assert reader.texts(".quote.now") == []
    reader.choose("Cat")
    assert not reader.driver.find_elements(By.CSS_SELECTOR, "#step-quote")
    reader.click("[data-quote='0']")
    assert reader.attribute("#name", "value") == "Ann"
    assert reader.text("#step-quote") == "1 of 2"


def test_quotations_can_be_hidden(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    reader.click("#voices")
    assert reader.texts(".quote") == []
    reader.press("q")
    assert reader.text("#tip") == ""


def test_corrections_hold_for_quotations_too(reader: Reader, talk: Result) -> None:
    reader.open(page(talk, TALK, title="Talk"))
    reader.choose("Cat")
    reader.ask("m")
    reader.choose("Ann")
    assert reader.text("#step-quote") == "– of 2"
    merged = [(0, 1), (0, 1), (1, 0), (None, 0), (0, 1)]
    assert speakers(reader.download()) == merged
    reader.choose("Bob <b>")
    reader.action("Remove entity")
    assert speakers(reader.download()) == [(0, None), (0, None), (None, 0), (None, 0), (0, None)]
    reader.click("#undo")
    reader.click("#undo")
    saved = json.loads(reader.download().read_text(encoding="utf-8"))
    assert saved["quotes"] == talk.as_json()["quotes"]
    assert "quotes" not in json.loads(page_data(page(replace(talk, quotes=()), TALK, title="")))["record"]


def speakers(path: Path) -> list[tuple[int | None, int | None]]:
    quotes = json.loads(path.read_text(encoding="utf-8"))["quotes"]
    return [(quote["speaker"], quote["addressee"]) for quote in quotes]


def test_mentions_that_cross_a_quotation_keep_the_text(reader: Reader) -> None:
    text = 'He said "the old man" of the sea "came by the" road.'
    result = made_up_result(text, {"a": 'the old man" of', "b": 'sea "came by', "c": "old", "d": 'the" road'}, id="x")
    reader.open(page(with_quotes(result, {"the old": (0, None), "came": (None, 1)}), text, title="Crossing"))
    reader.write("#least", "1")
    assert reader.attribute("#blocks", "textContent") == text
    parts = reader.driver.find_elements(By.CSS_SELECTOR, "[data-quote='1']")
    assert "".join(part.get_attribute("textContent") or "" for part in parts) == '"came by the"'


def test_nested_and_crossing_mentions_keep_the_text(reader: Reader) -> None:
    text = "the old man of the sea and his dog"
    names = {"a": "the old man of the sea", "b": "the sea", "c": "the sea and his", "d": "his dog", "e": "his"}
    reader.open(page(made_up_result(text, names, id="nested"), text, title="Nested"))
    reader.write("#least", "1")
    assert reader.attribute("#blocks", "textContent") == text
    assert len(reader.driver.find_elements(By.CSS_SELECTOR, ".mention .mention")) >= 2
    assert len(reader.cast()) == len(names)


def test_a_text_without_anybody_is_a_page_too(reader: Reader) -> None:
    for text in ("", "It rained."):
        reader.open(page(made_up_result(text, {}, id="nobody"), text, title="Nobody"))
        assert reader.attribute("#blocks", "textContent") == text
        assert reader.cast() == {}
        reader.press("n")


def test_a_result_of_another_text_is_an_error(story: Result) -> None:
    with pytest.raises(UsageError, match="does not belong to this text"):
        page(story, "x" + STORY, title="Shifted")
    with pytest.raises(UsageError, match="schema"):
        page({"clusters": []}, "", title="No schema")


def test_resolve_writes_a_page_for_each_text(reader: Reader, tiny_model: Path, tmp_path: Path) -> None:
    text = "Ann saw the old mill. She left it, and Tom met her. Tom liked the barn. 😀\r\n\r\nRuth met the old mill."
    story = tmp_path / "story.txt"
    story.write_bytes(text.encode())
    options = ["--model", str(tiny_model), "--cells", "3", "--threads", "1", "--to", "html", "-o"]
    with pytest.raises(SystemExit) as end:
        main(["resolve", str(story), *options, f"{tmp_path}/pages/"])
    assert not end.value.code
    reader.open((tmp_path / "pages" / "story.html").read_text(encoding="utf-8"))
    assert reader.attribute("#blocks", "textContent") == text
    assert reader.element("#tab-memory").is_displayed()
    result = longcoref.load(tiny_model, cells=3, threads=1)(text, id="story")
    assert read_document(reader.download()) == result.document
    with pytest.raises(SystemExit) as end:
        main(["resolve", str(story), str(story), *options, f"{tmp_path}/both.html"])
    assert end.value.code == 2


class Tags(HTMLParser):
    """The tags of a page and its data, as a browser's parser sees them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append(tag)
        self.last = dict(attributes)

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.last.get("id") == "data":
            self.data += data


def page_data(html: str) -> str:
    return tags_of(html).data


def tags_of(html: str) -> Tags:
    parser = Tags()
    parser.feed(html)
    return parser


@given(st.text(alphabet=st.one_of(st.sampled_from("<>/!-&'\"{}script"), st.characters(exclude_categories=["Cs"]))))
def test_no_text_changes_the_page_around_it(text: str) -> None:
    empty = {"schema": "longcoref/1", "clusters": []}
    parsed = tags_of(page(empty, text, title=text))
    assert parsed.tags == tags_of(page(empty, "", title="")).tags
    assert json.loads(parsed.data)["record"]["text"] == text


def read_document(path: Path) -> Document:
    (document,) = read_corpus(str(path))
    return document
