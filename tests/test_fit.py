"""Speaker weights are learned from a corpus laid out like LitBank."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from longcoref.book.choice import learned_weights
from longcoref.book.fit import CUES, accuracy, learn, main, read_annotated
from longcoref.book.hidden import Asked, Names, Question
from longcoref.mention import MentionRecord
from longcoref.text import tokenize
from longcoref.text.quotations import find_quotations

PEOPLE = ("Ann", "Tom", "Kate")


def write_document(folder: Path, name: str, turns: list[tuple[int, int]]) -> None:
    """A document of turns between people, given as speaker and addressee."""
    rows, coref, quotations = [], [], []
    for sentence, (speaker, addressee) in enumerate(turns):
        people = {2: addressee, 6: speaker, 8: addressee}
        words = ['"', "Will", "you", ",", '"', "said", PEOPLE[speaker], "to", PEOPLE[addressee], "."]
        for place, word in enumerate(words):
            cell = f"({people[place]})" if place in people else ""
            rows.append(f"{name}\t0\t{place}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\t{cell}")
        rows.append("")
        for place, person in people.items():
            key, kind = f"T{sentence}-{place}", "PRON" if place == 2 else "PROP"
            coref.append(f"MENTION\t{key}\t{sentence}\t{place}\t{sentence}\t{place}\t{words[place]}\tPER\t{kind}")
            coref.append(f"COREF\t{key}\t{PEOPLE[person]}-{person}")
        quotations.append(f'QUOTE\tQ{sentence}\t{sentence}\t0\t{sentence}\t4\t" Will you , "')
        quotations.append(f"ATTRIB\tQ{sentence}\t{PEOPLE[speaker]}-{speaker}")
    conll = [f"#begin document ({name}); part 0", *rows, "#end document", ""]
    for path, lines in (
        (f"lrec2020-coref/data/original/conll/{name}.conll", conll),
        (f"litbank/coref/tsv/{name}.ann", coref),
        (f"litbank/quotations/tsv/{name}.ann", quotations),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_document(tmp_path, "a_brat", [(0, 1), (1, 0), (2, 0), (0, 2), (1, 2)] * 3)
    write_document(tmp_path, "b_brat", [(2, 1), (0, 1), (1, 2)])
    splits = tmp_path / "lrec2020-coref" / "data" / "litbank_tenfold_splits" / "0"
    splits.mkdir(parents=True)
    (splits / "train.ids").write_text("a_brat.tsv\n", encoding="utf-8")
    (splits / "dev.ids").write_text("b_brat.tsv\n", encoding="utf-8")
    return tmp_path


def test_the_annotation_is_read_with_speakers_and_addressees(corpus: Path) -> None:
    (item,) = read_annotated(corpus, "dev")
    names = {row.entity: row.mention.text for row in item.table.rows if row.mention.kind == "PROP"}
    pairs = [(names[q.speaker or 0], names[q.addressee or 0]) for q in item.quotations]
    assert pairs == [("Kate", "Tom"), ("Ann", "Tom"), ("Tom", "Kate")]


def test_learned_weights_find_who_speaks_to_whom(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus / "weights.json"
    main(["--data", str(corpus), "--weights", str(path)])
    table = json.loads(path.read_text(encoding="utf-8"))
    assert {task: tuple(table[task]) for task in CUES} == CUES
    assert table["speaker"]["verb_then_mention"] > 0 > table["speaker"]["behind_to"]
    assert table["addressee"]["behind_to"] > 0
    assert accuracy(read_annotated(corpus, "dev"), table) == {"speaker": (3, 3), "addressee": (3, 3)}
    assert capsys.readouterr().out == "dev speaker: 3 of 3, 100.0 %\ndev addressee: 3 of 3, 100.0 %\n"


def test_without_a_file_the_shipped_weights_are_scored(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--data", str(corpus)])
    right, total = accuracy(read_annotated(corpus, "dev"), learned_weights())["speaker"]
    assert capsys.readouterr().out.startswith(f"dev speaker: {right} of {total}")


def test_hidden_addressees_are_learned_from_and_hidden_speakers_are_not(corpus: Path) -> None:
    """In these texts the first name of the paragraph before is the addressee, which the annotation does not show."""
    turns = [("Ann", "Tom"), ("Tom", "Kate"), ("Kate", "Ann")] * 4
    text = "\n\n".join(f'{one} met {other}.\n\n"Well," said {other}.' for one, other in turns)
    document = tokenize(text)
    names = [
        MentionRecord.of(document, written.words, kind="PROP", type="PER", entity=PEOPLE.index(written.text), score=1.0)
        for written in Names(document).written
    ]
    quotations = find_quotations(document)
    questions = tuple(
        Question("addressee", one, quotation.start, quotation.end)
        for (one, _), quotation in zip(turns, quotations, strict=True)
    )
    train = read_annotated(corpus, "train")
    speakers = tuple(replace(question, kind="speaker") for question in questions)
    hidden = [Asked(document, asked, tuple(names)) for asked in (questions, speakers)]
    before, after = learn(train), learn(train, hidden)
    assert after["addressee"]["subject_before"] > before["addressee"]["subject_before"]
    assert after["speaker"] == before["speaker"]
