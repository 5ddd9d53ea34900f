"""Every format: the example story, and round trips of anything."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format_examples import EACH, EXAMPLES, ID, SENTENCES, SPANS, WITH_CLUSTERS, read_text, source_of, write_text
from longcoref.clusters import Cluster, Mention, cluster_of, spans_of
from longcoref.document import Document, document_of_words
from longcoref.errors import UsageError
from longcoref.formats import FORMATS, Format, detect_format, left_out, read_corpus
from longcoref.formats.build import genre_of, in_text_order, key_of, parse_key
from longcoref.formats.json import compact_parts, object_parts, settled, write_objects
from longcoref.spans import CharSpan, WordSpan

# ---- examples --------------------------------------------------------------------------------------------------


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(FORMATS)


@EACH
def test_example_reads_as_the_same_story(format: Format) -> None:
    (document,) = read_text(format, EXAMPLES[format.name])
    assert document.words == tuple(word for sentence in SENTENCES for word in sentence)
    assert document.sentences == (WordSpan(0, 5), WordSpan(5, 9))
    if "clusters" in format.holds:
        assert spans_of(document.clusters or ()) == SPANS
    else:
        assert document.clusters is None


@EACH
def test_example_is_detected_with_and_without_byte_order_mark_and_with_crlf(format: Format, tmp_path: Path) -> None:
    file = tmp_path / f"tale{format.suffixes[0]}"
    for content in (
        EXAMPLES[format.name],
        "\ufeff" + EXAMPLES[format.name],
        EXAMPLES[format.name].replace("\n", "\r\n"),
    ):
        file.write_bytes(content.encode())
        assert detect_format(file) is format
        (document,) = read_corpus(file)
        assert spans_of(document.clusters or ()) == (SPANS if "clusters" in format.holds else [])
        assert document.words[-1] == "."


def test_conll_keeps_part_genre_speakers_and_ids() -> None:
    (document,) = read_text(FORMATS["conll"], EXAMPLES["conll"])
    assert (document.id, document.part, document.genre) == (ID, 2, "nw")
    assert document.speakers == ("Teller",) * 5 + (None,) * 4
    assert [cluster.id for cluster in document.clusters or ()] == ["0", "1"]


def test_conll_reads_several_parts_of_one_file() -> None:
    second = EXAMPLES["conll"].replace("part 002", "part 003")
    documents = read_text(FORMATS["conll"], EXAMPLES["conll"] + second)
    assert [document.key for document in documents] == [(ID, 2), (ID, 3)]


def test_jsonlines_keeps_part_genre_and_speakers() -> None:
    (document,) = read_text(FORMATS["jsonlines"], EXAMPLES["jsonlines"])
    assert (document.id, document.part, document.genre) == (ID, 2, "nw")
    assert document.speakers == ("A",) * 5 + (None,) * 4


def test_json_keeps_everything() -> None:
    (document,) = read_text(FORMATS["json"], EXAMPLES["json"])
    assert document.text == "Anna's dog slept. She woke it."
    assert document.speakers == ("Teller",) * 5 + (None,) * 4
    anna, dog = document.clusters or ()
    assert [(mention.kind, mention.type) for mention in anna.mentions] == [("PROP", "PER"), ("PRON", "PER")]
    assert [(mention.kind, mention.type) for mention in dog.mentions] == [(None, None), (None, "PER")]
    assert (anna.id, dog.id) == ("0", "dog")


def test_corefud_keeps_surface_types_and_kinds_and_leaves_out_empty_nodes() -> None:
    (document,) = read_text(FORMATS["corefud"], EXAMPLES["corefud"])
    assert document.text == "Anna's dog slept.\nShe woke it.\n"
    anna, dog = document.clusters or ()
    assert [(mention.kind, mention.type) for mention in anna.mentions] == [("PROP", "person"), ("PRON", "person")]
    assert [mention.type for mention in dog.mentions] == ["animal", "animal"]


def test_corefud_without_annotation_has_no_clusters_at_all() -> None:
    (document,) = read_text(FORMATS["corefud"], "1\tHm\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert document.clusters is None


def test_corefud_writes_an_entity_id_once_per_file() -> None:
    story = document_of_words("a", SENTENCES, clusters=[cluster_of(spans, str(n)) for n, spans in enumerate(SPANS)])
    written = write_text(FORMATS["corefud"], [story, replace(story, id="b")])
    first, second = written.split("# newdoc id = b\n")
    assert "(0)" in first
    assert "(0)" not in second
    assert [spans_of(document.clusters or ()) for document in read_text(FORMATS["corefud"], written)] == [SPANS, SPANS]


def test_ontogum_takes_id_and_genre_from_the_file_name(tmp_path: Path) -> None:
    file = tmp_path / "GUM_fiction_tale.conll"
    file.write_text(EXAMPLES["ontogum"], encoding="utf-8")
    (document,) = read_corpus(file)
    assert (document.id, document.genre) == ("GUM_fiction_tale", "fiction")


def test_spans_that_stand_twice_are_kept_in_every_format() -> None:
    clusters = [cluster_of([(0, 2), (0, 2), (5, 6)], "7"), cluster_of([(0, 2), (5, 6), (5, 6)], "8")]
    document = document_of_words("tale", SENTENCES, clusters=clusters)
    for format in FORMATS.values():
        if "clusters" in format.holds:
            (back,) = read_text(format, write_text(format, [document]))
            assert spans_of(back.clusters or ()) == spans_of(clusters), format.name


# ---- results of resolve as input -------------------------------------------------------------------------------

RESULT = {
    "schema": "longcoref/1",
    "model": "small",
    "memory": {"policy": "learned", "capacity": 20},
    "clusters": [
        {
            "id": 0,
            "name": "Anna",
            "type": "PER",
            "mentions": [
                {"start": 0, "end": 4, "text": "Anna", "kind": "PROP", "score": 0.9, "sentence": 0},
                {"start": 18, "end": 21, "text": "She", "kind": "PRON", "score": 0.8, "sentence": 1},
            ],
        },
        {"id": 1, "mentions": [{"start": 0, "end": 10, "text": "Anna's dog"}]},
    ],
}


def test_a_result_reads_with_its_text_and_without_words() -> None:
    (document,) = read_text(FORMATS["json"], json.dumps({**RESULT, "text": EXAMPLES["text"]}))
    assert [document.text_of(span) for span in (document.clusters or ())[0].spans] == ["Anna", "She"]
    assert document.text == EXAMPLES["text"]


def test_a_result_reads_without_its_text_at_the_same_places() -> None:
    (document,) = read_text(FORMATS["json"], json.dumps(RESULT))
    places = [[tuple(document.characters(span)) for span in cluster.spans] for cluster in document.clusters or ()]
    assert places == [[(0, 4), (18, 21)], [(0, 10)]]
    assert document.words == ("Anna", "'s", "dog", "She")


# ---- round trips of anything -----------------------------------------------------------------------------------

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1, max_size=6)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    sentences = draw(st.lists(st.lists(WORDS, min_size=1, max_size=6), max_size=5))
    count = sum(map(len, sentences))
    speakers = draw(st.none() | st.lists(st.sampled_from(["Ann", "Ben_B", None]), min_size=count, max_size=count))
    labels = st.sampled_from([None, "PER", "a-b|c"])
    mentions = st.tuples(st.integers(0, max(0, count - 1)), st.integers(1, 5), labels, labels).map(
        lambda item: Mention(WordSpan(item[0], min(count, item[0] + item[1])), item[2], item[3])
    )
    groups = draw(st.lists(st.lists(mentions, min_size=1, max_size=6), max_size=6)) if count else []
    ids = draw(st.sampled_from(["number", "name", "none"]))
    clusters = [
        Cluster(tuple(group), {"number": str(index * 3), "name": f"x {index}", "none": None}[ids])
        for index, group in enumerate(groups)
    ]
    id = draw(st.sampled_from(["tale", "tale_3", "nw/tale/00/tale_0001", "GUM_fiction_tale", "a (b); part 3"]))
    document = document_of_words(
        id,
        sentences,
        part=draw(st.integers(0, 12)),
        genre=genre_of(id),
        speakers=speakers if speakers and any(speakers) else None,
        clusters=in_text_order(clusters),
    )
    return glued(document, draw(st.randoms(use_true_random=False)))


def glued(document: Document, chance: random.Random) -> Document:
    """The document with other white space between its words, or none."""
    text, offsets = "", []
    for word in document.words:
        text += chance.choice(["", " ", "\r\n", " \t "])
        offsets.append(CharSpan(len(text), len(text) + len(word)))
        text += word
    return replace(document, text=text + chance.choice(["", "\n"]), offsets=tuple(offsets))


def crosses(document: Document) -> bool:
    """Whether two mentions of one cluster overlap by two words or more without nesting, or so brackets read them."""
    return any(
        first.start < second.start < first.end - 1 and first.end < second.end
        for cluster in document.clusters or ()
        for first in cluster.spans
        for second in cluster.spans
    )


@WITH_CLUSTERS
@given(document=documents())
def test_any_document_comes_back_or_is_refused_with_reason(format: Format, document: Document) -> None:
    try:
        written = write_text(format, [document])
    except UsageError:
        assert format.name in {"conll", "litbank", "ontogum", "corefud"}
        assert crosses(document)
        return
    ((_, back),) = format.read(source_of(written, f"{document.id}.x" if "/" not in document.id else ID + ".x"))
    assert back.words == document.words
    assert spans_of(back.clusters or ()) == spans_of(document.clusters or ())
    lost = left_out(document, format.name)
    if "sentences" in format.holds:
        assert back.sentences == document.sentences
    if "speakers" in format.holds:
        assert back.speakers == document.speakers
    if "part" in format.holds:
        assert back.key == document.key
    if not lost & {"kinds", "types"} and format.name != "corefud":
        assert [c.mentions for c in back.clusters or ()] == [c.mentions for c in document.clusters or ()]
    if format.name in {"json", "jsonl"}:
        assert back == document


@given(documents())
def test_corefud_keeps_types_kinds_and_glue(document: Document) -> None:
    format = FORMATS["corefud"]
    try:
        (back,) = read_text(format, write_text(format, [document]))
    except UsageError:
        return
    flat = [{(m.span, m.kind, m.type) for m in c.mentions} for c in document.clusters or ()]
    again = [{(m.span, m.kind, m.type) for m in c.mentions} for c in back.clusters or ()]
    assert sorted(map(sorted_text, again)) == sorted(map(sorted_text, flat))
    pairs = range(len(document.words) - 1)
    assert [back.offsets[i].end == back.offsets[i + 1].start for i in pairs] == [
        document.offsets[i].end == document.offsets[i + 1].start for i in pairs
    ]


def sorted_text(items: object) -> str:
    return str(sorted(map(str, items)))  # type: ignore[call-overload]


@given(st.lists(documents(), max_size=4, unique_by=lambda document: document.key), st.sampled_from(["json", "jsonl"]))
def test_several_documents_in_one_json_file(several: list[Document], name: str) -> None:
    written = write_text(FORMATS[name], several)
    assert read_text(FORMATS[name], written) == several
    assert read_text(FORMATS["json"], written) == several
    if name == "json":
        json.loads(written)


@given(st.text(st.sampled_from("ab_/012"), min_size=1, max_size=8), st.integers(0, 30))
def test_a_document_key_is_read_back(id: str, part: int) -> None:
    document = document_of_words(id, [], part=part)
    assert parse_key(key_of(document)) == (id, part)


def test_crossing_mentions_of_one_cluster_are_refused_by_brackets_only() -> None:
    document = document_of_words("tale", SENTENCES, clusters=[cluster_of([(0, 3), (1, 4)])])
    for format in FORMATS.values():
        if format.name in {"conll", "litbank", "ontogum", "corefud"}:
            with pytest.raises(UsageError, match=r"cross.*write json"):
                write_text(format, [document])
        elif "clusters" in format.holds:
            (back,) = read_text(format, write_text(format, [document]))
            assert spans_of(back.clusters or ()) == [((0, 3), (1, 4))]


def test_words_with_spaces_are_refused_by_tables() -> None:
    document = document_of_words("tale", [["New York"]])
    with pytest.raises(UsageError, match="New York"):
        write_text(FORMATS["conll"], [document])


def test_what_a_format_leaves_out_is_said() -> None:
    (document,) = read_text(FORMATS["json"], EXAMPLES["json"])
    assert left_out(document, "text") == {"clusters", "kinds", "types", "speakers", "sentences"}
    assert left_out(document, "conll") == {"kinds", "types"}
    assert left_out(document, "json") == set()


# ---- JSON in parts ---------------------------------------------------------------------------------------------

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
OBJECTS = st.dictionaries(st.text(), VALUES | st.lists(VALUES | st.lists(VALUES), max_size=40))


def lazy(values: dict[str, object]) -> dict[str, object]:
    return {name: iter(value) if isinstance(value, list) else value for name, value in values.items()}


@given(OBJECTS)
def test_an_object_in_parts_is_the_object_as_a_whole(values: dict[str, object]) -> None:
    assert "".join(object_parts(lazy(values))) == json.dumps(values, ensure_ascii=False)
    assert settled(lazy(values)) == values


@given(OBJECTS, OBJECTS)
def test_an_object_in_compact_parts_has_no_white_space(outer: dict[str, object], inner: dict[str, object]) -> None:
    whole = json.dumps({**outer, "inner": inner}, ensure_ascii=False, separators=(",", ":"))
    assert "".join(compact_parts({**lazy(outer), "inner": lazy(inner)})) == whole


@given(st.lists(OBJECTS, max_size=3))
def test_several_objects_are_a_list(objects: list[dict[str, object]]) -> None:
    stream = io.StringIO()
    write_objects((object_parts(lazy(values)) for values in objects), stream)
    assert json.loads(stream.getvalue()) == (objects[0] if len(objects) == 1 else objects)
    assert stream.getvalue().count("\n") == max(1, len(objects))
