"""What the records of an evaluation say about hardness and memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from longcoref.analysis.records import correlations, memory_use, read_records, spearman
from longcoref.cli.app import build_app
from longcoref.errors import InputError

ROWS = [  # words, entities, most in memory, ignored, F1
    (100, 9, 5, 0, 80.0),
    (200, 7, 5, 3, 70.0),
    (400, 8, 4, 6, 60.0),
]
RECORDS = [
    {"words": words, "gold_entities": count, "most_in_memory": most, "ignored": ignored, "conll_f1": score}
    for words, count, most, ignored, score in ROWS
]


def test_correlations_by_hand() -> None:
    # Ranks of length 1 2 3 against 3 2 1; of entities 3 1 2 against 3 2 1: 1 − 6·2/(3·8).
    assert correlations(RECORDS) == {"words": pytest.approx(-1), "gold_entities": pytest.approx(0.5)}
    assert correlations(RECORDS[:1]) == {"words": None, "gold_entities": None}


def test_memory_by_hand() -> None:
    assert memory_use(RECORDS) == {
        "average_entities": pytest.approx(14 / 3),
        "max_entities": 5,
        "ignored_per_document": 3,
    }


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2))
def test_a_correlation_is_of_ranks_alone(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    value = spearman(first, second)
    assert value is None or -1.000001 <= value <= 1.000001
    assert (value is None) == (len(set(first)) < 2 or len(set(second)) < 2)
    if value is not None:
        assert spearman(second, first) == pytest.approx(value)
        assert spearman([number**3 for number in first], second) == pytest.approx(value)
        assert spearman([-number for number in first], second) == pytest.approx(-value)


def test_the_commands_print_a_row_for_each_file(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("dev.jsonl", "test.jsonl")]
    for path in paths:
        Path(path).write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    for command, name, value in (("correlation", "words", -1.0), ("memory", "ignored_per_document", 3)):
        arguments = ["analyze", command, *paths]
        printed = CliRunner().invoke(build_app(), [*arguments, "--json"], catch_exceptions=False).stdout
        assert [row[name] for row in json.loads(printed)] == [pytest.approx(value)] * 2
        table = CliRunner().invoke(build_app(), arguments, catch_exceptions=False).stdout
        assert format(value, ".1f") in table


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "holds no record"), (b"[]\n", "'words' is missing"), (b"x\n", r"x.jsonl:1: expected"), (b"\xff", "read")],
)
def test_what_is_no_record_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_records(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path / "missing.jsonl")
