"""Writes english/given_names.txt: python scripts/make_given_names.py gutenberg_prop_gender_terms.txt

The input is a file of the PyPI package booknlp (MIT): how often he, she and they refer to names in fiction. A word is a
given name if it begins full names (Jane Hale) much more often than it ends them, and rarely follows a title like Mr.;
its gender is listed if it is clear.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from longcoref.english.lexicon import GENDERED_WORDS, NOT_NAMES, PRONOUNS, TITLES
from longcoref.files import atomic_text

TARGET = Path(__file__).parent.parent / "src" / "longcoref" / "english" / "given_names.txt"
FEWEST = 30  # pronouns that refer to a name
CLEAR = 0.8  # share of he, or of she, among them
VARIETY = 8  # full names that begin with it
FIRST = 3.0  # times as often first as last in full names
FAMILY = 0.2  # as often after a title like Mr. as alone, at most
HEADER = """\
# Given names by the gender of the pronouns that usually refer to them in fiction: f or m, and the name.
# From counts in the data of BookNLP (MIT License, David Bamman), by scripts/make_given_names.py.
"""


def main() -> None:
    """Reads the counts and writes the names."""
    alone: dict[str, tuple[float, float, float]] = {}
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    family: dict[str, float] = defaultdict(float)  # pronouns that refer to Mr. or Mrs. and the name
    for words, counts in rows(Path(sys.argv[1])):
        if len(words) == 1:
            alone[words[0]] = counts
        elif (title := TITLES.get(words[0].rstrip("."))) is not None:
            if len(words) == 2 and not title.given:
                family[words[1]] += sum(counts)
        elif words[0] not in NOT_NAMES and all(map(str.isalpha, words)):
            first[words[0]] += 1
            last[words[-1]] += 1
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


if __name__ == "__main__":
    main()
