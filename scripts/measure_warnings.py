"""How often a text is said not to look like English prose: false alarms on corpora, hits on our own foreign texts.

    python scripts/measure_warnings.py DATA

DATA holds folders of .txt files, and `gum` a clone of GUM; the first 20,000 characters of each text are looked at. The
texts in German, French, Latin and so on are those of tests/foreign.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from longcoref.document import Document
from longcoref.english.lexicon import FUNCTION_WORDS
from longcoref.formats import read_corpus
from longcoref.text import tokenize
from longcoref.text.likeness import warning_about

FOREIGN = Path(__file__).parent.parent / "tests" / "foreign"
_LENGTH = 20_000
_MODERN = ("academic", "bio", "interview", "news", "voyage")


def share(words: tuple[str, ...]) -> float:
    """The share of English function words."""
    letters = [word.lower() for word in words if word[0].isalpha()]
    return sum(word in FUNCTION_WORDS for word in letters) / max(len(letters), 1)


def main() -> None:
    """Prints a line for each kind of text."""
    data = Path(sys.argv[1])
    kinds: dict[str, list[Document]] = {}
    for folder in (
        "novels",
        "litbank/original",
        "modern/academic",
        "modern/bio",
        "modern/interview",
        "modern/news",
        "modern/voyage",
    ):
        paths = sorted((data / folder).rglob("*.txt"))
        kinds[folder] = [tokenize(path.read_text(encoding="utf-8")[:_LENGTH], id=path.stem) for path in paths[:150]]
    for part in ("train", "dev"):
        for document in read_corpus(data / "gum", part=part):
            kinds.setdefault(f"gum {document.genre}", []).append(document)
    kinds["ours: not English prose"] = [
        tokenize(path.read_text(encoding="utf-8"), id=path.stem) for path in sorted(FOREIGN.glob("*.txt"))
    ]
    print("| texts | number | with a warning | least and largest share of function words |\n|---|---|---|---|")
    for kind, documents in kinds.items():
        warned = [document.id for document in documents if warning_about(document.words)]
        shares = [share(document.words) for document in documents]
        print(f"| {kind} | {len(documents)} | {len(warned)} | {min(shares):.2f} to {max(shares):.2f} |", *warned[:4])
    print(Counter(warning_about(document.words) for document in kinds["ours: not English prose"]))


if __name__ == "__main__":
    main()
