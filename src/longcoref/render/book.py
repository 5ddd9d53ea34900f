"""The characters of a book, who speaks, and who appears together with whom.

`quotes` and `book` are BookNLP's files of these names, as far as longcoref computes their content; `copresence` is a
table and `graph` the same as GraphML. A character is a cluster of type person with at least two mentions. Referential
gender is counted from pronouns, and is not a claim about anyone's identity.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from longcoref.outcome import ResultCluster
from longcoref.render.booknlp import only_result, write_row
from longcoref.render.cast import CastEntry, cast
from longcoref.result import Result
from longcoref.text.chapters import find_chapters
from longcoref.text.quotations import Quotation, paragraph_starts

QUOTE_COLUMNS = ("quote_start", "quote_end", "mention_start", "mention_end", "mention_phrase", "char_id", "quote")
_PRONOUNS = {"he": "he/him/his", "she": "she/her", "they": "they/them/their"}
_UNCOUNTED = ("xe/xem/xyr/xir", "ze/zem/zir/hir")  # categories of BookNLP; our lexicon has no such pronouns
_KINDS = {"PROP": "proper", "NOM": "common", "PRON": "pronoun"}
_LEAST = 2  # mentions of a character


def characters(result: Result) -> list[CastEntry]:
    """The characters, most mentioned first."""
    return [one for one in cast(result) if one.cluster.type in ("PER", None) and len(one.cluster) >= _LEAST]


def write_quotes(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes BookNLP's `.quotes`: one row per quotation, with the nearest mention of its speaker outside it."""
    result = only_result(results)
    words = result.known_document.words
    clusters = {cluster.id: cluster for cluster in result}
    write_row(stream, QUOTE_COLUMNS)
    for quote in result.quotes:
        start, end = quote.words
        speaker = None if quote.speaker is None else clusters.get(quote.speaker)
        near = None if speaker is None else _nearest(speaker, quote)
        named: tuple[object, ...] = ("_", "_", "_") if near is None else (near[0], near[1] - 1, _text(words, near))
        number = "_" if quote.speaker is None else quote.speaker
        write_row(stream, (start, end - 1, *named, number, _text(words, (start, end))))


def _nearest(cluster: ResultCluster, quote: Quotation) -> tuple[int, int] | None:
    start, end = quote.words
    outside = [m.words for m in cluster if m.words.end <= start or m.words.start >= end]
    return min(outside, key=lambda span: max(start - span.end, span.start - end), default=None)


def _text(words: tuple[str, ...], span: tuple[int, int]) -> str:
    return " ".join(words[span[0] : span[1]])


def write_book(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes BookNLP's `.book`: the characters as JSON. Fields that need a parser (agent, patient) are empty."""
    result = only_result(results)
    json.dump(
        {"characters": [_book_entry(one, narrates=one.cluster.id == result.narrator) for one in characters(result)]},
        stream,
        ensure_ascii=False,
    )
    stream.write("\n")


def _book_entry(one: CastEntry, *, narrates: bool) -> dict[str, Any]:
    total = sum(one.pronouns.values())
    gender = None
    if total:
        best, most = one.pronouns.most_common(1)[0]
        shares = {category: round(one.pronouns[pronoun] / total, 3) for pronoun, category in _PRONOUNS.items()}
        shares |= dict.fromkeys(_UNCOUNTED, 0.0)
        gender = {"inference": shares, "argmax": _PRONOUNS[best], "max": round(most / total, 3), "total": total}
    mentions = {
        _KINDS[kind]: [{"c": count, "n": text} for text, count in counts.most_common()]
        for kind, counts in one.wordings.items()
    }
    return {
        "id": one.cluster.id,
        "name": one.cluster.name,
        "count": len(one.cluster),
        "g": gender,
        "mentions": mentions,
        "first_sentence": one.first,
        "last_sentence": one.last,
        "quotes": one.quotes,
        "narrator": narrates,
        **{key: [] for key in ("agent", "patient", "mod", "poss")},
    }


def copresence(result: Result) -> dict[tuple[int, str, int, int], int]:
    """The number of paragraphs in which two characters appear together, by chapter number and title and their ids.

    Chapters with a heading are numbered from 1; text before the first heading is chapter 0.
    """
    document = result.known_document
    chapter_of: list[int] = []
    chapters = find_chapters(document)
    first_number = 0 if len(chapters) > 1 and not chapters[0].title else 1
    for number, chapter in enumerate(chapters, first_number):
        chapter_of += [number] * (chapter.span.end - chapter.span.start)
    present: dict[tuple[int, int], set[int]] = {}
    paragraph, paragraph_of = 0, []
    for start in paragraph_starts(document):
        paragraph += start
        paragraph_of.append(paragraph)
    for one in characters(result):
        for mention in one.cluster:
            place = chapter_of[mention.words.start], paragraph_of[mention.words.start]
            present.setdefault(place, set()).add(one.cluster.id)
    counts: Counter[tuple[int, str, int, int]] = Counter()
    for (number, _), ids in sorted(present.items()):
        for first, second in combinations(sorted(ids), 2):
            counts[number, chapters[number - first_number].title, first, second] += 1
    return dict(counts)


def write_copresence(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes one row per chapter and pair of characters, with the number of paragraphs that mention both."""
    result = only_result(results)
    names = {cluster.id: cluster.name for cluster in result}
    write_row(stream, ("chapter", "title", "first", "second", "paragraphs"))
    for (number, title, first, second), count in copresence(result).items():
        write_row(stream, (number, title.replace("\t", " "), names[first], names[second], count))


def write_graph(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes GraphML: a node per character, and an edge per pair, weighted by the paragraphs that mention both."""
    result = only_result(results)
    weights: Counter[tuple[int, int]] = Counter()
    for (_, _, first, second), count in copresence(result).items():
        weights[first, second] += count
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    # Gephi and yEd show `label`.
    for key, domain, type in (
        ("label", "node", "string"),
        ("name", "node", "string"),
        ("mentions", "node", "int"),
        ("weight", "edge", "int"),
    ):
        stream.write(f'  <key id="{key}" for="{domain}" attr.name="{key}" attr.type="{type}"/>\n')
    stream.write(f'  <graph id={quoteattr(result.id or "book")} edgedefault="undirected">\n')
    for one in characters(result):
        name, count = escape(one.cluster.name), len(one.cluster)
        stream.write(f'    <node id="n{one.cluster.id}"><data key="label">{name}</data><data key="name">{name}</data>')
        stream.write(f'<data key="mentions">{count}</data></node>\n')
    for (first, second), weight in weights.items():
        stream.write(f'    <edge source="n{first}" target="n{second}"><data key="weight">{weight}</data></edge>\n')
    stream.write("  </graph>\n</graphml>\n")
