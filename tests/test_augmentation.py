"""Renaming people and dropping pieces: what must change and what must not."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.spans import WordSpan
from longcoref.training.augmentation import Renamer, drop_pieces


def mention(start: int, end: int, kind: str, type: str = "PER") -> Mention:
    return Mention(WordSpan(start, end), kind, type)


def story(man: str, woman: str, town: str) -> Document:
    """Mr. <man> met <woman> in <town> . She liked him . <man> left ."""
    words = [["Mr.", man, "met", woman, "in", town, "."], ["She", "liked", "him", "."], [man, "left", "."]]
    he = Cluster((mention(0, 2, "PROP"), mention(9, 10, "PRON"), mention(11, 12, "PROP")))
    she = Cluster((mention(3, 4, "PROP"), mention(7, 8, "PRON")))
    place = Cluster((mention(5, 6, "PROP", "GPE"),))
    return document_of_words(man, words, clusters=[he, she, place])


TRAIN = [story("Crake", "Sally", "Dover"), story("Hobbs", "Bertha", "York"), story("Finch", "Maud", "Leeds")]


def test_people_get_other_names_of_their_gender_everywhere_and_nothing_else_changes() -> None:
    renamer = Renamer(TRAIN)
    seen = set()
    for seed in range(30):
        renamed = renamer(TRAIN[0], np.random.default_rng(seed))
        man, woman = renamed.words[1], renamed.words[3]
        assert man in {"Hobbs", "Finch"}
        assert woman in {"Bertha", "Maud"}
        assert renamed.words == tuple(f"Mr. {man} met {woman} in Dover . She liked him . {man} left .".split())
        assert (renamed.sentences, renamed.clusters) == (TRAIN[0].sentences, TRAIN[0].clusters)
        seen.add((man, woman))
    assert len(seen) == 4


def test_no_two_people_share_a_new_name() -> None:
    pair = document_of_words(
        "pair",
        [["Zed", "saw", "Yan", "."]],
        clusters=[Cluster((mention(0, 1, "PROP"),)), Cluster((mention(2, 3, "PROP"),))],
    )
    renamer = Renamer([*TRAIN, pair, document_of_words("o", [["Oru", "saw", "Tay", "."]], clusters=pair.clusters)])
    for seed in range(20):
        renamed = renamer(pair, np.random.default_rng(seed))
        assert {renamed.words[0], renamed.words[2]} == {"Oru", "Tay"}


def test_a_document_without_kinds_keeps_its_names() -> None:
    plain = document_of_words("plain", [["Ned", "left", "."]], clusters=[Cluster((Mention(WordSpan(0, 1)),))])
    assert Renamer([*TRAIN, plain])(plain, np.random.default_rng(0)).words == plain.words


def test_a_share_of_the_pieces_becomes_unknown() -> None:
    ids = np.arange(10_000, dtype=np.int32) + 5
    dropped = drop_pieces(ids, 0.1, 1, np.random.default_rng(0))
    assert dropped.dtype == np.int32
    assert 0.08 < np.mean(dropped == 1) < 0.12
    assert np.array_equal(dropped[dropped != 1], ids[dropped != 1])
