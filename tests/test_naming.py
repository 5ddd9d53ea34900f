"""The name of a cluster is its most informative mention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.book.naming import NameChooser
from longcoref.clusters import KINDS


def name_of(*mentions: tuple[str, str]) -> str:
    chooser = NameChooser()
    for text, kind in mentions:
        chooser.add(text, kind)
    return chooser.best()


@pytest.mark.parametrize(
    ("mentions", "name"),
    [
        ([("he", "PRON"), ("the miller", "NOM"), ("Mr. Hale", "PROP"), ("he", "PRON")], "Mr. Hale"),
        ([("she", "PRON"), ("the old aunt", "NOM"), ("she", "PRON")], "the old aunt"),
        ([("I", "PRON"), ("me", "PRON"), ("I", "PRON")], "I"),
        ([("Hale", "PROP")] * 9 + [("Mr. Hale", "PROP")] * 5 + [("Hale and Anna Hale", "PROP")], "Mr. Hale"),
        ([("Hale", "PROP")] * 90 + [("Mr. John Hale of the mill", "PROP")], "Hale"),
        ([("Anna", "PROP"), ("Anna  \n Hale", "PROP"), ("Anna Hale's", "PROP")], "Anna Hale"),
        ([("Wren", "PROP")] * 9 + [("her Wren", "PROP")] * 3, "Wren"),
        ([("my Lord", "PROP")] * 2 + [("his Lordship", "PROP")], "my Lord"),
        ([("word " * 40, "NOM")], "word word word word word word word word word word word…"),
    ],
)
def test_names(mentions: list[tuple[str, str]], name: str) -> None:
    assert name_of(*mentions) == name


@given(st.lists(st.tuples(st.text(min_size=1, max_size=30), st.sampled_from(KINDS)), min_size=1, max_size=200))
def test_a_name_is_short_and_never_a_pronoun_if_there_is_anything_else(mentions: list[tuple[str, str]]) -> None:
    chooser = NameChooser()
    for text, kind in mentions:
        chooser.add(text, kind)
    best = min(KINDS.index(kind) for _, kind in mentions)
    wordings = {" ".join(text.split()) for text, kind in mentions if KINDS.index(kind) == best}
    assert chooser.rank == best
    assert len(chooser.best()) <= 60
    assert not chooser.best() or any(wording.startswith(chooser.best()) for wording in wordings)
    assert len(chooser.counts) <= 64
