"""The cast of a text, as a table and as CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from rich.cells import cell_len

from longcoref.corpus.tables import rows_of
from longcoref.document import document_of_words
from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster
from longcoref.render.book import write_book
from longcoref.render.cast import cast_rows, write_cast, write_csv
from longcoref.result import Result
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.quotations import Quotation, find_quotations


def mention(text: str, kind: str, sentence: int) -> MentionRecord:
    words = text.split()
    record = MentionRecord.of(
        document_of_words("", [words]), WordSpan(0, len(words)), kind=kind, type="PER", entity=0, score=0.9
    )
    return replace(record, text=text, sentence=sentence)


HILL = ResultCluster(0, "the hill", "LOC", (mention("the hill", "NOM", 4),))
SAID = [("Anna", "PROP"), ("Nan's", "PROP"), ("she", "PRON"), ("Nan", "PROP"), ("NAN", "PROP"), ("Her", "PRON")]
SAID += [("we", "PRON"), ("I", "PRON"), ("him", "PRON"), ("Miss\nHale", "PROP"), ("[b]the girl[/i]", "NOM")]
ANNA = ResultCluster(1, "Anna", "PER", tuple(mention(*said, place) for place, said in enumerate(SAID, 1)))
QUOTES = [(1, False), (1, True), (None, False), (1, False)]
RESULT = Result(
    (HILL, ANNA),
    "m",
    "learned",
    20,
    id="tale",
    quotes=tuple(Quotation(WordSpan(0, 1), 0, 1, continues, speaker, 0, 0.9) for speaker, continues in QUOTES),
)


def test_the_most_mentioned_come_first_with_their_counts_and_places() -> None:
    first, second = cast_rows(RESULT)
    assert first == {
        "name": "Anna",
        "type": "PER",
        "mentions": 11,
        "quotes": 2,
        "he": 1,
        "she": 2,
        "they": 0,
        "first": 2,
        "last": 12,
        "names": 5,
        "nouns": 1,
        "pronouns": 5,
        "aliases": "Nan; Miss Hale",
    }
    assert (second["name"], second["first"], second["last"], second["quotes"]) == ("the hill", 5, 5, 0)


def test_csv_survives_quotes_and_commas() -> None:
    stream = io.StringIO()
    named = replace(RESULT, clusters=(HILL, replace(ANNA, name='Anna "Nan", Hale')))
    write_csv([named, named], stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [(row["document"], row["name"]) for row in rows] == [("tale", 'Anna "Nan", Hale'), ("tale", "the hill")] * 2


def test_a_speech_of_several_paragraphs_is_one_quotation_in_every_output() -> None:
    document = tokenize('Ann spoke. "I am here.\n\n"I am old." Then she sat. "Well."')
    ann = tuple(
        MentionRecord.of(document, WordSpan(place, place + 1), kind=kind, type="PER", entity=0, score=0.9)
        for place, kind in ((0, "PROP"), (document.words.index("she"), "PRON"))
    )
    said = tuple(replace(quotation, speaker=0) for quotation in find_quotations(document))
    assert [quotation.continues for quotation in said] == [False, True, False]
    result = Result((ResultCluster(0, "Ann", "PER", ann),), "m", "learned", 20, document=document, quotes=said)
    read = Result.from_json(result.to_json())
    assert [row["quotes"] for row in (*cast_rows(result), *cast_rows(read))] == [2, 2]
    book = io.StringIO()
    write_book([result], book)
    assert [one["quotes"] for one in json.loads(book.getvalue())["characters"]] == [2]
    tables = rows_of(result, source="", hash="")
    assert [row["quotations"] for row in (*tables["documents"], *tables["entities"])] == [2, 2]
    assert sum(not row["continues"] for row in tables["quotations"]) == 2


def table(result: Result) -> list[str]:
    stream = io.StringIO()
    write_cast([result], stream)
    return stream.getvalue().splitlines()


def test_the_table_shows_every_cluster_and_no_zeros() -> None:
    lines = table(RESULT)
    assert [line.split() for line in lines if "Anna" in line or "hill" in line] == [
        ["Anna", "PER", "11", "2", "1", "2", "2", "12", "Nan;", "Miss", "Hale"],
        ["the", "hill", "LOC", "1", "5", "5"],
    ]


@pytest.mark.parametrize("name", ["A" * 60, "[/b] [red]x", "\x1b[31mred", "😀" * 30, "名" * 40])
def test_a_name_breaks_no_line_and_no_terminal(name: str) -> None:
    aliases = tuple(mention(f"{name} {number}", "PROP", 1) for number in range(20))
    lines = table(replace(RESULT, clusters=(HILL, replace(ANNA, name=name, mentions=aliases))))
    assert len(lines) == len(table(RESULT))
    assert max(map(cell_len, lines)) <= 100
    assert "\x1b" not in "".join(lines)
