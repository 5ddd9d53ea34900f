"""Noun phrases of parsed text."""

from __future__ import annotations

from pathlib import Path

import pytest

from prepare_phrases import phrase_document, sentences_of

PARSED = """# one
The\tDET\t2\tdet
house\tNOUN\t9\tnsubj
Mrs.\tPROPN\t4\tcompound
Carey\tPROPN\t5\tnsubj
left\tVERB\t2\tacl:relcl
was\tAUX\t9\tcop
a\tDET\t9\tdet
ruined\tADJ\t9\tamod
place\tNOUN\t0\troot
.\tPUNCT\t9\tpunct

# two
I\tPRON\t2\tnsubj
saw\tVERB\t0\troot
men\tNOUN\t2\tobj
,\tPUNCT\t6\tpunct
and\tCCONJ\t6\tcc
women\tNOUN\t3\tconj
of\tADP\t8\tcase
rank\tNOUN\t6\tnmod
"""


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, {"The house Mrs. Carey left", "Mrs. Carey", "a ruined place"}),
        (1, {"I", "men", "men , and women of rank", "women of rank", "rank"}),
    ],
)
def test_a_phrase_has_what_depends_on_its_noun_but_not_the_clause(
    tmp_path: Path, number: int, expected: set[str]
) -> None:
    path = tmp_path / "parsed.tsv"
    path.write_text(PARSED, encoding="utf-8")
    id, sentences = list(sentences_of(path))[number]
    document = phrase_document(id, sentences, max_width=20)
    assert id == ("one", "two")[number]
    assert {
        " ".join(document.words[slice(*span)]) for cluster in document.clusters or () for span in cluster.spans
    } == expected


def test_long_phrases_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "parsed.tsv"
    path.write_text(PARSED, encoding="utf-8")
    id, sentences = next(sentences_of(path))
    assert len(phrase_document(id, sentences, max_width=3).clusters or ()) == 2
