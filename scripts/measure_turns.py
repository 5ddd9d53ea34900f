"""Who "I" and "you" are in scripts, chats and transcripts.

    python scripts/measure_turns.py [DIALOGUE...]

Each dialogue (by default those of `tests/dialogues`) is written in every layout that has speakers, resolved, and
compared with who speaks to whom. An "I" is right if it is in the cluster of its speaker's labels. Where speakers are
given without labels, it must be in the cluster of most of the speaker's "I", and no two speakers may share one.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import longcoref
from longcoref.document import Document
from longcoref.extraction import read_text
from longcoref.features.facts import FIRST_PERSON, SECOND_PERSON, mention_facts
from longcoref.resolver import Resolver
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from longcoref.text.turns import find_turns, speaker_key

DIALOGUES = Path(__file__).parent.parent / "tests" / "dialogues"
_OVERRIDE = re.compile(r"\{([^}]*)\}")
PERSONS = {FIRST_PERSON: "I", SECOND_PERSON: "you"}


@dataclass(frozen=True)
class Line:
    """What somebody says to somebody; `others` are the places of pronouns that mean neither of them."""

    speaker: str
    addressee: str
    text: str
    others: frozenset[int]


def read_dialogue(path: Path) -> list[Line]:
    """The lines of a dialogue."""
    lines = []
    for row in path.read_text(encoding="utf-8").splitlines():
        if row.strip() and not row.startswith("#"):
            people, _, marked = row.partition(" | ")
            speaker, _, addressee = people.partition(" > ")
            others, text = set(), ""
            position = 0
            for found in _OVERRIDE.finditer(marked):
                text += marked[position : found.start()]
                others.add(len(text))
                position = found.end()
            lines.append(Line(speaker, addressee, text + marked[position:], frozenset(others)))
    return lines


def _in_pages(head: str, lines: Sequence[Line], write: Callable[[int, Line], str]) -> str:
    return head + "".join(write(number, line) for number, line in enumerate(lines))


def _subtitles(lines: Sequence[Line], *, mark: str, head: str) -> str:
    def cue(number: int, line: Line) -> str:
        begin, end = (f"00:{time // 60:02}:{time % 60:02}{mark}000" for time in (number * 3, number * 3 + 3))
        spoken = f"<v {line.speaker}>{line.text}" if head else f"{line.speaker}: {line.text}"
        return f"{number + 1}\n{begin} --> {end}\n{spoken}\n\n"

    return _in_pages(head, lines, cue)


LAYOUTS: dict[str, Callable[[Sequence[Line]], str]] = {
    "NAME: text": lambda lines: _in_pages("", lines, lambda _, line: f"{line.speaker}: {line.text}\n"),
    "NAME. text": lambda lines: _in_pages(
        "ACT I\n\nSCENE I. A room.\n\n", lines, lambda _, line: f"{line.speaker.upper()}. {line.text}\n\n"
    ),
    "screenplay": lambda lines: _in_pages(
        "INT. ROOM - DAY\n\n", lines, lambda _, line: f"{' ' * 20}{line.speaker.upper()}\n{' ' * 10}{line.text}\n\n"
    ),
    "[10:02] name: text": lambda lines: _in_pages(
        "", lines, lambda number, line: f"[10:{number % 60:02}] {line.speaker}: {line.text}\n"
    ),
    "<name> text": lambda lines: _in_pages(
        "", lines, lambda _, line: f"<{line.speaker.replace(' ', '_')}> {line.text}\n"
    ),
    "WebVTT": lambda lines: _subtitles(lines, mark=".", head="WEBVTT\n\n"),
    "SubRip": lambda lines: _subtitles(lines, mark=",", head=""),
}
_SUFFIXES = {"WebVTT": ".vtt", "SubRip": ".srt"}
GIVEN = "speakers given"


def laid_out(lines: Sequence[Line], layout: str) -> Document:
    """A dialogue as a document, in a layout or with its speakers given."""
    if layout != GIVEN:
        content = LAYOUTS[layout](lines).encode()
        return tokenize(read_text(content, name=f"dialogue{_SUFFIXES.get(layout, '.txt')}").text)
    document = tokenize("".join(f"{line.text}\n\n" for line in lines))
    speakers: list[str | None] = []
    position = 0
    for line in lines:
        position += len(line.text) + 2
        speakers += [line.speaker] * sum(1 for start, _ in document.offsets[len(speakers) :] if start < position)
    return replace(document, speakers=tuple(speakers))


def counts(resolver: Resolver, lines: Sequence[Line], layout: str) -> Counter[tuple[str, bool]]:
    """How many "I" and "you" of a dialogue are right and wrong."""
    document = laid_out(lines, layout)
    result = resolver.document(document)
    cluster_at = {mention.words: cluster.id for mention, cluster in result.mentions}
    holder: dict[str, int | None] = {}
    for turn in find_turns(document):
        if turn.label is not None:
            holder[speaker_key(turn.speaker.replace("_", " "))] = cluster_at.get(turn.label)
    asked: list[tuple[str, str, int | None]] = []
    place = 0
    for line in lines:
        place = document.text.index(line.text, place)
        for number, (start, end) in enumerate(document.offsets):
            if place <= start < place + len(line.text) and end - place not in line.others:
                person = PERSONS.get(mention_facts(document.words[number : number + 1]).pronoun)
                if person is not None:
                    who = speaker_key(line.speaker if person == "I" else line.addressee)
                    asked.append((person, who, cluster_at.get(WordSpan(number, number + 1))))
        place += len(line.text)
    if not holder:
        for who in {who for _, who, _ in asked}:
            said = Counter(found for person, one, found in asked if person == "I" and one == who)
            holder[who] = said.most_common(1)[0][0]
        holder = holder if len(set(holder.values())) == len(holder) else {}
    return Counter((person, found is not None and found == holder.get(who)) for person, who, found in asked)


def main() -> None:
    """Measures the dialogues and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", nargs="*", type=Path, default=sorted(DIALOGUES.glob("*.txt")))
    parser.add_argument("--model")
    options = parser.parse_args()
    resolver = longcoref.load(options.model)
    total: Counter[tuple[str, bool]] = Counter()
    print("| dialogue | layout | I | you |\n|---|---|---|---|")
    for path in options.dialogues:
        for layout in (*LAYOUTS, GIVEN):
            found = counts(resolver, read_dialogue(path), layout)
            total += found
            print(f"| {path.stem} | {layout} | {_share(found, 'I')} | {_share(found, 'you')} |")
    print(f"| all | | {_share(total, 'I')} | {_share(total, 'you')} |")


def _share(found: Counter[tuple[str, bool]], person: str) -> str:
    right, asked = found[person, True], found[person, True] + found[person, False]
    return f"{right} of {asked} ({100 * right / max(asked, 1):.1f} %)"


if __name__ == "__main__":
    main()
