"""The cast of a text, as a table and as CSV."""

from __future__ import annotations

import csv
import io

from longcoref.render.cast import cast_rows, write_cast, write_csv
from longcoref.result import Result, ResultCluster, ResultMention
from longcoref.spans import WordSpan


def mention(text: str, kind: str, sentence: int) -> ResultMention:
    return ResultMention(0, len(text), text, kind, "PER", 0.9, sentence, WordSpan(0, 1))


HILL = ResultCluster(0, "the hill", "LOC", 1, (mention("the hill", "NOM", 4),))
ANNA = ResultCluster(
    1, 'Anna "Nan", Hale', "PER", 3, (mention("Anna", "PROP", 1), mention("she", "PRON", 2), mention("her", "PRON", 7))
)
RESULT = Result((HILL, ANNA), "m", "learned", 20, id="tale")


def test_the_most_mentioned_come_first_with_their_counts_and_places() -> None:
    first, second = cast_rows(RESULT)
    assert first == {
        "name": 'Anna "Nan", Hale',
        "type": "PER",
        "mentions": 3,
        "first": 2,
        "last": 8,
        "names": 1,
        "nouns": 0,
        "pronouns": 2,
    }
    assert (second["name"], second["first"], second["last"]) == ("the hill", 5, 5)


def test_csv_survives_quotes_and_commas() -> None:
    stream = io.StringIO()
    write_csv([RESULT, RESULT], stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [(row["document"], row["name"]) for row in rows] == [("tale", 'Anna "Nan", Hale'), ("tale", "the hill")] * 2


def test_the_table_shows_every_cluster() -> None:
    stream = io.StringIO()
    write_cast([RESULT], stream)
    assert "the hill" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
