"""Hides names in unlabelled novels and counts how often post-processing finds the person again.

    python scripts/measure_hidden.py NOVELS --cache FOLDER               the table, on the novels that are held out
    python scripts/measure_hidden.py NOVELS --cache FOLDER --numbers     with each number chosen by hand halved, doubled
    python scripts/measure_hidden.py NOVELS --cache FOLDER --learn 12    reads so many novels to learn on
    python scripts/measure_hidden.py NOVELS --cache FOLDER --passes 2    clusters again with what the memory knows then

NOVELS holds whole novels as text files. Of six novels that are long enough, by name, one is held out, and two are there
to be learned on (`longcoref.book.fit --hidden`). From each novel the two excerpts in which most names can be hidden
(`longcoref.book.hidden`) are taken, and the model reads them once; what it found is kept in FOLDER, by the model's
fingerprint. An answer is right if the hidden mention, speaker or addressee is the entity that has the other mentions by
this name.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from longcoref.book import numbers
from longcoref.book.hidden import KINDS, Asked, HiddenText, Names, hide, right_answers
from longcoref.book.revision import revise
from longcoref.document import Document
from longcoref.runtime.model import Model, open_model
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from measure_novels import SETTINGS, Setting, clustered, read_proposals

SHORTEST = 20_000  # words of a novel that takes part
EVERY, HELD_OUT, LEARNED = 6, 0, (1, 3)  # of so many novels, the one that is held out and those that are learned on
WORDS, EXCERPTS = 12_000, 2  # of an excerpt, and excerpts of a novel
CELLS = 20
BOTH = next(setting for setting in SETTINGS if setting.name == "names and speech")
Memories = dict[bool, Asked]


def novels_of(folder: Path) -> list[Path]:
    """The novels that are long enough, by name."""
    return [path for path in sorted(folder.glob("*.txt")) if len(path.read_bytes().split()) >= SHORTEST]


def parts_of(document: Document) -> Iterator[WordSpan]:
    """Parts of about `WORDS` words, each of whole sentences, that together are the document."""
    start = 0
    for _, end in document.sentences:
        if end - start >= WORDS or end == len(document.words):
            yield WordSpan(start, end)
            start = end


def hidden_parts(path: Path) -> list[HiddenText]:
    """The parts of a novel with the most hidden names, in text order."""
    novel = tokenize(path.read_text(encoding="utf-8"), id=path.stem)
    names = Names(novel)
    seed = int.from_bytes(hashlib.blake2b(path.stem.encode(), digest_size=4).digest(), "big")
    parts = [hide(names, part, np.random.default_rng((seed, part.start))) for part in parts_of(novel)]
    chosen = sorted(parts, key=lambda part: -len(part.questions))[:EXCERPTS]
    return [part for part in parts if part in chosen]


def read_part(hidden: HiddenText, model: Model, passes: int) -> Memories:
    """A part of a novel as the model reads it, without and with recall."""
    proposals = read_proposals(tokenize(hidden.text), model)
    return {
        recall: Asked(
            proposals.document,
            hidden.questions,
            tuple(clustered(proposals, model, CELLS, recall=recall, passes=passes)),
        )
        for recall in (False, True)
    }


def kept(folder: Path, path: Path, model: Model, passes: int = 1) -> Iterator[Memories]:
    """The parts of a novel as they are read now, or were by an earlier run."""
    targets = [folder / f"{path.stem}-{number}.json" for number in range(EXCERPTS)]
    if not targets[0].is_file():
        records = [
            {str(recall): asked.as_json() for recall, asked in read_part(part, model, passes).items()}
            for part in hidden_parts(path)
        ]
        folder.mkdir(parents=True, exist_ok=True)
        for target, record in reversed(list(zip(targets, records, strict=False))):
            target.write_text(json.dumps(record), encoding="utf-8")
        print(path.stem, file=sys.stderr)
    for target in filter(Path.is_file, targets):
        yield {recall: Asked.of_file(target, recall=recall) for recall in (False, True)}


def held_out(folder: Path, model: Model, cache: Path, passes: int) -> Iterator[Memories]:
    """The novels that are held out."""
    for path in novels_of(folder)[HELD_OUT::EVERY]:
        yield from kept(cache / ("held-out" if passes == 1 else f"passes-{passes}"), path, model, passes)


def read_to_learn(folder: Path, model: Model, cache: Path, count: int) -> None:
    """Reads the shortest of the novels that weights are learned on."""
    novels = [path for number, path in enumerate(novels_of(folder)) if number % EVERY in LEARNED]
    for path in sorted(novels, key=lambda path: path.stat().st_size)[:count]:
        list(kept(cache / "learn", path, model))


def right_shares(parts: Sequence[Memories], setting: Setting) -> list[str]:
    """Per cent of right answers of each kind, and of all."""
    right, total = Counter[str](), Counter[str]()
    for memories in parts:
        asked = memories[setting.recall]
        for question, answer in right_answers(asked, revise(asked.document, asked.mentions, setting.book)):
            for kind in (question.kind, "all"):
                total[kind] += 1
                right[kind] += answer
    return [f"{100 * right[kind] / max(total[kind], 1):.1f}" for kind in (*KINDS, "all")]


def changed_numbers() -> Iterator[tuple[str, float, float]]:
    """Each number that was chosen by hand with its value, which is halved and then doubled wherever it is used."""
    modules = [module for name, module in sys.modules.items() if name.startswith("longcoref.book.")]
    for name, value in vars(numbers).items():
        if name.isupper() and isinstance(value, (int, float)):
            using = [module for module in modules if hasattr(module, name)]
            for factor in (0.5, 2):
                changed = type(value)(value * factor)
                for module in using:
                    setattr(module, name, changed)
                yield name, value, changed
            for module in using:
                setattr(module, name, value)


def main() -> None:
    """Prints the accuracy of each setting by kind of question, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="folder for what the model found in each novel")
    parser.add_argument("--learn", type=int, help="only read so many of the novels that weights are learned on")
    parser.add_argument("--numbers", action="store_true", help="change the numbers that were chosen by hand")
    parser.add_argument("--passes", type=int, default=1, help="times that mentions are clustered")
    parser.add_argument("--model", help="model directory; the shipped one if not given")
    options = parser.parse_args()
    model = open_model(options.model, threads=1)
    cache = options.cache / model.fingerprint[:12]
    if options.learn:
        read_to_learn(options.novels, model, cache, options.learn)
        return
    parts = list(held_out(options.novels, model, cache, options.passes))
    total = Counter(question.kind for memories in parts for question in memories[False].questions)
    print(
        f"{len(parts)} parts of novels, {total.total()} questions: "
        + ", ".join(f"{kind} {total[kind]}" for kind in KINDS)
    )
    print(f"\n| | {' | '.join(KINDS)} | all |\n|---{'|---:' * (len(KINDS) + 1)}|")
    for setting in SETTINGS:
        print(f"| {setting.name} | {' | '.join(right_shares(parts, setting))} |")
    for name, value, changed in changed_numbers() if options.numbers else ():
        print(f"| {name} {changed:g} for {value:g} | {' | '.join(right_shares(parts, BOTH))} |")


if __name__ == "__main__":
    main()
