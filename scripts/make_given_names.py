"""Writes english/given_names.txt: python scripts/make_given_names.py TERMS GAP TEXTS

TERMS is gutenberg_prop_gender_terms.txt of the PyPI package booknlp (MIT): how often he, she and they refer to names in
fiction. A word is a given name if it begins full names (Jane Hale) more often than it ends them, and rarely follows a
title like Mr.; its gender is listed if it is clear.

GAP is gap-development.tsv (Apache-2.0). Both names of a row have the gender of its pronoun, as do 1,531 of the 1,538
whose gender TERMS knows. Names that begin with a word that TEXTS, a folder of modern texts, has mostly in lower case or
often after "in" (Plastic, Sicily) are left out.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from longcoref.english.lexicon import GENDERED_WORDS, NOT_NAMES, PRONOUNS, TITLES
from longcoref.files import atomic_text
from longcoref.silver.gap import read_gap

TARGET = Path(__file__).parent.parent / "src" / "longcoref" / "english" / "given_names.txt"
FEWEST = 30  # pronouns that refer to a name
CLEAR = 0.8  # share of he, or of she, among them
VARIETY = 4  # full names that begin with it
FIRST = 1.5  # times as often first as last in full names
PLACE = 0.1  # of its capitalised occurrences, those after "in" that make it a place
FAMILY = 0.2  # as often after a title like Mr. as alone, at most
HEADER = """\
# Given names by the gender of the pronouns that usually refer to them: f or m, and the name.
# From counts in the data of BookNLP (MIT License, David Bamman) and in GAP's development rows (Apache License 2.0,
# Google), by scripts/make_given_names.py.
"""


def main() -> None:
    """Reads the counts and writes the names."""
    alone: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    family: dict[str, float] = defaultdict(float)  # pronouns that refer to Mr. or Mrs. and the name
    for words, counts in rows(Path(sys.argv[1])):
        if len(words) == 1:
            alone[words[0]] = list(counts)
        elif (title := TITLES.get(words[0].rstrip("."))) is not None:
            if len(words) == 2 and not title.given:
                family[words[1]] += sum(counts)
        elif words[0] not in NOT_NAMES and all(map(str.isalpha, words)):
            first[words[0]] += 1
            last[words[-1]] += 1
    others = not_of_people(Path(sys.argv[3]))
    for words, feminine in gap_names(Path(sys.argv[2])):
        if words[0] not in others:  # people were asked, so one row is enough
            alone[words[0]][feminine] += FEWEST
            first[words[0]] += VARIETY
            last[words[-1]] += VARIETY
    ignored = TITLES.keys() | NOT_NAMES | PRONOUNS.keys() | GENDERED_WORDS.keys()
    with atomic_text(TARGET) as stream:
        stream.write(HEADER)
        for name, (he, she, they) in sorted(alone.items()):
            known = name.isascii() and name.isalpha() and len(name) > 2 and name not in ignored
            given = first[name] >= max(VARIETY, FIRST * last[name])
            given = given and family[name] <= FAMILY * (he + she)
            if known and given and he + she >= max(FEWEST, they) and max(he, she) >= CLEAR * (he + she):
                stream.write(f"{'f' if she > he else 'm'} {name}\n")


def rows(path: Path) -> Iterator[tuple[list[str], tuple[float, float, float]]]:
    """The words of every name, and how often he, she and they refer to it."""
    with path.open(encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            term, _, he, she, they = line.rstrip("\n").split("\t")
            if words := term.split():
                yield words, (float(he), float(she), float(they))


def gap_names(path: Path) -> Iterator[tuple[list[str], bool]]:
    """The words of every full name in GAP's rows, and whether it is a woman's."""
    for row in read_gap(path):
        for start, end in row.names:
            words = row.text[start:end].lower().split()
            if len(words) > 1:
                yield words, row.feminine


def not_of_people(folder: Path) -> set[str]:
    """The words of the texts that are mostly in lower case (window), or often follow "in" (Sicily)."""
    lower, upper, inside = Counter[str](), Counter[str](), Counter[str]()
    for path in folder.rglob("*.txt"):
        for before, word in pairwise(path.read_text(encoding="utf-8").split()):
            if word.islower():
                lower[word] += 1
            elif word.istitle():
                upper[word.lower()] += 1
                inside[word.lower()] += before == "in"
    return {word for word, count in lower.items() if count >= upper[word]} | {
        word for word, count in inside.items() if count >= PLACE * upper[word]
    }


if __name__ == "__main__":
    main()
