"""Quoted speech is found by the marks of the text, in every style that books have."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.text import tokenize
from longcoref.text.quotations import DOUBLE, LONGEST, SINGLE, QuotationScanner, find_quotations, paragraph_starts


def quoted(text: str) -> list[str]:
    document = tokenize(text)
    return [document.text_of(quotation.words) for quotation in find_quotations(document)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Come in," said Ann. "It rains."', ['"Come in,"', '"It rains."']),
        ("“Come in,” said Ann. “It rains.”", ["“Come in,”", "“It rains.”"]),
        ("„Come in,“ said Ann. „It rains.“ He came.", ["„Come in,“", "„It rains.“"]),
        ("„Come in,” said Ann. „It rains.” He came.", ["„Come in,”", "„It rains.”"]),
        ("»Come in,« said Ann. »It rains.« He came.", ["»Come in,«", "»It rains.«"]),
        ("«Come in,» said Ann. «It rains.» He came.", ["«Come in,»", "«It rains.»"]),
        ("“Come in,” said Ann. “It rains.” He wrote „no.", ["“Come in,”", "“It rains.”", "„no."]),
        ("He said nothing.", []),
        # Single marks are speech where they are the habit of the text, and apostrophes are none.
        (
            "‘Come in,’ said Ann. ‘It’s raining.’ ‘Is it?’ ‘It is.’",
            ["‘Come in,’", "‘It’s raining.’", "‘Is it?’", "‘It is.’"],
        ),
        ("'Come,' said Ann. 'The boys' dog is wet.'", ["'Come,'", "'The boys' dog is wet.'"]),
        # What is quoted inside a quotation is part of it.
        ("“He said ‘Go away!’ to me,” said Ann.", ["“He said ‘Go away!’ to me,”"]),
        ("--Come in, said Ann.\n\n--It rains.\n\nShe sat down.", ["--Come in,", "--It rains."]),
        # A forgotten mark does not turn the rest of the book round.
        ('"Come in, said Ann.\n\nShe sat.\n\n"It rains," she said.', ['"Come in, said Ann.', '"It rains,"']),
    ],
)
def test_quotations_of_all_styles(text: str, expected: list[str]) -> None:
    assert quoted(text) == expected


def test_a_paragraph_that_opens_with_a_mark_continues_the_speech() -> None:
    document = tokenize('"It was dark.\n\n"Nobody came.\n\n"I left."\n\n"Indeed?" said Ann.')
    found = find_quotations(document)
    assert [quotation.continues for quotation in found] == [False, True, True, False]


@given(st.lists(st.sampled_from(['"', "“", "”", "‘", "’", "'", "--", "word", ".", "\n\n", "said"]), max_size=40))
def test_quotations_are_in_order_and_apart(pieces: list[str]) -> None:
    document = tokenize(" ".join(pieces))
    spans = [quotation.words for quotation in find_quotations(document)]
    assert all(start < end for start, end in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))


def test_double_marks_inside_many_single_ones_are_not_the_speech_of_a_text() -> None:
    plain, nested = "'Go,' said Ann. 'Yes,' said Tom. ", "'He cried, \"Never!\" and left,' said Tom. "
    document = tokenize(nested * 2 + plain * 6)
    found = [document.text_of(quotation.words) for quotation in find_quotations(document)]
    assert found == ["'He cried, \"Never!\" and left,'"] * 2 + ["'Go,'", "'Yes,'"] * 6


@given(
    st.sampled_from([DOUBLE, SINGLE]),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from([1, 2, 5, LONGEST - 2, LONGEST, 600]), st.sampled_from(list("“”‘’'\",")))),
)
def test_passing_over_words_is_the_same_as_a_step_for_each(marks, paragraphs: bool, stretches) -> None:
    plain, fast = (QuotationScanner(marks, paragraphs=paragraphs) for _ in range(2))
    for count, mark in stretches:
        assert [plain.step("word") for _ in range(count)] == [None] * count
        fast.pass_over(count, "word")
        assert fast == plain
        assert fast.step(mark) == plain.step(mark)
    assert fast.finish() == plain.finish()


@given(st.lists(st.sampled_from(["word", ".", " ", "\n", "\r", "\r\n", "\n\n", "\n \n", "\x00"]), max_size=30))
def test_a_paragraph_starts_after_an_empty_line(pieces: list[str]) -> None:
    document = tokenize("".join(pieces))
    expected, before = [], 0
    for start, end in document.offsets:
        between = document.text[before:start]
        expected.append(not expected or max(between.count("\n"), between.count("\r")) > 1)
        before = end
    assert paragraph_starts(document) == expected
