"""Measures how many anaphors of short modern texts a model links correctly.

    python scripts/measure_cases.py [--model M] [--style S] [--json] [--failures]

An anaphor is a marked mention that is not the first of its entity. It is right if its predicted cluster contains an
earlier marked mention of its entity and no earlier marked mention of another one. Spans must match exactly, except that
a possessive 's may be in or out. examples/cases.txt describes the format of the texts.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from longcoref import load
from longcoref.errors import InputError

CASES = Path(__file__).parent.parent / "examples" / "cases.txt"

_PRONOUNS = {
    "he": "he him his himself",
    "she": "she her hers herself",
    "they": "they them their theirs themselves themself",
    "it": "it its itself",
    "I": "i me my mine myself we us our ours ourselves",
    "you": "you your yours yourself yourselves",
}
_KIND_OF = {word: kind for kind, words in _PRONOUNS.items() for word in words.split()}
KINDS = (*_PRONOUNS, "name", "noun")

_MARKUP = re.compile(r"(\[|\|\w+\])")
_POSSESSIVE = re.compile(r"['’]s?$")
_CONTEXT = 40  # characters on each side of a wrong anaphor

Span = tuple[int, int]
Clusters = Iterable[Collection[Span]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A marked mention: its span in code points, its text and the label of its entity."""

    start: int
    end: int
    text: str
    entity: str

    @property
    def kind(self) -> str:
        """One of `KINDS`. A name is a mention whose last word is capitalised."""
        last = self.text.split()[-1]
        return _KIND_OF.get(self.text.lower()) or ("name" if last[0].isupper() else "noun")


@dataclass(frozen=True, slots=True)
class Case:
    """A text with its marked mentions in text order, the outer one first where two start together."""

    id: str
    category: str
    text: str
    mentions: tuple[Marked, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a resolver linked an anaphor to: the earlier marked mentions of its cluster.

    `linked` is None if the anaphor is in no cluster.
    """

    case: Case
    anaphor: Marked
    linked: tuple[Marked, ...] | None

    @property
    def right(self) -> bool:
        """Whether the anaphor is linked, and only to its own entity."""
        return bool(self.linked) and all(mention.entity == self.anaphor.entity for mention in self.linked or ())


def read_cases(path: Path) -> list[Case]:
    """Reads a file in the format of examples/cases.txt."""
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    content = [(number, line.rstrip()) for number, line in lines if not line.startswith("#")]
    blocks = [list(block) for is_block, block in groupby(content, key=lambda item: bool(item[1])) if is_block]
    return [_case(block, path) for block in blocks]


def _case(block: list[tuple[int, str]], path: Path) -> Case:
    (number, header), *body = block
    fields = header.split()
    if len(fields) != 2 or not body:
        raise InputError(f"expected an id and a category, then lines of text, got {header!r}", path, number)
    id, category = fields
    try:
        text, mentions = parse_markup("\n".join(line for _, line in body))
    except ValueError as error:
        raise InputError(f"case {id}: {error}", path, number) from error
    return Case(id, category, text, mentions)


def parse_markup(marked: str) -> tuple[str, tuple[Marked, ...]]:
    """Separates a text from its markup; ValueError if the brackets do not match."""
    text = ""
    opened: list[int] = []
    mentions = []
    for part in _MARKUP.split(marked):
        if part == "[":
            opened.append(len(text))
        elif _MARKUP.fullmatch(part):
            if not opened or not text[opened[-1] :].strip():
                raise ValueError(f"{part!r} closes no mention")
            start = opened.pop()
            mentions.append(Marked(start, len(text), text[start:], part[1:-1]))
        elif set(part) & set("]|"):
            raise ValueError(f"expected [mention|entity], got {part!r}")
        else:
            text += part
    if opened:
        raise ValueError(f"the mention at {text[opened[-1] :]!r} is not closed")
    return text, tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))


def answers_of(case: Case, clusters: Clusters) -> Iterator[Answer]:
    """The answers that predicted clusters of character spans give for the anaphors of a case."""
    cluster_of = {
        _without_possessive(case.text, span): number for number, spans in enumerate(clusters) for span in spans
    }
    found = [cluster_of.get(_without_possessive(case.text, (m.start, m.end))) for m in case.mentions]
    for index, anaphor in enumerate(case.mentions):
        earlier = case.mentions[:index]
        if all(mention.entity != anaphor.entity for mention in earlier):
            continue
        linked = tuple(m for m, number in zip(earlier, found, strict=False) if number == found[index])
        yield Answer(case, anaphor, None if found[index] is None else linked)


def _without_possessive(text: str, span: Span) -> Span:
    start, end = span
    return start, start + len(_POSSESSIVE.sub("", text[start:end]))


def measure(cases: Iterable[Case], resolve: Callable[[str], Clusters]) -> list[Answer]:
    """The answers of a resolver for all anaphors of all cases."""
    return [answer for case in cases for answer in answers_of(case, resolve(case.text))]


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some anaphors are right, and how many of their texts are entirely right."""

    anaphors: int
    right: int
    texts: int
    texts_right: int

    @property
    def accuracy(self) -> float:
        """Per cent of the anaphors that are right."""
        return 100 * self.right / max(self.anaphors, 1)

    def as_json(self) -> dict[str, float]:
        """The counts as JSON values."""
        return {
            "anaphors": self.anaphors,
            "right": self.right,
            "accuracy": round(self.accuracy, 1),
            "texts": self.texts,
            "texts_entirely_right": self.texts_right,
        }


def count(answers: Collection[Answer]) -> Count:
    """Counts answers and texts."""
    wrong = {answer.case.id for answer in answers if not answer.right}
    texts = {answer.case.id for answer in answers}
    return Count(len(answers), sum(answer.right for answer in answers), len(texts), len(texts - wrong))


def count_by_category(answers: Collection[Answer]) -> dict[str, Count]:
    """Counts for each category, in the order of the cases."""
    categories = dict.fromkeys(answer.case.category for answer in answers)
    return {name: count([answer for answer in answers if answer.case.category == name]) for name in categories}


def count_by_kind(answers: Collection[Answer]) -> dict[str, Count]:
    """Counts for each kind of anaphor; the counts of texts look at anaphors of that kind only."""
    return {kind: count([answer for answer in answers if answer.anaphor.kind == kind]) for kind in KINDS}


def table(answers: Collection[Answer]) -> Iterator[str]:
    """The lines of two Markdown tables: by category with the total, and by kind."""
    yield from ("| category | anaphors | right | texts | entirely right |", "|---|---:|---:|---:|---:|")
    for name, counted in (*count_by_category(answers).items(), ("**all**", count(answers))):
        yield (f"| {name} | {counted.anaphors} | {counted.accuracy:.1f} % | {counted.texts} | {counted.texts_right} |")
    yield from ("", "| kind | anaphors | right |", "|---|---:|---:|")
    for name, counted in count_by_kind(answers).items():
        yield f"| {name} | {counted.anaphors} | {counted.accuracy:.1f} % |"


def failures(answers: Iterable[Answer]) -> Iterator[str]:
    """The wrong answers, by case, for a person to read."""
    for case, wrong in groupby((answer for answer in answers if not answer.right), key=lambda answer: answer.case):
        yield f"{case.id}: {case.text}".replace("\n", "\n    ")
        for answer in wrong:
            anaphor = answer.anaphor
            own = [mention for mention in case.mentions if mention.entity == anaphor.entity]
            antecedent = next((mention for mention in own if mention.kind in ("name", "noun")), own[0])
            yield f"  {_in_context(case.text, anaphor)}\n    should be {antecedent.text}, {_found(answer)}"
        yield ""


def _in_context(text: str, anaphor: Marked) -> str:
    before, after = text[: anaphor.start], text[anaphor.end :]
    left = before if len(before) <= _CONTEXT else f"…{before[-_CONTEXT:]}"
    right = after if len(after) <= _CONTEXT else f"{after[:_CONTEXT]}…"
    return " ".join(f"{left}[{anaphor.text}]{right}".split())


def _found(answer: Answer) -> str:
    if answer.linked is None:
        return "but was not found as a mention"
    if not answer.linked:
        return "but was not linked to an earlier mention"
    return "but was linked to " + ", ".join(mention.text for mention in answer.linked)


def main() -> None:
    """Prints the tables, or everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model directory; default: the model that ships")
    parser.add_argument("--style", help="the style of text, for a model trained on several")
    parser.add_argument("--cases", type=Path, default=CASES, help="a file of cases; default: examples/cases.txt")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--failures", action="store_true", help="print the anaphors that are wrong, too")
    options = parser.parse_args()
    cases = read_cases(options.cases)
    resolver = load(options.model, style=options.style, threads=1)

    def resolve(text: str) -> Clusters:
        return [[(mention.start, mention.end) for mention in cluster] for cluster in resolver(text)]

    answers = measure(cases, resolve)
    wrong = list(failures(answers)) if options.failures else []
    if options.json:
        report = {
            "model": resolver.model.name,
            "all": count(answers).as_json(),
            "categories": {name: counted.as_json() for name, counted in count_by_category(answers).items()},
            "kinds": {name: counted.as_json() for name, counted in count_by_kind(answers).items()},
            **({"failures": [line for line in wrong if line]} if wrong else {}),
        }
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        print("\n".join([*wrong, *table(answers)]))


if __name__ == "__main__":
    main()
