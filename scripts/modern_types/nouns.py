"""Types of nouns, from WordNet: a king is a PER, a committee an ORG, a week a TIME.

A noun with several senses has several types, in proportion to how often each sense occurs in the texts that WordNet
counted. Types that LitBank does not have are EVENT, TIME and THING.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from longcoref.errors import InputError
from longcoref.toml import tomllib

_TABLE: Mapping[str, Any] = tomllib.loads((files(__package__) / "nouns.toml").read_text(encoding="utf-8"))
NOUN_TYPES: tuple[str, ...] = tuple(_TABLE["senses"])
"""The types that nouns may have; the last one is that of everything else."""
_NOUN = "1:"  # how the key of a sense goes on after the lemma, if it is a noun
_HYPERNYMS = ("@", "@i")  # of a class, and of an instance
_USUAL, _RARE = 0.5, 0.1  # added to the counts of first senses, and of others: many were never counted


class Nouns:
    """The nouns of WordNet 3, read from the folder that has `data.noun` and `index.sense`."""

    def __init__(self, folder: str | Path) -> None:
        self._above: dict[int, list[int]] = {}
        self._category: dict[int, str] = {}
        self._senses: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
        try:
            for line in _lines(Path(folder) / "data.noun"):
                self._add_synset(line.partition(" | ")[0].split())
            for line in _lines(Path(folder) / "index.sense"):
                self._add_sense(*line.split())
            self._types = {self._synset(sense): name for name in NOUN_TYPES for sense in senses_of(name)}
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise InputError(f"is not a folder of WordNet's files: {error}", folder) from error
        self.types = lru_cache(maxsize=None)(self._types_of)

    def _add_synset(self, fields: list[str]) -> None:
        number, words = int(fields[0]), int(fields[3], 16)
        self._category[number] = fields[1].lstrip("0")
        pointers = fields[5 + 2 * words :]
        self._above[number] = [int(pointers[i + 1]) for i in range(0, len(pointers), 4) if pointers[i] in _HYPERNYMS]

    def _add_sense(self, key: str, synset: str, number: str, count: str) -> None:
        lemma, _, rest = key.partition("%")
        if rest.startswith(_NOUN):
            self._senses[lemma].append((int(number), int(synset), int(count)))

    def _synset(self, sense: str) -> int:
        lemma, wanted = sense.split()
        return {number: synset for number, synset, _ in self._senses[lemma]}[int(wanted)]

    def _type_of(self, synset: int) -> str:
        """The type of the nearest sense above a set of synonyms that has one."""
        level, seen = [synset], {synset}
        while level:
            for one in level:
                if one in self._types:
                    return self._types[one]
            level = [above for one in level for above in self._above[one] if above not in seen]
            seen.update(level)
        category: str = _TABLE["categories"].get(self._category[synset], NOUN_TYPES[-1])
        return category

    def _types_of(self, noun: str) -> Mapping[str, float] | None:
        """The share of each type among the uses of a noun in lower case, singular or plural; None if it is unknown.

        The words of a compound are joined by "_", as in "high_school".
        """
        senses = next((self._senses[form] for form in _forms(noun) if form in self._senses), None)
        if senses is None:
            return None
        shares: defaultdict[str, float] = defaultdict(float)
        for number, synset, count in senses:
            shares[self._type_of(synset)] += count + (_USUAL if number == 1 else _RARE)
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file of WordNet, without the licence at its head, whose lines begin with blanks."""
    try:
        with path.open(encoding="utf-8") as stream:
            yield from (line for line in stream if not line.startswith(" "))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; WordNet 3 has such a file", path) from error


def senses_of(name: str) -> list[str]:
    """The senses that decide that a noun is of this type, each as a lemma and a number."""
    return [sense.strip() for sense in _TABLE["senses"][name].split(",")]


def _forms(noun: str) -> Iterator[str]:
    yield noun
    for plural in _TABLE["plurals"]["endings"]:
        ending, singular = plural.split(" ")
        if noun.endswith(ending) and len(noun) > len(ending) + 1:
            yield noun.removesuffix(ending) + singular
