"""Measures how well raw text is split: words and sentences against LitBank's, growth of time, peak memory.

    python scripts/measure_text.py DATA [--part train|dev|test ...] [--json]

DATA is the folder that holds clones of lrec2020-coref (the annotated words) and litbank (the novels they open). spaCy's
blank English with its sentencizer and syntok are measured beside ours where they are installed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import re
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from longcoref.document import Document
from longcoref.formats import read_corpus
from longcoref.text import SentenceStream, tokenize

_SPACE = re.compile(r"\s*")


class Split(NamedTuple):
    """The words of a text, and where its sentences end."""

    words: set[tuple[int, int]]
    sentence_ends: set[int]


class Agreement(NamedTuple):
    """Counts over a corpus of what both have, what the splitter has, and what LitBank has."""

    both: int
    found: int
    expected: int

    def per_cent(self) -> dict[str, float]:
        """Precision, recall and F1."""
        values = {
            "precision": self.both / self.found,
            "recall": self.both / self.expected,
            "f1": 2 * self.both / (self.found + self.expected),
        }
        return {name: round(100 * value, 2) for name, value in values.items()}


Splitter = Callable[[str], Split]


def split_of(document: Document) -> Split:
    """What we compare of a document."""
    return Split(
        {(start, end) for start, end in document.offsets},
        {document.characters(sentence).end for sentence in document.sentences},
    )


def openings(data: Path, parts: Iterable[str] = ("train", "dev", "test")) -> Iterator[tuple[str, Split]]:
    """The opening of each novel at hand, with LitBank's split of it, in the parts of fold 0."""
    for part in parts:
        for document in read_corpus(data / "lrec2020-coref", fold=0, part=part):
            novel = data / "litbank" / "original" / f"{document.id.removesuffix('_brat')}.txt"
            if novel.exists():
                yield _aligned(document, novel.read_text(encoding="utf-8"))


def _aligned(document: Document, text: str) -> tuple[str, Split]:
    position, spans = 0, []
    for word in document.words:
        space = _SPACE.match(text, position)
        start = space.end() if space else position
        if not text.startswith(word, start):
            raise ValueError(f"{document.id}: expected {word!r} at {start}, got {text[start : start + 20]!r}")
        position = start + len(word)
        spans.append((start, position))
    return text[:position], Split(set(spans), {spans[sentence.end - 1][1] for sentence in document.sentences})


def agreement(split: Splitter, gold: list[tuple[str, Split]]) -> tuple[Agreement, Agreement]:
    """How far words and sentence ends of a splitter agree with LitBank's."""
    counts = [[0, 0, 0], [0, 0, 0]]
    for text, expected in gold:
        found = split(text)
        for count, ours, theirs in (
            (counts[0], found.words, expected.words),
            (counts[1], found.sentence_ends, expected.sentence_ends),
        ):
            count[0] += len(ours & theirs)
            count[1] += len(ours)
            count[2] += len(theirs)
    words, sentences = (Agreement(*count) for count in counts)
    return words, sentences


def _spacy() -> Splitter:
    nlp: Any = importlib.import_module("spacy").blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 100_000_000

    def split(text: str) -> Split:
        sentences = [[word for word in sentence if not word.is_space] for sentence in nlp(text).sents]
        spans = [[(word.idx, word.idx + len(word)) for word in sentence] for sentence in sentences if sentence]
        return Split({span for sentence in spans for span in sentence}, {sentence[-1][1] for sentence in spans})

    return split


def _syntok() -> Splitter:
    segmenter: Any = importlib.import_module("syntok.segmenter")
    tokenizer: Any = importlib.import_module("syntok.tokenizer").Tokenizer(
        emit_hyphen_or_underscore_sep=True, replace_not_contraction=False
    )

    def split(text: str) -> Split:
        sentences = [list(sentence) for sentence in segmenter.split(tokenizer.tokenize(text))]
        spans = [[(word.offset, word.offset + len(word.value)) for word in sentence] for sentence in sentences]
        return Split({span for sentence in spans for span in sentence}, {sentence[-1][1] for sentence in spans})

    return split


def growth(text: str) -> dict[str, float]:
    """Processor seconds for 100,000 words and for ten times the same, and their ratio; the best of five runs each."""
    small = _first_words(text, 100_000) + "\n\n"
    big = small * 10
    best = {"seconds_100k": float("inf"), "seconds_1m": float("inf")}
    for _ in range(5):
        for name, piece in (("seconds_100k", small), ("seconds_1m", big)):
            begin = time.process_time()
            tokenize(piece)
            best[name] = min(best[name], time.process_time() - begin)
    ratio = best["seconds_1m"] / best["seconds_100k"]
    return {name: round(value, 3) for name, value in {**best, "ratio": ratio}.items()}


def stream_peak(text: str, words: int) -> float:
    """Peak memory in kB of a stream that is fed that many words, 4,096 characters at a time, and keeps no result."""
    text = _first_words(text, words)
    tracemalloc.start()
    stream = SentenceStream()
    for start in range(0, len(text), 4096):
        stream.feed(text[start : start + 4096])
        if start % 65_536 == 0:
            gc.collect()  # empties the interpreter's own store of used tuples, up to some megabytes
    stream.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 1000, 1)


def _first_words(text: str, count: int) -> str:
    """The beginning of a text that has that many words; the text comes again if it is too short."""
    ends = [end for _, end in tokenize(text[: 8 * count]).offsets[:count]]
    return text[: ends[-1]] if len(ends) == count else _first_words(text + "\n\n" + text, count)


def measure(data: Path, parts: Iterable[str]) -> dict[str, Any]:
    """Everything that the table shows."""
    gold = list(openings(data, parts))
    count = sum(len(split.words) for _, split in gold)
    splitters: dict[str, Splitter] = {"longcoref": lambda text: split_of(tokenize(text))}
    for name, make in (("spacy", _spacy), ("syntok", _syntok)):
        if importlib.util.find_spec(name):
            splitters[name] = make()
    results: dict[str, Any] = {"documents": len(gold), "words": count, "splitters": {}}
    for name, split in splitters.items():
        begin = time.process_time()
        words, sentences = agreement(split, gold)
        seconds = time.process_time() - begin
        results["splitters"][name] = {
            "words": words.per_cent(),
            "sentences": sentences.per_cent(),
            "words_per_second": round(count / seconds),
        }
    novels = sorted((data / "litbank" / "original").glob("*.txt"))[:12]
    text = "\n\n".join(novel.read_text(encoding="utf-8") for novel in novels)
    results["growth"] = growth(text)
    results["stream_peak_kb"] = {"100k": stream_peak(text, 100_000), "1m": stream_peak(text, 1_000_000)}
    return results


def main() -> None:
    """Parses, measures, prints."""
    parser = argparse.ArgumentParser(description="Words and sentences against LitBank's, growth of time, peak memory.")
    parser.add_argument("data", type=Path, help="folder with lrec2020-coref and litbank")
    parts = ("train", "dev", "test")
    parser.add_argument("--part", choices=parts, nargs="+", default=parts, help="only these parts of fold 0")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    results = measure(options.data, options.part)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{results['documents']} documents, {results['words']} words\n")
    print(f"{'':10} {'words P':>8} {'R':>7} {'F1':>7} {'sentences P':>12} {'R':>7} {'F1':>7} {'words/s':>9}")
    for name, row in results["splitters"].items():
        words, sentences = row["words"].values(), row["sentences"].values()
        print(
            f"{name:10} {'{:8.2f} {:7.2f} {:7.2f}'.format(*words)} {'{:12.2f} {:7.2f} {:7.2f}'.format(*sentences)}"
            f" {row['words_per_second']:9,}"
        )
    seconds = results["growth"]
    print(f"\n100k words {seconds['seconds_100k']} s, 1M words {seconds['seconds_1m']} s: ratio {seconds['ratio']}")
    peak = results["stream_peak_kb"]
    print(f"peak memory of a stream: {peak['100k']} kB for 100k words, {peak['1m']} kB for 1M words")


if __name__ == "__main__":
    main()
