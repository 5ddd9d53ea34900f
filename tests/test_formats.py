"""Every format: examples, round trips of anything, damaged files, and the real corpora."""

from __future__ import annotations

import io
import json
import random
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_examples import EXAMPLES, ID, SENTENCES, SPANS
from longcoref.clusters import Cluster, Mention, cluster_of, spans_of
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError, RepairWarning, UsageError
from longcoref.formats import FORMATS, Format, detect_format, left_out, read_corpus, write_corpus
from longcoref.formats.build import genre_of, in_text_order, key_of, parse_key
from longcoref.formats.source import Source
from longcoref.spans import CharSpan, WordSpan

EACH = pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
WITH_CLUSTERS = pytest.mark.parametrize(
    "format",
    [format for format in FORMATS.values() if "clusters" in format.holds],
    ids=[format.name for format in FORMATS.values() if "clusters" in format.holds],
)


def source_of(content: str | bytes, name: str = "tale") -> Source:
    return Source(name, io.BytesIO(content.encode() if isinstance(content, str) else content))


def read_text(format: Format, content: str | bytes, *, lenient: bool = False) -> list[Document]:
    return [document for _, document in format.read(source_of(content), lenient=lenient)]


def write_text(format: Format, documents: Sequence[Document]) -> str:
    stream = io.StringIO(newline="")
    format.write(documents, stream)
    return stream.getvalue()


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


# ---- damaged files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "message"),
    [
        ("conll", "*  1)", "*  -", 2, r"\(1 opens a mention that is never closed"),
        ("conll", "(1)", "3)", 10, r"3\) closes a mention that was never opened"),
        ("conll", "(1)", "(1", 10, r"\(1 opens"),
        ("conll", "(1)", "((1)", 10, "expected brackets"),
        ("conll", "   2   dog     NN", "   2   dog", 4, "expected 12 columns, got 11"),
        ("conll", "part 002", "part two", 1, r"expected '#begin document \(id\); part 000'"),
        ("conll", "#begin document (nw/tale/00/tale_0001); part 002\n", "", 1, "expected '#begin document'"),
        ("conll", "#end document\n", "", 12, "ends inside the document of line 1"),
        ("conll", "#end document\n", "#begin document (b); part 0\n", 13, "'#end document' is missing"),
        ("litbank", "\tdog\t_\t_", "\tdog\t_", 4, "expected 13 columns, got 12"),
        ("litbank", "\t1)", "\t", 2, r"\(1 opens"),
        ("ontogum", "2\tdog\t1)", "2\tdog", 4, "expected 3 columns, got 2"),
        ("ontogum", "2\tdog\t1)", "2\tdog\tx", 4, "expected brackets"),
        ("json", '"end": 21', '"end": 20', 1, r"clusters\[0\].mentions\[1\].start: 18 to 20 does not begin and end"),
        ("json", '"text": "She"', '"text": "He"', 1, "'He', but the text has 'She'"),
        ("json", '"id": "dog"', '"id": 0', 1, "two clusters have the id '0'"),
        ("json", "longcoref/1", "longcoref/9", 1, "expected schema 'longcoref/1'"),
        ("json", '"words": [[0, 4],', '"words": [[0, 5],', 1, "word 1 is"),
        ("json", '"sentences": [[0, 17], [18, 30]],', '"sentences" [[0, 17]],', 6, "not JSON"),
        ("json", '"start": 0, "end": 6', '"start": true, "end": 6', 1, "expected a number, got true"),
        ("jsonl", '"end": 6', '"end": -6', 1, "expected 0 or more"),
        ("jsonlines", "[0, 1]", "[0, 99]", 1, "lies outside"),
        ("jsonlines", "[0, 1]", "[3, 1]", 1, "lies outside"),
        ("jsonlines", "[0, 1]", "[0]", 1, r"clusters\[0\]: expected a list of \[first word, last word\]"),
        ("jsonlines", '"woke", ', '"woke", 3, ', 1, r"sentences\[1\]: expected a list of words"),
        ("jsonlines", '["-", ', "[", 1, "speakers: expected a list for each sentence"),
        ("corefud", "3\tdog\t", "3\t", 8, "expected 10 columns"),
        ("corefud", "3\tdog\t", "x\tdog\t", 8, "expected a word number"),
        ("corefud", "Entity=e1)", "Entity=e9)", 7, "e9. closes a mention"),
        ("corefud", "(e1-person-1-kind:PRON)", "(e1[1/2]-person)", 14, "discontinuous"),
    ],
)
def test_damage_is_reported_with_file_and_line(
    name: str, old: str, new: str, line: int, message: str, tmp_path: Path
) -> None:
    assert old in EXAMPLES[name]
    file = tmp_path / "tale.file"
    file.write_text(EXAMPLES[name].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        list(read_corpus(file, format=name))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{file}:{line}: ")


@EACH
def test_bytes_that_are_not_utf8_are_reported_with_their_line(format: Format) -> None:
    content = EXAMPLES[format.name].encode().replace(b"She", b"Sh\xe9")
    with pytest.raises(InputError, match="0xe9 is not UTF-8") as caught:
        read_text(format, content)
    assert caught.value.line == 1 + content[: content.index(b"\xe9")].count(b"\n")


@EACH
def test_a_file_without_a_document_is_an_error_but_for_text(format: Format, tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_bytes(b"")
    if format.name == "text":
        (document,) = read_corpus(file, format="text")
        assert document.words == ()
    else:
        with pytest.raises(InputError, match=f"no {format.name} document"):
            list(read_corpus(file, format=format.name))


def test_a_document_that_comes_twice_is_an_error(tmp_path: Path) -> None:
    one, two = tmp_path / "one.conll", tmp_path / "two.conll"
    one.write_text(EXAMPLES["conll"] * 2, encoding="utf-8")
    with pytest.raises(InputError, match=f"one.conll:14: document '{ID}', part 2, was read before, at .*one.conll:1"):
        list(read_corpus(one))
    for file in (one, two):
        file.write_text(EXAMPLES["conll"], encoding="utf-8")
    with pytest.raises(InputError, match=r"two.conll:1: .* at .*one.conll:1"):
        list(read_corpus(tmp_path))


def test_lenient_reading_leaves_out_brackets_that_do_not_balance() -> None:
    damaged = EXAMPLES["conll"].replace("(1)", "(1|3)")
    with pytest.warns(RepairWarning) as caught:
        (document,) = read_text(FORMATS["conll"], damaged, lenient=True)
    assert spans_of(document.clusters or ()) == [SPANS[0], ((0, 3),)]
    assert [str(warning.message).partition(" ")[0] for warning in caught] == ["tale:10:", "tale:10:"]


def test_lenient_reading_keeps_the_first_part_of_a_discontinuous_mention() -> None:
    damaged = EXAMPLES["corefud"].replace("(e1-person-1-kind:PRON)", "(e1[1/2]-person)")
    damaged = damaged.replace(
        "4\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "4\t.\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1[2/2]-person)\n\n"
    )
    with pytest.warns(RepairWarning, match="discontinuous"):
        (document,) = read_text(FORMATS["corefud"], damaged, lenient=True)
    assert spans_of(document.clusters or ()) == SPANS


@st.composite
def damaged_examples(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after a few edits of bytes and of lines."""
    alphabet = st.sampled_from(
        [b"(", b")", b"|", b"\t", b" ", b"\n", b"\r", b"#", b"-", b"0", b"9", b'"', b"[", b"]", b"{"]
    )
    pieces = alphabet | st.binary(max_size=3) | st.just(b"\\ud800") | st.just(b"[" * 3000) | st.just(b"9" * 5000)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        edit = draw(st.sampled_from(["insert", "delete", "replace", "cut", "line", "double"]))
        if edit == "insert":
            content = content[:start] + draw(pieces) + content[start:]
        elif edit == "delete":
            content = content[:start] + content[start + draw(st.integers(1, 8)) :]
        elif edit == "replace":
            content = content[:start] + draw(pieces) + content[start + draw(st.integers(1, 3)) :]
        elif edit == "cut":
            content = content[:start]
        else:
            lines = content.splitlines(keepends=True) or [b""]
            index = draw(st.integers(0, len(lines) - 1))
            lines[index : index + 1] = [] if edit == "line" else [lines[index]] * 2
            content = b"".join(lines)
    return content


@EACH
@settings(max_examples=250)
@given(data=st.data(), lenient=st.booleans())
def test_damaged_files_give_documents_or_errors_with_a_line(format: Format, data: st.DataObject, lenient: bool) -> None:
    content = data.draw(damaged_examples(EXAMPLES[format.name].encode()))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        if lenient:
            warnings.simplefilter("ignore", RepairWarning)
        file = Path(folder) / "tale"
        file.write_bytes(content)
        trouble: InputError | None = None
        try:
            write_corpus(read_corpus(file, format=format.name, lenient=lenient), Path(folder) / "out.json")
        except InputError as error:
            trouble = error
        assert trouble is None or trouble.line or str(trouble).endswith(f"no {format.name} document in this file")


# ---- folders and corpora ---------------------------------------------------------------------------------------


def test_a_folder_is_read_in_the_order_of_names_to_the_bottom(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/x.txt", "a.txt", "c.txt"):
        (tmp_path / name).write_text("Hm.", encoding="utf-8")
    assert [document.id for document in read_corpus(tmp_path)] == ["a", "x", "c"]


def test_a_readme_does_not_hide_the_corpus_beside_it(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("About.", encoding="utf-8")
    (tmp_path / "wsj.v4_gold_conll").write_text(EXAMPLES["conll"], encoding="utf-8")
    assert [document.id for document in read_corpus(tmp_path)] == [ID]


def test_unclear_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file of a known format"):
        read_corpus(tmp_path)
    (tmp_path / "a.json").write_text(EXAMPLES["json"], encoding="utf-8")
    (tmp_path / "a.conll").write_text(EXAMPLES["conll"], encoding="utf-8")
    with pytest.raises(InputError, match="holds conll and json"):
        read_corpus(tmp_path)
    (tmp_path / "odd").write_text("what is this", encoding="utf-8")
    with pytest.raises(InputError, match="cannot tell the format"):
        read_corpus(tmp_path / "odd")
    with pytest.raises(InputError, match="No such file"):
        read_corpus(tmp_path / "missing")
    with pytest.raises(UsageError, match="did you mean 'conll'"):
        read_corpus(tmp_path, format="conl")


@pytest.fixture
def litbank(tmp_path: Path) -> Path:
    """A small corpus that lies as LitBank's two repositories do."""
    data = tmp_path / "lrec2020-coref" / "data"
    (data / "original" / "conll").mkdir(parents=True)
    (data / "litbank_tenfold_splits" / "3").mkdir(parents=True)
    (tmp_path / "litbank" / "coref" / "tsv").mkdir(parents=True)
    for name in ("a_brat", "b_brat"):
        text = EXAMPLES["litbank"].replace("tale", name)
        (data / "original" / "conll" / f"{name}.conll").write_text(text, encoding="utf-8")
        annotation = [
            "MENTION\tT1\t0\t0\t0\t1\tAnna 's\tPER\tPROP",
            "MENTION\tT2\t0\t0\t0\t2\tAnna 's dog\tPER\tNOM",
            "MENTION\tT3\t1\t0\t1\t0\tShe\tPER\tPRON",
            "MENTION\tT4\t1\t2\t1\t2\tit\tPER\tPRON",
            "COREF\tT1\tAnna-0",
        ]
        (tmp_path / "litbank" / "coref" / "tsv" / f"{name}.ann").write_text("\n".join(annotation), encoding="utf-8")
    (data / "litbank_tenfold_splits" / "3" / "dev.ids").write_text("b_brat.tsv\n", encoding="utf-8")
    (data / "litbank_tenfold_splits" / "3" / "test.ids").write_text("a_brat.tsv\nz_brat.tsv\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("inside", ["", "lrec2020-coref", "lrec2020-coref/data", "lrec2020-coref/data/original/conll"])
def test_litbank_is_found_from_any_folder_of_the_clone(litbank: Path, inside: str) -> None:
    assert [document.id for document in read_corpus(litbank / inside)] == ["a_brat", "b_brat"]
    assert [document.id for document in read_corpus(litbank / inside, fold=3, part="dev")] == ["b_brat"]


def test_litbank_takes_types_and_kinds_from_the_annotation(litbank: Path) -> None:
    (document,) = read_corpus(litbank, fold=3, part="dev", types=litbank / "litbank")
    labels = [[(mention.type, mention.kind) for mention in cluster.mentions] for cluster in document.clusters or ()]
    assert labels == [[("PER", "PROP"), ("PER", "PRON")], [("PER", "NOM"), ("PER", "PRON")]]
    (litbank / "litbank/coref/tsv/b_brat.ann").write_text("MENTION\tT1\t0\t0\t9\t1\tx\tPER\tPROP\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"b_brat.ann:1: expected MENTION"):
        list(read_corpus(litbank, fold=3, part="dev", types=litbank))


def test_folds_and_parts_that_do_not_exist_are_usage_errors(litbank: Path) -> None:
    with pytest.raises(UsageError, match="from 0 to 9, got 10"):
        read_corpus(litbank, fold=10, part="dev")
    with pytest.raises(UsageError, match="from 0 to 9, got None"):
        read_corpus(litbank, part="dev")
    with pytest.raises(UsageError, match="unknown part of LitBank 'tset'; did you mean 'test'"):
        read_corpus(litbank, fold=3, part="tset")
    with pytest.raises(UsageError, match="by its parts"):
        read_corpus(litbank, fold=3)
    with pytest.raises(UsageError, match="conll has no folds"):
        read_corpus(litbank, format="conll", fold=3, part="dev")
    with pytest.raises(InputError, match=r"test.ids:2: the document z_brat.tsv is not in"):
        read_corpus(litbank, fold=3, part="test")


def test_ontogum_parts_come_from_the_list_of_splits(tmp_path: Path) -> None:
    folder = tmp_path / "gum" / "coref" / "ontogum" / "conll"
    folder.mkdir(parents=True)
    for name in ("GUM_fiction_tale", "GUM_news_note"):
        (folder / f"{name}.conll").write_text(EXAMPLES["ontogum"], encoding="utf-8")
    splits = "# Splits\n\n## dev\n\n  * GUM_fiction_tale\n  * GUM_reddit_gone\n\n## train\n\n  * GUM_news_note\n"
    (tmp_path / "gum" / "splits.md").write_text(splits, encoding="utf-8")
    for root in (tmp_path, tmp_path / "gum", folder):
        assert [document.id for document in read_corpus(root, part="dev")] == ["GUM_fiction_tale"]
        assert len(list(read_corpus(root))) == 2
    with pytest.raises(UsageError, match="no folds"):
        read_corpus(tmp_path, fold=0, part="dev")
    (folder / "GUM_news_note.conll").unlink()
    with pytest.raises(InputError, match=r"splits.md:10: the document GUM_news_note is not in"):
        read_corpus(tmp_path, part="train")


# ---- writing ---------------------------------------------------------------------------------------------------


def test_a_folder_gets_a_file_per_document(tmp_path: Path) -> None:
    several = read_text(FORMATS["conll"], EXAMPLES["conll"] + EXAMPLES["conll"].replace("part 002", "part 0"))
    write_corpus(several, f"{tmp_path}/out/", format="litbank")
    names = ["nw_tale_00_tale_0001.conll", "nw_tale_00_tale_0001_part_002.conll"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == names
    assert {document.key for document in read_corpus(tmp_path / "out")} == {document.key for document in several}


def test_failure_leaves_the_old_file_and_no_new_one(tmp_path: Path) -> None:
    story = document_of_words("tale", SENTENCES)

    def broken() -> object:
        yield story
        raise InputError("the second one is damaged")

    (tmp_path / "old.conll").write_text("old", encoding="utf-8")
    for target, name in (("old.conll", None), ("new.json", None), ("folder/", "conll")):
        with pytest.raises(InputError, match="damaged"):
            write_corpus(broken(), f"{tmp_path}/{target}", format=name)  # type: ignore[arg-type]
    assert (tmp_path / "old.conll").read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["old.conll"]


def test_formats_without_ids_take_one_document_per_file(tmp_path: Path) -> None:
    two = [document_of_words(id, SENTENCES) for id in "ab"]
    for name in ("text", "ontogum"):
        with pytest.raises(UsageError, match="holds one document"):
            write_corpus(two, tmp_path / "out", format=name)
        write_corpus(two, f"{tmp_path}/{name}/", format=name)
        assert [document.id for document in read_corpus(tmp_path / name)] == ["a", "b"]
    assert not (tmp_path / "out").exists()


def test_a_name_that_does_not_tell_the_format_is_a_usage_error(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "story"):
        with pytest.raises(UsageError, match=r"end it in \.conll.*or name one of conll"):
            write_corpus([], target)


# ---- the real corpora ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_documents(data_root: Path) -> list[Document]:
    """All 100 documents of LitBank, with types, and the 262 readable ones of OntoGUM."""
    litbank = list(read_corpus(data_root / "lrec2020-coref", types=data_root / "litbank"))
    with pytest.warns(RepairWarning, match="GENTLE_poetry_road"):
        ontogum = list(read_corpus(data_root / "gum", lenient=True))
    return [*litbank, *(document for document in ontogum if document.id != "GENTLE_poetry_road")]


@pytest.mark.data
def test_litbank_has_its_published_size(data_root: Path) -> None:
    found = list(read_corpus(data_root / "lrec2020-coref"))
    clusters = [cluster for document in found for cluster in document.clusters or ()]
    assert len(found) == 100
    assert sum(len(document.words) for document in found) == 210_532
    assert sum(len(cluster.mentions) for cluster in clusters) == 29_103
    assert len(clusters) == 7_927


@pytest.mark.data
def test_litbank_folds_divide_the_corpus(data_root: Path) -> None:
    for fold in range(10):
        parts = [
            {document.id for document in read_corpus(data_root / "lrec2020-coref", fold=fold, part=part)}
            for part in (("train", "dev", "test") if fold == 0 else ("dev", "test"))
        ]
        assert [len(part) for part in parts] == ([80, 10, 10] if fold == 0 else [10, 10])
        assert len(set().union(*parts)) == sum(map(len, parts))


@pytest.mark.data
def test_ontogum_parts_have_their_published_size(data_root: Path) -> None:
    sizes = [len(list(read_corpus(data_root / "gum", part=part))) for part in ("train", "dev", "test")]
    assert sizes == [177, 30, 30]


@pytest.mark.data
def test_the_unbalanced_document_is_an_error_with_file_and_line(data_root: Path) -> None:
    with pytest.raises(InputError, match=r"GENTLE_poetry_road\.conll:21: 3\) closes"):
        list(read_corpus(data_root / "gum", part="test2"))


@pytest.mark.data
def test_every_real_mention_of_litbank_has_type_and_kind(real_documents: list[Document]) -> None:
    mentions = [mention for document in real_documents[:100] for c in document.clusters or () for mention in c.mentions]
    assert {mention.type for mention in mentions} == {"PER", "FAC", "GPE", "LOC", "VEH", "ORG"}
    assert {mention.kind for mention in mentions} == {"PROP", "NOM", "PRON"}


@pytest.mark.data
@WITH_CLUSTERS
def test_real_documents_come_back_with_identical_clusters(format: Format, real_documents: list[Document]) -> None:
    assert len(real_documents) == 362
    for document in real_documents:
        ((_, back),) = format.read(source_of(write_text(format, [document]), f"{document.id}.x"))
        assert back.words == document.words
        assert back.key == document.key
        assert back.genre == document.genre
        assert spans_of(back.clusters or ()) == spans_of(document.clusters or ())
        if format.name != "jsonlines":
            assert [cluster.id for cluster in back.clusters or ()] == [c.id for c in document.clusters or ()]
        if "sentences" in format.holds:
            assert back.sentences == document.sentences
        if "types" in format.holds:
            assert back.clusters == document.clusters
