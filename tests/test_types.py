"""Types of mentions that nobody annotated: from a dictionary of nouns, and what a classifier learns from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longcoref.errors import InputError
from longcoref.features.facts import mention_facts
from modern_types.classifier import fit_types
from modern_types.likely import likely_types
from modern_types.nouns import NOUN_TYPES, Nouns, senses_of

# What stands in for WordNet: a noun, its category, the noun above it, and how often each of its senses was counted.
ENTRIES = {
    "entity": ("03", None, [0]),
    "party": ("14", "organization", [29]),
    "king": ("18", "entity", [33]),
    "river": ("17", "entity", [55]),
    "dog": ("05", "entity", [42]),
    "bank": ("17", "entity", [20, 10]),
    "high_school": ("06", "structure", [0]),
    "week": ("28", "entity", [9]),
}


@pytest.fixture(scope="module")
def nouns(tmp_path_factory: pytest.TempPathFactory) -> Nouns:
    return Nouns(dictionary(tmp_path_factory.mktemp("dict")))


def dictionary(folder: Path) -> Path:
    """Writes `data.noun` and `index.sense` with the entries and with every sense that decides a type."""
    entries = dict(ENTRIES)
    for name in NOUN_TYPES:
        for sense in senses_of(name):
            lemma, number = sense.split()
            category, above, counts = entries.get(lemma, ("03", "entity", []))
            entries[lemma] = category, above, [*counts, *[0] * (int(number) - len(counts))]
    senses = [(lemma, sense) for lemma, (_, _, counts) in entries.items() for sense in range(1, len(counts) + 1)]
    numbers = {sense: number for number, sense in enumerate(senses, 1)}
    data, index = ["  1 This is a licence."], []
    for (lemma, sense), number in numbers.items():
        category, above, counts = entries[lemma]
        hypernym = "organization" if (lemma, sense) == ("bank", 2) else above
        pointers = f"001 @ {numbers[hypernym, 1]:08d} n 0000" if hypernym else "000"
        data.append(f"{number:08d} {category} n 01 {lemma} 0 {pointers} | a gloss with a number, 1")
        index.append(f"{lemma}%1:{category}:00:: {number:08d} {sense} {counts[sense - 1]}")
    index.append("king%2:30:00:: 00000001 1 5")  # a verb
    (folder / "data.noun").write_text("\n".join(data) + "\n", encoding="utf-8")
    (folder / "index.sense").write_text("\n".join(index) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("noun", "type"),
    [
        ("party", "ORG"),
        ("parties", "ORG"),
        ("king", "PER"),
        ("rivers", "LOC"),
        ("dog", "THING"),
        ("high_school", "FAC"),
        ("week", "TIME"),
    ],
)
def test_a_noun_has_the_type_of_the_nearest_sense_above_it(nouns: Nouns, noun: str, type: str) -> None:
    assert nouns.types(noun) == {type: pytest.approx(1.0)}


def test_a_noun_with_several_senses_has_shares_of_their_types(nouns: Nouns) -> None:
    assert nouns.types("bank") == {"LOC": pytest.approx(20.5 / 30.6), "ORG": pytest.approx(10.1 / 30.6)}
    assert nouns.types("zorble") is None


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data\.noun"):
        Nouns(tmp_path)
    (tmp_path / "data.noun").write_text("no dictionary", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder of WordNet's files"):
        Nouns(tmp_path)
    dictionary(tmp_path)
    (tmp_path / "index.sense").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder of WordNet's files"):
        Nouns(tmp_path)


@pytest.mark.parametrize(
    ("mentions", "type"),
    [
        (["Acme", "it", "the party"], "ORG"),
        (["the Anacostia River"], "LOC"),
        (["Zorb King"], None),  # as a surname
        (["Mr. River"], "PER"),
        (["Zorble", "she"], "PER"),
        (["the river", "she", "her"], "PER"),  # what someone is called
        (["the dog", "it"], "THING"),
        (["the high school"], "FAC"),
        (["Zorble", "it"], None),
    ],
)
def test_what_the_mentions_of_an_entity_say(nouns: Nouns, mentions: list[str], type: str | None) -> None:
    words = [mention.split() for mention in mentions]
    shares = likely_types(words, [mention_facts(one) for one in words], [0] * len(words), nouns)
    assert shares.shape == (len(words), len(NOUN_TYPES))
    if type is None:
        assert not shares.any()
    else:
        assert NOUN_TYPES[shares[0].argmax()] == type
        assert shares.sum(1) == pytest.approx(1)


def test_entities_are_apart_and_known_people_are_people(nouns: Nouns) -> None:
    words = [["Zorble"], ["the", "river"], ["Zorble"]]
    shares = likely_types(words, [mention_facts(one) for one in words], [0, 1, 2], nouns, [True, False, False])
    assert NOUN_TYPES[shares[0].argmax()] == "PER"
    assert NOUN_TYPES[shares[1].argmax()] == "LOC"
    assert not shares[2].any()


def test_the_classifier_learns_likely_types() -> None:
    random = np.random.default_rng(0)
    types = random.integers(0, 3, 300)
    x = random.normal(size=(300, 8)).astype(np.float32) + 3 * np.eye(8, dtype=np.float32)[types] + 5
    shares = np.full((300, 3), 0.1) + 0.7 * np.eye(3)[types]
    shares[:30] = 0  # nothing is known of these
    weights, biases = fit_types(x, shares)
    assert (weights.shape, biases.shape) == ((3, 8), (3,))
    assert ((x @ weights.T + biases).argmax(1) == types).mean() > 0.9
