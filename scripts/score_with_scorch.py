"""Scores CoNLL files with another scorer than ours: scorch, over clusters that are read from the brackets here.

    longcoref evaluate … --conll-out OUT && python scripts/score_with_scorch.py OUT [OUT …]

Each OUT holds key.conll and response.conll; the documents of all are scored together as one corpus. Nothing of
longcoref is used, so that a fault in our reading, writing or scoring would show.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from scorch.scores import b_cubed, ceaf_e, conll2012, muc


def clusters(path: Path, corpus: str) -> list[set[tuple[str, int, int]]]:
    """The clusters of all documents of a file; mentions are (document, first word, last word)."""
    found: dict[tuple[str, str], set[tuple[str, int, int]]] = {}
    document, word = "", 0
    open_at: dict[str, list[int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#begin document"):
            document, word, open_at = f"{corpus} {line}", 0, {}
        elif line.strip() and not line.startswith("#"):
            for opened, name, closed in re.findall(r"(\(?)(\d+)(\)?)", line.split()[-1]):
                if opened:
                    open_at.setdefault(name, []).append(word)
                if closed:
                    mention = (document, open_at[name].pop(), word)
                    found.setdefault((document, name), set()).add(mention)
            word += 1
    return list(found.values())


def main() -> None:
    """Prints F1 of the three metrics and their mean, in per cent."""
    places = [Path(place) for place in sys.argv[1:]]
    if not places:
        sys.exit(__doc__)
    key, response = (
        [cluster for place in places for cluster in clusters(place / f"{side}.conll", str(place))]
        for side in ("key", "response")
    )
    for name, metric in (("MUC", muc), ("B³", b_cubed), ("CEAF-e", ceaf_e)):
        print(f"{name:7}{100 * metric(key, response)[2]:6.2f}")
    print(f"{'CoNLL':7}{100 * conll2012(key, response):6.2f}")


if __name__ == "__main__":
    main()
