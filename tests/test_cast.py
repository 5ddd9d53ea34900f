"""The cast of a text, as a table and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from rich.cells import cell_len

from longcoref.document import document_of_words
from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster
from longcoref.render.cast import cast_rows, write_cast, write_csv
from longcoref.result import Result
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation


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
