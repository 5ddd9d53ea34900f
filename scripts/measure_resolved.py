"""Checks the form of resolved text in sentences with contractions and possessives.

    longcoref resolve novel.txt -o novel.json
    python scripts/measure_resolved.py novel.json --sentences 500 --sample 50

Takes sentences of results in our JSON in which a pronoun is contracted with a verb or is possessive and in which
something was replaced, evenly spread over the texts. Each replacement is checked by rules that know nothing of how it
was made. Prints the number of faults of each kind and every faulty sentence; `--sample` prints sentences to be read.
The exit code is 1 if there are faults.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longcoref.render.resolved import Replacement, ResolvedText
from longcoref.result import Result, read_results

CONTRACTED = re.compile(r"\b(?:I|you|he|she|it|we|they)['’](?:m|re|s|ve|ll|d)\b", re.IGNORECASE)
POSSESSIVE = re.compile(r"\b(?:my|mine|your|yours|his|its|our|ours|their|theirs|hers)\b", re.IGNORECASE)
PRONOUN = re.compile(
    r"\b(?:I|me|you|he|him|she|her|we|us|they|them|thee|(?:my|your|him|her|it)self|our(?:s|selves)?|it)\b|"
    + POSSESSIVE.pattern,
    re.IGNORECASE,
)
AFTER_SINGULAR = re.compile(
    r"(?:['’](?:m|re|ve|ll)\b|\s+[_*]?(?:am|are)(?![a-z])|\s+(?:do|have)n['’]t\b|\s+don['’]t\b)", re.IGNORECASE
)
PRESENT = re.compile(r"\s+(?:think|know|see|like|want|mean|say|go|come|love|hope|suppose|believe|wish|feel)\b")
BEFORE_INFINITIVE = re.compile(
    r"(?:\b(?:do|does|did|will|would|shall|should|can|could|may|might|must|let|make|made|see|saw|hear|heard|help|to)|n['’]t)\s+$",
    re.IGNORECASE,
)
OF_A_NOUN = re.compile(r"\s+(?:\w+-[a-z]|(?:past|only|very|next|own|little|slightly|newly)\s+[a-z]+)")
REFLEXIVE = re.compile(r"\b(?:my|your|our)sel(?:f|ves)\b", re.IGNORECASE)
COORDINATED = re.compile(r"\b(?:and|or|nor)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """A sentence before and after, with the replacements in it."""

    original: str
    resolved: str
    faults: list[str]


def faults(text: str, made: ResolvedText, replacement: Replacement, *, opens: bool) -> list[str]:
    """What is wrong with one replacement, by its name; `opens` says that it begins a sentence."""
    start, end = replacement.span
    new, old = made.text[start:end], text[slice(*replacement.original)]
    if replacement.cluster is None:
        return [] if re.fullmatch(r"\s?(?:is|are|was|has|have|does|will)", new, re.IGNORECASE) else ["verb"]
    found = []
    several = new.lower().endswith(("s", "s'", "s’", "people", "men", "women", "children")) or " and " in new
    rest = made.text[end : end + 30]
    if not several and AFTER_SINGULAR.match(rest) and not COORDINATED.search(made.text[max(0, start - 5) : start]):
        found.append("agreement")
    before = made.text[max(0, start - 20) : start]
    if (
        old.lower() in ("i", "you", "we", "they")
        and not several
        and PRESENT.match(rest)
        and not BEFORE_INFINITIVE.search(before)
    ):
        found.append("agreement")
    if re.match(r"['’](?:m|re|ve|ll|d)\b", rest, re.IGNORECASE):
        found.append("contraction")
    if old.lower() in ("i", "you", "we") and REFLEXIVE.match(rest.lstrip()):
        found.append("reflexive")
    if old.lower() == "her" and not re.search(r"['’]s?$", new) and OF_A_NOUN.match(rest):
        found.append("possessive lost")
    if "…" in new and "…" not in old:
        found.append("shortened name")
    if PRONOUN.search(new):
        found.append("pronoun inserted")
    if POSSESSIVE.fullmatch(old) and not new.endswith(("'s", "’s", "s'", "s’")):
        found.append("possessive lost")
    if re.search(r"['’]s['’]s?$", new) or (re.search(r"['’]s?$", new) and re.match(r"['’]s\b", rest)):
        found.append("possessive twice")
    word = re.match(r"\s+(\w+)(\W?)", rest)
    if old.lower() == "her" and re.search(r"['’]s?$", new) and word is not None:
        adverb = word[1].endswith("ly") and word[1] not in (
            "only",
            "early",
            "lovely",
            "lonely",
            "elderly",
            "family",
            "reply",
            "silly",
        )
        if adverb or (word[1] in ("first", "again", "too") and word[2] in ".,;!?"):
            found.append("possessive of nothing")
    if made.text[max(0, start - len(new) - 1) : start].strip() == new or rest.strip().startswith(f"{new} "):
        found.append("said twice")
    if made.text[max(0, start - 1) : start].isalpha() or rest[:1].isalpha():
        found.append("joined to a word")
    if opens and old[:1].isupper() and new[:1].islower():
        found.append("small letter")
    if not new.strip() or new != new.strip() or "\n" in new:
        found.append("white space")
    return found


def sentences(result: Result) -> Iterator[Sentence]:
    """The sentences with a contracted or possessive pronoun in which something was replaced."""
    document, made = result.known_document, result.resolved()
    replacements = iter(made.replacements)
    pending = next(replacements, None)
    for sentence in document.sentences:
        start, end = document.characters(sentence)
        inside: list[Replacement] = []
        while pending is not None and pending.original.start < end:
            inside.append(pending)
            pending = next(replacements, None)
        original = document.text[start:end]
        if not inside or not (CONTRACTED.search(original) or POSSESSIVE.search(original)):
            continue
        first, last = inside[0], inside[-1]
        from_, to = first.span.start - (first.original.start - start), last.span.end + end - last.original.end
        opening = next((place for place in range(start, end) if document.text[place].isalnum()), start)
        wrong = [
            fault for one in inside for fault in faults(document.text, made, one, opens=one.original.start == opening)
        ]
        kept = made.text[from_ : first.span.start] == document.text[start : first.original.start]
        ended = made.text[last.span.end : to] == document.text[last.original.end : end]
        yield Sentence(original, made.text[from_:to], wrong + ([] if kept and ended else ["other text changed"]))


def main() -> int:
    """Runs the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    found = [one for path in options.results for result in read_results(path) for one in sentences(result)]
    chosen = found[:: max(1, len(found) // options.sentences)][: options.sentences]
    kinds = Counter(fault for one in chosen for fault in one.faults)
    contracted = sum(CONTRACTED.search(one.original) is not None for one in chosen)
    print(
        f"{len(chosen)} of {len(found)} sentences, {contracted} with a contraction: "
        f"{kinds.total()} faults {dict(kinds)}"
    )
    for one in chosen:
        if one.faults:
            print(f"- {one.faults}\n  {' '.join(one.original.split())}\n  {' '.join(one.resolved.split())}")
    for one in chosen[:: max(1, len(chosen) // options.sample)][: options.sample] if options.sample else ():
        print(f"* {' '.join(one.original.split())}\n  {' '.join(one.resolved.split())}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
