"""Cross-validation: every fold is trained and scored once, and test documents are scored together."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")

from longcoref.cli import main
from longcoref.document import Document
from longcoref.errors import ConfigError, InputError
from longcoref.formats import read_corpus, write_corpus
from longcoref.metrics.corpus import score_corpus
from longcoref.training.crossval import Recipe, collect, fold_tasks
from tiny import tiny_documents, write_tiny_encoder

CONFIGS = Path(__file__).parent.parent / "configs"


def write_folds(root: Path) -> Path:
    """A corpus laid out as LitBank's clone is: six documents, two folds of four, one and one."""
    stories = [{**story, "doc_key": name} for name, story in zip("abcdef", tiny_documents(6, seed=4), strict=True)]
    lines = "".join(json.dumps(story) + "\n" for story in stories)
    (root / "all.jsonlines").write_text(lines, encoding="utf-8")
    documents: list[Document] = list(read_corpus(root / "all.jsonlines"))
    place = root / "corpus" / "data"
    (place / "original" / "conll").mkdir(parents=True)
    for document in documents:
        write_corpus([document], place / "original" / "conll" / f"{document.id}.conll", format="litbank")
    names = [document.id for document in documents]
    for fold in range(2):
        turned = names[fold:] + names[:fold]
        folder = place / "litbank_tenfold_splits" / str(fold)
        folder.mkdir(parents=True)
        for part, chosen in (("train", turned[2:]), ("dev", turned[1:2]), ("test", turned[:1])):
            (folder / f"{part}.ids").write_text("".join(f"{name}.tsv\n" for name in chosen), encoding="utf-8")
    return root / "corpus"


def test_folds_are_done_once_and_scored_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, encoder = write_folds(tmp_path), write_tiny_encoder(tmp_path / "encoder")
    out = tmp_path / "out"
    settings = (f"data.path={corpus}", "data.format=litbank", f"encoder.name={encoder}", "train.epochs=2")
    command = ["crossval", str(CONFIGS / "tiny.toml"), "--out", str(out), "--json", "--cells", "3"]
    command += [option for setting in settings for option in ("--set", setting)]

    def run(folds: str) -> tuple[dict[str, object], str]:
        with pytest.raises(SystemExit) as ended:
            main([*command, "--folds", folds])
        printed = capsys.readouterr()
        assert ended.value.code in (0, None), printed.err
        return json.loads(printed.out), printed.err

    first, told = run("0")
    assert told.count("done") == 4  # train, export, dev, test
    both, told = run("0-1")
    assert (told.count("skipped"), told.count("done")) == (4, 4)
    assert both["folds"][0] == first["folds"][0]
    assert both["test"]["documents"] == 2
    places = [out / f"fold-{fold}" / "test-learned-3" for fold in (0, 1)]
    sides = [
        [document for place in places for document in read_corpus(place / name)]
        for name in ("key.conll", "response.conll")
    ]
    assert both["test"]["conll_f1"] == pytest.approx(100 * score_corpus(*sides).total.conll_f1)
    assert both["mean"] == pytest.approx(sum(fold["test"]["conll_f1"] for fold in both["folds"]) / 2)
    log = [json.loads(line) for line in (out / "fold-1" / "tiny" / "log.jsonl").read_text().splitlines()]
    assert {line["documents"] for line in log if line["event"] == "step"} == {4}


def test_a_second_config_goes_on_from_the_first(tmp_path: Path) -> None:
    corpus = write_folds(tmp_path)
    configs = tuple(CONFIGS / f"litbank-{name}.toml" for name in ("small", "anneal"))
    tasks = fold_tasks(Recipe(configs, (f"data.path={corpus}",), "learned", 20), 1, tmp_path / "fold-1")
    assert [task.name for task in tasks][:2] == ["fold 1: train litbank-small", "fold 1: train litbank-anneal"]
    assert f"train.start={tmp_path / 'fold-1' / 'litbank-small'}" in tasks[1].command
    assert not any("train.start" in part for part in tasks[0].command)
    assert all(task.after == (before.name,) for before, task in pairwise(tasks))


def test_nothing_to_score_and_nothing_to_fold_are_said(tmp_path: Path) -> None:
    corpus = write_folds(tmp_path)
    recipe = Recipe((CONFIGS / "litbank-small.toml",), (f"data.path={corpus}",), "learned", 20)
    with pytest.raises(InputError, match="no fold is finished"):
        collect(recipe, [0], tmp_path)
    with pytest.raises(ConfigError, match="needs a corpus with folds"):
        fold_tasks(Recipe((CONFIGS / "tiny.toml",), (), "learned", 20), 0, tmp_path)
