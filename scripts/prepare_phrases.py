"""Writes the noun phrases of parsed text as training documents: python scripts/prepare_phrases.py FILE.tsv... -o OUT

A FILE has one word per line: word, part of speech, head (its number in the sentence, 0 for the root) and relation, as
Universal Dependencies has them; an empty line ends a sentence, `# id` begins a document. Each OUT/FILE.jsonl gets a
document for each of them, in which each noun phrase is an entity with one mention: `phrases_only = true` in a config.

A phrase is a noun, name or pronoun with all that depends on it, less what belongs to the clause (the subject and copula
of a predicate, prepositions, conjunctions). The first of several coordinated nouns gives two phrases, one with the
others and one without.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from longcoref.clusters import cluster_of
from longcoref.document import Document, document_of_words
from longcoref.formats import write_corpus
from longcoref.spans import WordSpan

HEADS = frozenset(("NOUN", "PROPN", "PRON"))
PARTS_OF_NAMES = frozenset(("compound", "flat", "fixed", "goeswith", "expl"))
"""Relations of nouns that are part of another one's phrase, or refer to nothing."""
INSIDE = frozenset(
    ("det", "amod", "nmod", "nummod", "acl", "appos", "compound", "flat", "fixed", "goeswith", "advmod", "dep")
)
"""What depends on a noun inside its phrase; subtypes such as acl:relcl included."""
COORDINATED = frozenset(("conj",))


class Word(NamedTuple):
    """A word of a parsed sentence; `head` is the number of the word it depends on, from 1, or 0."""

    text: str
    tag: str
    head: int
    relation: str

    @property
    def kind(self) -> str:
        """The relation without its subtype."""
        return self.relation.partition(":")[0]


def sentences_of(path: Path) -> Iterator[tuple[str, list[list[Word]]]]:
    """The id and the parsed sentences of each document of a file."""
    id = ""
    sentences: list[list[Word]] = []
    sentence: list[Word] = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), "", "# "]:
        if line.startswith("# ") or line == "#":
            if sentences:
                yield id, sentences
            id, sentences = line[2:].strip(), []
        elif line:
            text, tag, head, relation = line.split("\t")
            sentence.append(Word(text, tag, int(head), relation))
        elif sentence:
            sentences.append(sentence)
            sentence = []


def phrases(sentence: Sequence[Word]) -> set[tuple[int, int]]:
    """The noun phrases of a sentence: first word, and the one after the last."""
    children: dict[int, list[int]] = {}
    for number, word in enumerate(sentence):
        children.setdefault(word.head - 1, []).append(number)

    def within(number: int, kinds: frozenset[str]) -> set[int]:
        """A word and what depends on it by some relations, and on that by any."""
        found, waiting = {number}, [child for child in children.get(number, ()) if sentence[child].kind in kinds]
        while waiting:
            word = waiting.pop()
            if word not in found:
                found.add(word)
                waiting += children.get(word, ())
        return found

    spans = set()
    for number, word in enumerate(sentence):
        if word.tag not in HEADS or word.kind in PARTS_OF_NAMES:
            continue
        for kinds in (INSIDE, INSIDE | COORDINATED):
            inside = within(number, kinds)
            first, last = min(inside), max(inside)
            while first < number and sentence[first].tag in ("PUNCT", "CCONJ"):
                first += 1
            while last > number and sentence[last].tag in ("PUNCT", "CCONJ"):
                last -= 1
            spans.add((first, last + 1))
    return spans


def phrase_document(id: str, sentences: Sequence[Sequence[Word]], max_width: int) -> Document:
    """A document whose entities are its noun phrases."""
    found, begin = [], 0
    for sentence in sentences:
        found += [
            cluster_of([WordSpan(begin + start, begin + end)])
            for start, end in sorted(phrases(sentence))
            if end - start <= max_width
        ]
        begin += len(sentence)
    return document_of_words(id, [[word.text for word in sentence] for sentence in sentences], clusters=tuple(found))


def main() -> None:
    """Reads the files and writes as many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--max-width", type=int, default=20, help="longer phrases are left out")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in options.files:
        documents = [phrase_document(id, sentences, options.max_width) for id, sentences in sentences_of(path)]
        write_corpus(documents, options.out / f"{path.stem}.jsonl", format="jsonl")
        words = sum(len(document.words) for document in documents)
        found = sum(len(document.clusters or ()) for document in documents)
        print(f"{path.stem}: {len(documents)} documents, {words:,} words, {found:,} noun phrases")


if __name__ == "__main__":
    main()
