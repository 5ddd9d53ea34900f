"""What a book gives: chapters, characters, BookNLP's quotes and book, who is with whom."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster, annotation
from longcoref.render.book import copresence, write_book, write_copresence, write_graph, write_quotes
from longcoref.result import Result
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.chapters import find_chapters
from longcoref.text.quotations import Quotation

PROSE = (
    "The rain fell on the roofs of the town and on the fields behind it, and nobody went out that did not have to. " * 2
)
HEAD = "SALT & SAND\n\nCONTENTS\n\nCHAPTER I\n\nCHAPTER II"
BOOK = f"{HEAD}\n\nChapter I\n\n{PROSE}\n\nIV.\n\n{PROSE}\n\nEpilogue\n\n{PROSE}"
TALE = 'CHAPTER 1\n\n"I saw him," said Ann.\n\nAnn & Tom met. She left. He stayed.'


def result() -> Result:
    document = tokenize(TALE, id="tale")

    def cluster(id: int, name: str, mentions: list[tuple[str, str]]) -> ResultCluster:
        found, place = [], 0
        for text, kind in mentions:
            place = document.words.index(text, place)
            words = WordSpan(place, place + 1)
            found.append(MentionRecord.of(document, words, kind=kind, type="PER", entity=id, score=1.0))
            place += 1
        return ResultCluster(id, name, "PER", tuple(found))

    ann = cluster(0, "Ann", [("I", "PRON"), ("Ann", "PROP"), ("Ann", "PROP"), ("She", "PRON")])
    tom = cluster(1, "Tom & Co", [("him", "PRON"), ("Tom", "PROP"), ("He", "PRON")])
    start = document.words.index('"')
    span = WordSpan(start, document.words.index('"', start + 1) + 1)
    quote = replace(Quotation.of(document, span), speaker=0, addressee=1, score=0.9)
    annotated = document.with_clusters(annotation((ann, tom)))
    return Result((ann, tom), "tiny", "learned", 3, "tale", annotated, (quote,))


def written(write: object) -> str:
    stream = io.StringIO()
    write([result()], stream)  # type: ignore[operator]
    return stream.getvalue()


def test_chapters_are_found_and_a_table_of_contents_is_none() -> None:
    chapters = find_chapters(tokenize(BOOK))
    assert [chapter.title for chapter in chapters] == ["Chapter I", "IV.", "Epilogue"]


def test_a_number_with_a_title_is_a_heading_if_it_is_the_next_one() -> None:
    page = "Nobody came to the mill that day, and so it went on. " * 4
    titles = ["01 The Mill", "02 A Guest", "7 Dock Street", "03 The Feast", "IV. The End"]
    chapters = find_chapters(tokenize("\n\n".join(f"{title}\n\n{page}" for title in titles)))
    assert [chapter.title for chapter in chapters] == [titles[0], titles[1], titles[3], titles[4]]


@given(st.lists(st.sampled_from(["CHAPTER I", "II", "A short line.", PROSE, "--"]), max_size=8))
def test_chapters_cover_all_words(paragraphs: list[str]) -> None:
    document = tokenize("\n\n".join(paragraphs))
    spans = [chapter.span for chapter in find_chapters(document)]
    assert [word for start, end in spans for word in range(start, end)] == list(range(len(document.words)))


def test_quotes_are_booknlp_s() -> None:
    header, row = written(write_quotes).splitlines()
    assert header.split("\t")[:2] == ["quote_start", "quote_end"]
    assert row.split("\t") == ["2", "7", "9", "9", "Ann", "0", '" I saw him , "']


def test_the_book_has_names_pronouns_and_quotes_of_each_character() -> None:
    ann, tom = json.loads(written(write_book))["characters"]
    assert (ann["name"], ann["count"], ann["quotes"]) == ("Ann", 4, 1)
    assert ann["mentions"]["proper"] == [{"c": 2, "n": "Ann"}]
    categories = ("he/him/his", "she/her", "they/them/their", "xe/xem/xyr/xir", "ze/zem/zir/hir")
    inference = {category: float(category == "he/him/his") for category in categories}
    assert tom["g"] == {"inference": inference, "argmax": "he/him/his", "max": 1.0, "total": 2}
    assert tom["narrator"] is False
    assert tom["quotes"] == 0


def test_chapters_are_numbered_from_1_and_what_comes_before_them_is_0() -> None:
    together = "Ann met Tom. "
    for text, numbers in (
        (f"Chapter I\n\n{together}{PROSE}\n\nChapter II\n\n{together}{PROSE}", {1, 2}),
        (f"{together}{PROSE}\n\nChapter I\n\n{together}{PROSE}", {0, 1}),
        (f"{together}{PROSE}{together}", {1}),
    ):
        document = tokenize(text)
        clusters = []
        for id, name in enumerate(("Ann", "Tom")):
            places = [WordSpan(place, place + 1) for place, word in enumerate(document.words) if word == name]
            found = [MentionRecord.of(document, p, kind="PROP", type="PER", entity=id, score=1.0) for p in places]
            clusters.append(ResultCluster(id, name, "PER", tuple(found)))
        book = Result(tuple(clusters), "m", "learned", 20, document=document.with_clusters(annotation(clusters)))
        assert {number for number, *_ in copresence(book)} == numbers


def test_who_is_with_whom_is_counted_in_paragraphs_and_is_well_formed_graphml() -> None:
    assert copresence(result()) == {(1, "", 0, 1): 2}
    assert written(write_copresence).splitlines()[1] == "1\t\tAnn\tTom & Co\t2"
    tree = ElementTree.fromstring(written(write_graph))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    labels = [node.findtext(f"{space}data[@key='label']") for node in tree.iter(f"{space}node")]
    assert labels == ["Ann", "Tom & Co"]
    assert [edge.findtext(f"{space}data") for edge in tree.iter(f"{space}edge")] == ["2"]
