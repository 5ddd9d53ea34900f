"""What a person decided holds in every result; results survive as JSON; corrected results become every output."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import longcoref
from longcoref.book.revision import EVERYTHING
from longcoref.cli import main
from longcoref.corrections import Attribute, Correction, Move, Remove, Rename, Retype, Same
from longcoref.errors import LongcorefError
from longcoref.mention import MentionRecord
from longcoref.outcome import annotation, post_processed
from longcoref.render.outputs import OUTPUTS
from longcoref.result import Result
from longcoref.spans import CharSpan, WordSpan
from longcoref.text import tokenize
from results import make_result, results

TEXT = 'Anna met Tom Hale. "I saw you," she said. "Me, Anna?" he asked. "Him," said Ruth. He left her. Tom slept.'
DOCUMENT = tokenize(TEXT, id="tale")
WORDS = [
    place
    for place, word in enumerate(DOCUMENT.words)
    if word in {*["Anna", "Tom", "Hale", "I", "you", "she", "Me", "he", "Him", "Ruth", "He", "her"]}
]
QUOTES = [CharSpan(found.start(), found.end()) for found in re.finditer('"[^"]*"', TEXT)]


def span_of(word: int) -> CharSpan:
    return DOCUMENT.offsets[word]


places = st.sampled_from(WORDS).map(span_of)


@st.composite
def decisions(draw: st.DrawFn) -> Correction:
    kind = draw(st.sampled_from([Same, Move, Move, Move, Remove, Rename, Retype, Attribute]))
    if kind is Same:
        return Same(draw(places), draw(places))
    if kind is Move:
        mentions = tuple(draw(st.lists(places, min_size=1, max_size=3, unique=True)))
        source, target = (draw(st.none() | places.filter(lambda place: place not in mentions)) for _ in range(2))
        return Move(mentions, source, target)
    if kind is Remove:
        return Remove(tuple(draw(st.lists(places, min_size=1, max_size=2, unique=True))))
    if kind is Rename:
        return Rename(draw(places), draw(st.sampled_from(["Anna Weir", "the Duke"])))
    if kind is Retype:
        return Retype(draw(places), draw(st.sampled_from(["PER", "VEH", None])))
    return Attribute(
        draw(st.sampled_from(["speaker", "addressee"])), draw(st.sampled_from(QUOTES)), draw(st.none() | places)
    )


@st.composite
def readings(draw: st.DrawFn) -> list[MentionRecord]:
    """Mentions of the text with any entities."""
    found = []
    for word in WORDS:
        entity = draw(st.none() | st.integers(0, 3))
        if entity is not None:
            kind = "PROP" if DOCUMENT.words[word] in ("Anna", "Tom", "Hale", "Ruth") else "PRON"
            span = WordSpan(word, word + 1)
            found.append(MentionRecord.of(DOCUMENT, span, kind=kind, type="PER", entity=entity, score=0.5))
    return found


class Claims:
    """What decisions claim, later ones first; found in the plainest way."""

    def __init__(self, corrections: Sequence[Correction]) -> None:
        self.corrections = corrections
        self.last = {
            span: place
            for place, one in enumerate(corrections)
            if isinstance(one, Move | Remove)
            for span in one.mentions
        }
        self.same: list[tuple[CharSpan, CharSpan]] = []
        self.apart: list[tuple[CharSpan, CharSpan]] = []
        for place in reversed(range(len(corrections))):
            for claims, pair in self._claimed(place):
                claims.append(pair)
                if self._contradictory():
                    claims.remove(pair)

    def counts(self, span: CharSpan | None, place: int) -> bool:
        return span is not None and self.last.get(span, -1) <= place

    def _claimed(self, place: int) -> Iterator[tuple[list[tuple[CharSpan, CharSpan]], tuple[CharSpan, CharSpan]]]:
        one = self.corrections[place]
        if isinstance(one, Same) and self.counts(one.entity, place) and self.counts(one.other, place):
            yield self.same, (one.entity, one.other)
        if isinstance(one, Move):
            moved = [span for span in one.mentions if self.last[span] == place]
            for span in moved:
                together = one.target if one.target is not None and self.counts(one.target, place) else moved[0]
                yield self.same, (together, span)
            for span in moved:
                if one.source is not None and self.counts(one.source, place):
                    yield self.apart, (span, one.source)

    def _contradictory(self) -> bool:
        group = {span: {span} for pair in (*self.same, *self.apart) for span in pair}
        for first, second in self.same:
            joined = group[first] | group[second]
            group.update(dict.fromkeys(joined, joined))
        return any(second in group[first] for first, second in self.apart)

    def removed(self) -> set[CharSpan]:
        def refers(one: Correction, span: CharSpan) -> bool:
            return span in [getattr(one, name, None) for name in ("entity", "other", "source", "target")]

        return {
            span
            for span, place in self.last.items()
            if isinstance(self.corrections[place], Remove)
            and not any(refers(one, span) for one in self.corrections[place + 1 :])
        }


def check(result: Result, corrections: Sequence[Correction]) -> None:
    """Asserts that no decision is contradicted, unless by a later one."""
    claims = Claims(corrections)
    at = {CharSpan(mention.start, mention.end): cluster for mention, cluster in result.mentions}
    for first, second in claims.same:
        assert at[first] is at[second]
    for first, second in claims.apart:
        assert at[first] is not at[second]
    assert not claims.removed() & set(at)
    for quote, role in {(one.quote, one.role) for one in corrections if isinstance(one, Attribute)}:
        place, one = [
            (place, one)
            for place, one in enumerate(corrections)
            if isinstance(one, Attribute) and (one.quote, one.role) == (quote, role)
        ][-1]
        if one.entity is None or claims.counts(one.entity, place):
            (said,) = [found for found in result.quotes if (found.start, found.end) == quote]
            assert getattr(said, role) == (None if one.entity is None else at[one.entity].id)
    for kind, field in ((Rename, "name"), (Retype, "type")):
        made = [(place, one) for place, one in enumerate(corrections) if isinstance(one, kind)]
        if all(claims.counts(one.entity, place) for place, one in made):
            wanted = {at[one.entity].id: getattr(one, field) for _, one in made}  # the last one for each cluster
            assert {cluster.id: getattr(cluster, field) for cluster in result if cluster.id in wanted} == wanted


@settings(max_examples=150)
@given(reading=readings(), corrections=st.lists(decisions(), max_size=8))
def test_no_decision_is_contradicted(reading: list[MentionRecord], corrections: list[Correction]) -> None:
    found = post_processed(DOCUMENT, reading, EVERYTHING, corrections)
    result = Result(found.clusters, "tiny", "learned", 3, "tale", DOCUMENT, found.quotes, found.narrator)
    check(result, corrections)
    spans = [mention.words for mention, _ in result.mentions]
    assert len(spans) == len(set(spans))
    assert {mention.words for mention in reading} <= {
        *spans,
        *(WordSpan(word, word + 1) for word in WORDS if span_of(word) in Claims(corrections).removed()),
    }


@settings(max_examples=50)
@given(reading=readings(), corrections=st.lists(decisions(), max_size=6), cut=st.integers(0, 6))
def test_corrections_made_later_join_those_made_before(
    reading: list[MentionRecord], corrections: list[Correction], cut: int
) -> None:
    found = post_processed(DOCUMENT, reading, EVERYTHING)
    document = DOCUMENT.with_clusters(annotation(found.clusters))
    result = Result(found.clusters, "tiny", "learned", 3, "tale", document, found.quotes, found.narrator)
    corrected = result.with_corrections(corrections[:cut]).with_corrections(corrections[cut:])
    assert corrected.corrections == tuple(corrections)
    check(corrected, corrections)
    assert saved(corrected) == corrected.to_json()


def test_what_no_decision_is_about_stays_as_it_was() -> None:
    result = make_result(
        "Ann saw Tom. She liked him. He liked her. Ann left.",
        [
            [(0, 1, "PROP"), (4, 5, "PRON"), (10, 11, "PRON"), (12, 13, "PROP")],
            [(2, 3, "PROP"), (6, 7, "PRON"), (8, 9, "PRON")],
        ],
    )
    ann, tom, him = CharSpan(0, 3), CharSpan(8, 11), CharSpan(23, 26)
    merged = result.with_corrections([Same(ann, tom)])
    assert merged.get_clusters() == [["Ann", "Tom", "She", "him", "He", "her", "Ann"]]
    moved = result.with_corrections([Move((him,), tom, ann)])
    assert moved.get_clusters() == [["Ann", "She", "him", "her", "Ann"], ["Tom", "He"]]
    split = result.with_corrections([Move((him,), tom)])
    assert split.get_clusters() == [["Ann", "She", "her", "Ann"], ["Tom", "He"], ["him"]]
    # A merge covers clusters: what is moved away afterwards leaves the rest merged.
    both = result.with_corrections([Same(ann, tom), Move((tom,), ann)])
    assert both.get_clusters() == [["Ann", "She", "him", "He", "her", "Ann"], ["Tom"]]


def saved(result: Result) -> str:
    """The JSON of the result that is read from its JSON."""
    return Result.from_json(result.to_json()).to_json()


@settings(max_examples=60)
@given(result=results())
def test_a_result_survives_as_json(result: Result) -> None:
    again = Result.from_json(result.to_json())
    assert again == result
    assert saved(result) == result.to_json()


@settings(max_examples=60)
@given(reading=readings(), name=st.sampled_from(["Anna Weir", "…"]))
def test_names_and_speakers_survive_as_json(reading: list[MentionRecord], name: str) -> None:
    found = post_processed(DOCUMENT, reading, EVERYTHING)
    clusters = tuple(replace(cluster, name=name, type="VEH") for cluster in found.clusters)
    document = DOCUMENT.with_clusters(annotation(clusters))
    result = Result(clusters, "tiny", "learned", 3, "tale", document, found.quotes, found.narrator)
    assert saved(result) == result.to_json()
    bare = Result.from_json(result.to_json(text=False))
    assert bare.document is None
    assert bare.to_json() == result.to_json(text=False)
    assert Result.from_json(result.to_json(text=False), text=TEXT).to_json() == result.to_json()


@pytest.mark.parametrize(
    ("correction", "message"),
    [
        (
            {"decision": "sam", "entity": [0, 4]},
            r"corrections\[0\]\.decision: unknown decision 'sam'; did you mean 'same'",
        ),
        ({"decision": "same", "entity": [0, 4]}, r"corrections\[0\]\.other: expected \[start, end\]"),
        ({"decision": "move", "mentions": []}, "at least one mention"),
        ({"decision": "move", "mentions": [[0, 4]], "to": [0, 4]}, "cannot be moved to or from its own entity"),
        ({"decision": "move", "mentions": [[0, 4]], "kind": "X"}, "unknown kind 'X'"),
        ({"decision": "name", "entity": [0, 4], "name": ""}, "expected a name"),
    ],
)
def test_a_damaged_correction_is_named(correction: dict[str, object], message: str) -> None:
    record = {"schema": "longcoref/1", "text": TEXT, "clusters": [], "corrections": [correction]}
    with pytest.raises(LongcorefError, match=message):
        Result.from_json(json.dumps(record))


def test_a_correction_between_words_is_refused() -> None:
    with pytest.raises(LongcorefError, match=r"1 to 3, which does not begin and end with a word of this text: 'nn'"):
        make_result(TEXT, [[(0, 1, "PROP")]]).with_corrections([Rename(CharSpan(1, 3), "x")])


@pytest.fixture
def corrected(tmp_path: Path) -> Path:
    """A corrected result: the moved mention and the given name show that it is this one."""
    result = make_result(TEXT, [[(0, 1, "PROP"), (11, 12, "PRON")], [(2, 4, "PROP"), (8, 9, "PRON")]])
    anna, tom = CharSpan(0, 4), CharSpan(9, 17)
    (said, *_) = QUOTES
    changes = [Rename(anna, "Anna Weir"), Rename(tom, "Old Tom"), Attribute("speaker", said, anna), Retype(tom, "VEH")]
    path = tmp_path / "corrected.json"
    path.write_text(result.with_corrections(changes).to_json(), encoding="utf-8")
    return path


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit) as exit:
        main(list(map(str, arguments)))
    assert exit.value.code == 0


def test_a_corrected_result_becomes_every_output(
    corrected: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    formats = [name for name in OUTPUTS if name not in ("jsonl", "litbank", "ontogum")]  # their endings are taken
    run("convert", corrected, f"{out}/", "--to", ",".join(formats))
    for name in formats:
        content = (out / f"tale{OUTPUTS[name].suffix}").read_text(encoding="utf-8")
        assert ("Anna Weir" in content) == (name in NAMED), name
    rows = list(csv.DictReader(io.StringIO((out / "tale.csv").read_text(encoding="utf-8"))))
    assert [(row["name"], row["type"], row["quotes"]) for row in rows] == [
        ("Anna Weir", "PER", "1"),
        ("Old Tom", "VEH", "0"),
    ]
    assert json.loads((out / "tale.json").read_text(encoding="utf-8")) == json.loads(
        corrected.read_text(encoding="utf-8")
    )
    assert "quotes" in capsys.readouterr().err  # CoNLL has no place for them


NAMED = {
    "json",
    "cast",
    "csv",
    "tsv",
    "resolved",
    "resolved-pronouns",
    "resolved-offsets",
    "book",
    "graph",
    "html",
}


def test_one_file_of_a_corrected_result(corrected: Path, tmp_path: Path) -> None:
    run("convert", corrected, tmp_path / "tale.html")
    assert "Anna Weir" in (tmp_path / "tale.html").read_text(encoding="utf-8")
    run("convert", corrected, tmp_path / "tale.cast.txt")
    assert "Anna Weir" in (tmp_path / "tale.cast.txt").read_text(encoding="utf-8")
    run("convert", corrected, tmp_path / "tale.txt")
    assert (tmp_path / "tale.txt").read_text(encoding="utf-8").strip() == TEXT


def test_resolving_with_corrections(corrected: Path, tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "tale.txt").write_text(TEXT, encoding="utf-8")
    out = tmp_path / "new.json"
    run("resolve", tmp_path / "tale.txt", "-o", out, "--corrections", corrected, "--model", tiny_model, "-q")
    decided = Result.from_json(corrected.read_bytes()).corrections
    new = Result.from_json(out.read_bytes())
    assert new.corrections == decided
    check(new, decided)
    resolver = longcoref.load(tiny_model, threads=1)
    assert resolver(TEXT, id="tale", corrections=decided).to_json() == new.to_json()


def test_corrections_of_another_text_are_refused(
    corrected: Path, tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tale.txt").write_text(TEXT.replace("Ruth", "Rose"), encoding="utf-8")
    bare = tmp_path / "bare.json"
    bare.write_text(make_result(TEXT, [[(0, 1, "PROP")]]).to_json(), encoding="utf-8")
    for file, to, message in (
        (corrected, "json", "was corrected in another text than 'tale': from character 77 on it has 'uth. He"),
        (bare, "json", "contains no corrections: to turn it into other formats, use longcoref convert"),
        (corrected, "jsonl", "--to jsonl is written before the text ends"),
    ):
        with pytest.raises(SystemExit) as exit:
            main(
                [
                    "resolve",
                    str(tmp_path / "tale.txt"),
                    "--to",
                    to,
                    "--corrections",
                    str(file),
                    "--model",
                    str(tiny_model),
                ]
            )
        assert exit.value.code
        assert message in capsys.readouterr().err


def test_our_own_json_is_not_read_as_prose(
    corrected: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["resolve", str(corrected), "--model", str(tiny_model)])
    assert exit.value.code
    error = capsys.readouterr().err
    assert "is in the format json" in error
    assert "longcoref convert" in error
    assert "--corrections" in error
