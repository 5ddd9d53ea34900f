"""Everything that is written of a result puts every mention at the characters where it stands."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tracemalloc
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longcoref.errors import UsageError
from longcoref.formats import FORMATS
from longcoref.formats.source import Source
from longcoref.memory import ActionKind, LearnedMemory
from longcoref.memory.actions import Action
from longcoref.memory.decision import Decision
from longcoref.render.booknlp import ENTITY_COLUMNS, TOKEN_COLUMNS
from longcoref.render.html import write_page
from longcoref.render.lines import MentionWriter
from longcoref.render.outputs import OUTPUTS, chosen_formats, write_results
from longcoref.result import Result
from longcoref.runtime.model import Model
from results import ALPHABET, make_result, results

TALE = make_result(
    "Anna fed her dog.\r\n\r\nIt 👍🏽 liked [Anna].",
    [[(0, 1, "PROP"), (2, 3, "PRON"), (9, 10, "PROP")], [(2, 4, "NOM"), (5, 6, "PRON")]],
)


def written(result: Result, format: str) -> str:
    stream = io.StringIO()
    write_results([result], stream, format)
    return stream.getvalue()


def places(result: Result) -> list[tuple[int, int, int]]:
    """Start, end and cluster of every mention, in text order."""
    return [(mention.start, mention.end, cluster.id) for mention, cluster in result.mentions]


def text_of(result: Result) -> str:
    assert result.document is not None
    return result.document.text


def json_places(result: Result) -> list[tuple[int, int, int]]:
    record = json.loads(written(result, "json"))
    found = []
    for cluster in record["clusters"]:
        for mention in cluster["mentions"]:
            assert text_of(result)[mention["start"] : mention["end"]] == mention["text"]
            found.append((mention["start"], mention["end"], cluster["id"]))
    return sorted(found)


def jsonl_places(result: Result) -> list[tuple[int, int, int]]:
    stream = io.StringIO()
    model: Model = type("Named", (), {"name": "tiny"})()  # type: ignore[assignment]
    writer = MentionWriter(stream, model, LearnedMemory(20))
    writer.begin(result.id)
    nothing = np.zeros(0, np.float32)
    for mention, cluster in result.mentions:
        decision = Decision(Action(ActionKind.LINK, 0), cluster.id, None, 1.0, nothing, None, nothing)
        writer.add(replace(mention, decision=decision))
    writer.end()
    lines = [json.loads(line) for line in stream.getvalue().split("\n") if line]
    return [(line["mention"]["start"], line["mention"]["end"], line["cluster"]) for line in lines if "mention" in line]


def tsv_places(result: Result) -> list[tuple[int, int, int]]:
    found = []
    for row in csv.DictReader(io.StringIO(written(result, "tsv").replace("\0", "")), dialect="excel-tab"):
        start, end = int(row["start"]), int(row["end"])
        assert " ".join(text_of(result)[start:end].replace("\0", "").split()) == row["text"]
        found.append((start, end, int(row["cluster"])))
    return found


def booknlp_places(result: Result) -> list[tuple[int, int, int]]:
    header, *tokens = [line.split("\t") for line in written(result, "tokens").split("\n")[:-1]]
    assert header == list(TOKEN_COLUMNS)
    for number, row in enumerate(tokens):
        assert len(row) == 13
        assert int(row[3]) == number
        assert text_of(result)[int(row[6]) : int(row[7])] == row[4]
    header, *entities = [line.split("\t") for line in written(result, "entities").split("\n")[:-1]]
    assert header == list(ENTITY_COLUMNS)
    found = []
    for cluster, first, last, _, _, words in entities:
        assert words == " ".join(row[4] for row in tokens[int(first) : int(last) + 1])
        found.append((int(tokens[int(first)][6]), int(tokens[int(last)][7]), int(cluster)))
    return found


def html_places(result: Result) -> list[tuple[int, int, int]]:
    stream = io.StringIO()
    write_page(result, stream)
    (data,) = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', stream.getvalue(), re.DOTALL)
    record = json.loads(data)["record"]
    assert record["text"] == text_of(result)
    columns = record["mentions"]
    starts = list(accumulate(columns["start"]))
    ids = [record["clusters"][number]["id"] for number in columns["cluster"]]
    ends = [start + length for start, length in zip(starts, columns["length"], strict=True)]
    return sorted(zip(starts, ends, ids, strict=True))


def frame_places(result: Result) -> list[tuple[int, int, int]]:
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert [text_of(result)[row.start : row.end] for row in frame.itertuples()] == list(frame["text"])
    return list(zip(frame["start"], frame["end"], frame["cluster"], strict=True))


PLACES = {
    "json": json_places,
    "jsonl": jsonl_places,
    "tsv": tsv_places,
    "booknlp": booknlp_places,
    "html": html_places,
    "frame": frame_places,
}


@pytest.mark.parametrize("output", PLACES)
@settings(max_examples=40)
@given(result=results())
def test_offsets_survive(output: str, result: Result) -> None:
    assert PLACES[output](result) == places(result)


@pytest.mark.parametrize("format", ["conll", "litbank", "ontogum", "jsonlines", "corefud"])
@settings(max_examples=40)
@given(result=results())
def test_formats_of_words_keep_which_words_a_mention_has(format: str, result: Result) -> None:
    source = Source(f"tale{FORMATS[format].suffixes[0]}", io.BytesIO(written(result, format).encode()))
    document = result.document
    assert document is not None
    if not document.words:
        return
    ((_, read),) = FORMATS[format].read(source, lenient=False)
    assert read.words == document.words
    found = sorted(cluster.spans for cluster in read.clusters or ())
    assert found == sorted(cluster.spans for cluster in document.clusters or ())


@settings(max_examples=40)
@given(result=results([item for item in ALPHABET if item not in "\x1b"]))
def test_without_its_brackets_marked_text_is_the_text(result: Result) -> None:
    marked = written(result, "text")
    if len(result):
        marked = marked.rsplit("\n\n", 1)[0]
    assert re.sub(r"\[|\][0-9]+", "", marked).rstrip() == text_of(result).rstrip()


def test_a_terminal_shows_colours_and_obeys_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    result = make_result("Anna\x1b[2J fed\r\nher \x07dog.", [[(0, 1, "PROP")]])
    shown = written(result, "text")
    assert "\x1b[31mAnna" in shown
    assert "\x1b[2J" not in shown
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).startswith(
        "[Anna]0 [2J fed \nher  dog.\n\n    0  Anna (PER), 1 mention\n"
    )


def test_booknlps_paragraphs_sentences_and_last_tokens() -> None:
    rows = [line.split("\t") for line in written(TALE, "tokens").splitlines()[1:]]
    assert [row[0] for row in rows] == ["0"] * 5 + ["1"] * 7
    assert [row[1:4] for row in rows[4:7]] == [["0", "4", "4"], ["1", "0", "5"], ["1", "1", "6"]]
    assert {cell for row in rows for cell in (row[5], *row[8:])} == {"_"}
    assert written(TALE, "entities").splitlines()[1:4] == [
        "0\t0\t0\tPROP\tPER\tAnna",
        "0\t2\t2\tPRON\tPER\ther",
        "1\t2\t3\tNOM\tPER\ther dog",
    ]


@pytest.mark.parametrize("format", ["tokens", "entities"])
def test_booknlps_files_hold_one_text(format: str) -> None:
    with pytest.raises(UsageError, match="write to a folder"):
        write_results([TALE, TALE], io.StringIO(), format)


def test_formats_are_chosen_by_name_group_or_file() -> None:
    assert chosen_formats("json, booknlp,json", "-") == ["json", "tokens", "entities", "quotes", "book"]
    assert [chosen_formats(None, name) for name in ("a.resolved.txt", "a.txt", "a.tsv", "-")] == [
        ["resolved"],
        ["text"],
        ["tsv"],
        ["json"],
    ]
    with pytest.raises(UsageError, match="did you mean 'booknlp'"):
        chosen_formats("booknpl", "-")
    with pytest.raises(UsageError, match="expected an output format"):
        chosen_formats(" , ", "-")


@pytest.mark.parametrize("name", ["x.docx", "x", "out.jsn"])
def test_an_unknown_ending_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown suffix.*\.json"):
        chosen_formats(None, str(tmp_path / name))
    assert chosen_formats("json", str(tmp_path / name)) == ["json"]


def test_folders_and_devices_get_json(tmp_path: Path) -> None:
    for path in (f"{tmp_path}/new.x/", str(tmp_path), os.devnull, "-"):
        assert chosen_formats(None, path) == ["json"]


@pytest.mark.parametrize("format", list(OUTPUTS))
def test_the_ending_of_a_format_chooses_a_format_with_that_ending(format: str) -> None:
    (chosen,) = chosen_formats(None, f"story{OUTPUTS[format].suffix}")
    assert OUTPUTS[chosen].suffix == OUTPUTS[format].suffix


class Nowhere(io.StringIO):
    """A stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


def test_a_page_need_not_be_in_memory_at_once() -> None:
    sentences = 2500
    mentions = [(place, place + 1, "PROP") for place in range(0, 4 * sentences, 2)]
    result = make_result("Anna saw Tom. " * sentences, [mentions[::2], mentions[1::2]])
    tracemalloc.start()
    write_results([result], Nowhere(), "html")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600 * len(mentions)  # with its JSON values as a whole, it would be 1,500


def test_jsonl_needs_the_decisions() -> None:
    with pytest.raises(UsageError, match="while a text is being read"):
        written(TALE, "jsonl")


@given(result=results(), format=st.sampled_from(["resolved", "resolved-pronouns"]))
def test_resolving_changes_nothing_where_nothing_says_less(result: Result, format: str) -> None:
    bare = result.select(min_mentions=99)
    assert written(bare, format) == text_of(result).rstrip() + "\n"


WITHOUT_TEXT = ("json", "cast", "csv", "tsv", "book")
"""The formats that need no text."""


@pytest.mark.parametrize("format", [name for name in OUTPUTS if name not in ("html", "jsonl")])
def test_a_result_without_its_text_is_refused_by_all_formats_that_need_it(format: str) -> None:
    result = replace(make_result("Anna fed her dog.", [[(0, 1, "PROP"), (2, 3, "PRON")]]), document=None)
    stream = io.StringIO()
    if format in WITHOUT_TEXT:
        write_results([result], stream, format)
        assert "Anna" in stream.getvalue()
    else:
        with pytest.raises(UsageError, match="needs the text"):
            write_results([result], stream, format)
