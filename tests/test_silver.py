"""Silver documents: hidden names, labelled stretches, GAP rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.cli import main
from longcoref.clusters import Cluster, Mention, cluster_of
from longcoref.config import ExtraConfig, config_from, config_table, dump_toml, load_config
from longcoref.document import Document, document_of_words
from longcoref.english.grammar import Case, case_of
from longcoref.errors import InputError
from longcoref.formats import read_corpus, read_extra, write_corpus
from longcoref.resolver import load
from longcoref.silver.gap import gap_documents, read_gap, score_gap
from longcoref.silver.hide import hide_names
from longcoref.silver.label import LabelSettings, label_file, label_text
from longcoref.spans import WordSpan
from longcoref.text import tokenize
from model import write_tiny_model

STORY = [
    ["Emma", "met", "Mr.", "Hale", "."],
    ["She", "liked", "him", ",", "and", "Mr.", "Hale", "said", "that", "he", "liked", "her", "."],
    ["Emma", "'s", "father", "was", "asleep", "."],
    ["Then", "Emma", "went", "to", "Mr.", "Hale", "."],
    ["She", "and", "Mr.", "Hale", "walked", "home", "with", "her", "."],
    ["He", "was", "glad", "."],
]


def story() -> Document:
    words = [word for sentence in STORY for word in sentence]
    people: dict[str, list[WordSpan]] = {"emma": [], "hale": []}
    for index, word in enumerate(words):
        if word in ("Emma", "She", "her"):
            people["emma"].append(WordSpan(index, index + 1))
        elif word == "Mr.":
            people["hale"].append(WordSpan(index, index + 2))
        elif word in ("him", "he", "He"):
            people["hale"].append(WordSpan(index, index + 1))
    clusters = [
        Cluster(
            tuple(
                Mention(s, "PRON" if words[s.start].lower() in ("she", "he", "him", "her") else "PROP", "PER")
                for s in spans
            )
        )
        for spans in people.values()
    ]
    return document_of_words("story", STORY, clusters=clusters)


def texts(document: Document) -> list[list[str]]:
    return [[document.text_of(span) for span in cluster.spans] for cluster in document.clusters or ()]


def test_names_become_the_pronoun_of_their_case() -> None:
    hidden = hide_names(story(), np.random.default_rng(0), share=1.0)
    lines = [" ".join(hidden.words[start:end]) for start, end in hidden.sentences]
    assert lines[1] == "She liked him , and he said that he liked her ."
    assert lines[2] == "Her father was asleep ."
    assert lines[3] == "Then she went to him ."
    assert texts(hidden)[0] == ["Emma", "She", "her", "Her", "she", "She", "her"]
    assert texts(hidden)[1][:4] == ["Mr. Hale", "him", "he", "he"]
    assert all(m.kind == "PRON" for c in hidden.clusters or () for m in c.mentions if hidden.text_of(m.span) == "Her")


def test_a_hidden_name_is_certain_and_other_labels_are_as_likely_as_the_teacher_says(tmp_path: Path) -> None:
    told = story()
    clusters = [
        replace(cluster, mentions=tuple(replace(mention, score=0.5) for mention in cluster.mentions))
        for cluster in told.clusters or ()
    ]
    hidden = hide_names(told.with_clusters(clusters), np.random.default_rng(0), share=1.0)
    write_corpus([hidden], tmp_path / "silver.jsonl", format="jsonl")
    (read,) = read_corpus(tmp_path / "silver.jsonl", format="jsonl")
    found = [(m.kind, m.score) for cluster in read.clusters or () for m in cluster.mentions]
    assert ("PRON", 1.0) in found
    assert ("PROP", 1.0) not in found
    assert {score for _, score in found} == {0.5, 1.0}


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_hiding_keeps_every_mention_and_its_entity(seed: int, share: float) -> None:
    before = story()
    after = hide_names(before, np.random.default_rng(seed), share=share)
    assert [len(cluster) for cluster in texts(after)] == [len(cluster) for cluster in texts(before)]
    assert len(after.sentences) == len(before.sentences)
    for old, new in zip(texts(before), texts(after), strict=True):
        assert new[0] == old[0]  # the first name stays
        assert all(a == b or a.lower() in ("he", "him", "his", "she", "her") for a, b in zip(new, old, strict=True))
    if share == 0:
        assert after is before


TALK = """Ann Moss met Tom Hale at the mill, and Tom saw that Ann was cold.

"Where have you been?" he asked.

"I lost my hat," said Ann.

"Then you shall have mine, Ann," he said.

"You are kind," said Ann, "but I will not take it."

"My aunt, Ann, would like you," said Tom."""
PEOPLE = {"Ann": "Ann Moss", "Tom": "Tom Hale", "he": "Tom Hale"}


def talk() -> Document:
    """A conversation of two people as a teacher sees it that takes each "I", "you" and "my" for a person of its own."""
    document = tokenize(TALK, id="talk")
    people: dict[str, list[Mention]] = {}
    for index, word in enumerate(document.words):
        if word in PEOPLE:
            full = document.words[index + 1] in ("Moss", "Hale")
            mention = Mention(WordSpan(index, index + 1 + full), "PRON" if word == "he" else "PROP", "PER", 0.5)
            people.setdefault(PEOPLE[word], []).append(mention)
        elif word.lower() in ("i", "you", "my", "mine"):
            people[f"{word}-{index}"] = [Mention(WordSpan(index, index + 1), "PRON", "PER", 0.5)]
            if word == "My":
                people["the aunt"] = [Mention(WordSpan(index, index + 2), "NOM", "PER", 0.5)]
    return document.with_clusters([Cluster(tuple(mentions)) for mentions in people.values()])


def test_the_speaker_and_the_addressee_are_known_without_the_words_that_name_them() -> None:
    found = hide_names(talk(), np.random.default_rng(0), share=1.0)
    lines = [" ".join(found.words[start:end]) for start, end in found.sentences]
    assert lines[1:] == [
        '" Where have you been ? " he asked .',
        '" I lost my hat . "',
        '" Then you shall have mine . "',
        '" You are kind , but I will not take it . "',
        '" My aunt , Ann , would like you , " said Tom .',
    ]
    ann = next(cluster for cluster in found.clusters or () if found.text_of(cluster.spans[0]) == "Ann Moss")
    assert [found.text_of(span) for span in ann.spans] == ["Ann Moss", "Ann", "I", "my", "you", "I", "Ann"]
    assert [mention.score for mention in ann.mentions] == [0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.5]
    tom = next(cluster for cluster in found.clusters or () if found.text_of(cluster.spans[0]) == "Tom Hale")
    assert [found.text_of(span) for span in tom.spans] == ["Tom Hale", "Tom", "he", "mine", "Tom"]
    assert {mention.score for mention in tom.mentions} == {0.5}  # "he" is who the teacher says


def test_without_tags_only_names_become_pronouns() -> None:
    before = talk()
    found = hide_names(before, np.random.default_rng(0), share=1.0, tags=False)
    assert found.words.count("said") == before.words.count("said") == 4
    assert len(found.words) == len(before.words)
    assert [len(cluster.spans) for cluster in found.clusters or ()] == [len(c.spans) for c in before.clusters or ()]


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_leaving_out_names_keeps_every_other_mention_with_its_words(seed: int, share: float) -> None:
    before = talk()
    after = hide_names(before, np.random.default_rng(seed), share=share)
    pronouns = {"I", "my", "My", "mine", "you", "You"}

    def told(document: Document) -> list[str]:
        mentions = [document.text_of(span) for cluster in document.clusters or () for span in cluster.spans]
        return sorted(text for text in mentions if text in pronouns)

    assert told(after) == told(before) == sorted(word for word in before.words if word in pronouns)
    for cluster in after.clusters or ():
        assert all(after.words[span.start] not in (",", ".", '"', "said") for span in cluster.spans)


@pytest.mark.parametrize(
    ("sentence", "case"),
    [
        ("Emma went home .", Case.SUBJECT),
        ("He spoke to Emma .", Case.OBJECT),
        ("It was Emma 's book .", Case.POSSESSIVE),
        ("Emma 's as kind as any .", None),
        ("My friend Emma , she said", None),
    ],
)
def test_the_case_of_a_name(sentence: str, case: Case | None) -> None:
    words = sentence.split()
    place = words.index("Emma")
    assert case_of(words, WordSpan(place, place + 1), opens_sentence=place == 0) == case


def test_a_text_becomes_documents_that_cover_it_once(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    resolver = load(write_tiny_model(tmp_path / "model"))
    text = "Emma met Tom at the mill . She liked him . "
    settings = LabelSettings(words=400, stretch=200, document=50, hide=0.0)
    documents = list(label_text(resolver, tokenize(text * 60, id="a"), settings))
    assert all(document.clusters is not None for document in documents)
    assert all(20 <= len(document.words) <= 110 for document in documents)
    source, target = tmp_path / "a.txt", tmp_path / "a.jsonl"
    source.write_text(text * 60, encoding="utf-8")
    label_file(resolver, source, target, settings)
    assert [(d.id, d.words) for d in read_corpus(target)] == [(d.id, d.words) for d in documents]
    source.write_text("", encoding="utf-8")
    label_file(resolver, source, target, settings)
    assert target.read_text(encoding="utf-8") == ""


def test_the_command_continues_and_refuses_what_it_cannot_label(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: object) -> int:
        with pytest.raises(SystemExit) as done:
            main(["label", *map(str, arguments), "--out", str(tmp_path / "out"), "--model", str(tiny_model), "-q"])
        return int(done.value.code or 0)

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for folder in ("one", "two"):
        (tmp_path / folder / "a.txt").write_text("Emma met Tom. She liked him.", encoding="utf-8")
    assert run(tmp_path / "one") == 0
    written = (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns
    assert run(tmp_path / "one") == 0
    assert (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns == written  # nothing is done twice
    assert run(tmp_path / "one", tmp_path / "two") == 2
    assert "two folders" in capsys.readouterr().err
    (tmp_path / "c.txt").write_text("Emma met Tom.", encoding="utf-8")
    assert run(tmp_path / "c.txt", "--style", "verse") == 2
    assert "one style of text" in capsys.readouterr().err
    (tmp_path / "gap.tsv").write_text(GAP, encoding="utf-8")
    assert run(tmp_path / "gap.tsv") == 0
    (document,) = read_corpus(tmp_path / "out" / "gap.jsonl")
    assert document.id == "x-1"
    (tmp_path / "b.txt").write_bytes(bytes(range(128, 256)))
    assert run(tmp_path / "b.txt") == 1
    assert "b.txt" in capsys.readouterr().err
    assert not (tmp_path / "out" / "b.jsonl").exists()


GAP = (
    "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    "x-1\tAnn met Sue. She smiled.\tShe\t13\tAnn\t0\tTRUE\tSue\t8\tFALSE\tu\n"
    "x-2\tTom met Ben. He smiled.\tHe\t13\tTom\t0\tFALSE\tBen\t8\tFALSE\tu\n"
)


def test_gap_answers_correct_the_teacher(tmp_path: Path) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(GAP, encoding="utf-8")
    rows = read_gap(path)
    assert [row.feminine for row in rows] == [True, False]

    def corrected(*spoken: set[str]) -> list[list[str]]:
        """The texts of the clusters, for a teacher whose clusters have these words."""

        def teacher(document: Document) -> list[Cluster]:
            words = [[i for i, word in enumerate(document.words) if word in cluster] for cluster in spoken]
            return [cluster_of((i, i + 1) for i in group) for group in words if group]

        (document,) = gap_documents(rows, teacher)
        return texts(document)

    assert corrected() == [["Ann", "She"], ["Sue"], ["Tom"], ["Ben"]]
    assert corrected({"Sue", "She"}, {"Ann"}) == [["Sue"], ["Ann", "She"], ["Tom"], ["Ben"]]
    assert corrected({"Tom", "He"}, {"Sue", "Ann"}) == [["Tom"], ["Ben"]]
    assert corrected({"He"}) == [["Ann", "She"], ["Sue"], ["He"], ["Tom"], ["Ben"]]


def test_gap_answers_count_more_than_the_teacher(tmp_path: Path) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(GAP, encoding="utf-8")
    (document,) = gap_documents(read_gap(path), lambda document: [cluster_of([(0, 1)]), cluster_of([(4, 5)])])
    scores = {
        document.words[mention.span.start]: mention.score
        for cluster in document.clusters or ()
        for mention in cluster.mentions
    }
    assert scores["She"] is None  # the answer of the row, which counts fully
    for text in ("Ann", "Tom", "He"):  # found by the teacher
        assert (scores[text] or 1.0) < 0.5


def test_a_file_without_the_columns_is_not_gap() -> None:
    with pytest.raises(InputError, match="GAP"):
        read_gap(Path(__file__))


def test_gap_counts_a_pronoun_in_one_cluster_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(GAP, encoding="utf-8")

    class One:
        """Everything is one entity."""

        def __call__(self, text: str) -> list[list[object]]:
            words = document_of_words("", [text.split()])
            return [[type("M", (), {"start": s, "end": e - (text[e - 1] == ".")}) for s, e in words.offsets]]

    scores = score_gap(One(), read_gap(path))  # type: ignore[arg-type]
    assert scores.feminine == pytest.approx(200 / 3)
    assert scores.masculine == 0


def test_a_config_with_further_corpora_round_trips(tmp_path: Path) -> None:
    table = {"data": {"train": "a", "style": "fiction", "extra": [{"train": "b", "style": "modern", "documents": 3}]}}
    config = config_from(table, "here")
    path = tmp_path / "config.toml"
    path.write_text(dump_toml(config_table(config)), encoding="utf-8")
    assert load_config(path) == config
    assert config.data.extra[0].documents == 3


def test_an_extra_corpus_may_drop_singletons(tmp_path: Path) -> None:
    alone = Cluster((Mention(WordSpan(0, 1)),))
    pair = Cluster((Mention(WordSpan(2, 3)), Mention(WordSpan(3, 4))))
    path = tmp_path / "extra.jsonl"
    write_corpus([document_of_words("a", [["Ann", "saw", "Bob", "himself"]], clusters=[alone, pair])], path)
    kept, dropped = (read_extra(ExtraConfig(str(path), keep_singletons=keep), "train")[0] for keep in (True, False))
    assert [len(document.clusters or ()) for document in (kept, dropped)] == [2, 1]
