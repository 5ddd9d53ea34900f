"""Folders, published corpora with their parts, writing, and the real data."""

from __future__ import annotations

from pathlib import Path

import pytest

from format_examples import EXAMPLES, ID, SENTENCES, WITH_CLUSTERS, read_text, source_of, write_text
from longcoref.clusters import spans_of
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError, RepairWarning, UsageError
from longcoref.formats import FORMATS, Format, read_corpus, write_corpus

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
    with pytest.raises(InputError, match="contains conll and json"):
        read_corpus(tmp_path)
    (tmp_path / "odd").write_text("what is this", encoding="utf-8")
    with pytest.raises(InputError, match="unknown format"):
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
    with pytest.raises(UsageError, match="consists of parts"):
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
        with pytest.raises(UsageError, match=r"end the name in \.conll.*or name one of conll"):
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
