"""The reproduction end to end on tiny data: one command, resumable, and a report whose figures come from records."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from longcoref.cli.app import build_app
from longcoref.config import Config, config_table, load_config
from longcoref.errors import UsageError
from longcoref.formats import read_corpus, write_corpus
from reproduce import app
from reproduction.experiments import STAGES, Measures, recipe, reproduction
from reproduction.figures import Figures, paper_figures
from reproduction.measures import MEASURES, join_documents
from reproduction.models import memory_model
from reproduction.orderings import findings
from reproduction.report import write_report
from reproduction.stages import STAGES as STAGE_FUNCTIONS
from tiny import tiny_documents, write_tiny_encoder

TINY = (
    "model.hidden=8",
    "model.max_width=3",
    "model.feature_size=4",
    "encoder.window=32",
    "train.epochs=8",
    "train.rate=0.01",
)


def write_documents(path: Path, count: int, seed: int, genre: str = "") -> None:
    """Tiny stories in the CoNLL format of OntoNotes, a file for each genre's documents."""
    lines = [{**story, "doc_key": f"{genre}/{story['doc_key']}_0"} for story in tiny_documents(count, seed, 8)]
    path.parent.mkdir(parents=True, exist_ok=True)
    jsonlines = path.with_suffix(".jsonlines")
    jsonlines.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    write_corpus(read_corpus(jsonlines), path, format="conll")
    jsonlines.unlink()


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny encoder, a corpus in the layout of OntoNotes, and one novel."""
    root = tmp_path_factory.mktemp("corpora")
    for part, count in (("train", 2), ("development", 2), ("test", 2)):
        for genre in ("bn", "nw"):
            write_documents(
                root / "ontonotes" / part / f"{genre}.v4_gold_conll", count, len(part) + ord(genre[0]), genre
            )
    novel = root / "novels"
    novel.mkdir()
    stories = (" ".join(" ".join(line) for line in story["sentences"]) for story in tiny_documents(5, 9))  # type: ignore[union-attr,misc]
    (novel / "one.txt").write_text("\n\n".join(stories), encoding="utf-8")
    return {"data": root / "ontonotes", "texts": novel, "encoder": write_tiny_encoder(root / "encoder")}


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def command_of(corpora: dict[str, Path], out: Path, models: str, stages: str) -> list[object]:
    settings = [option for change in TINY for option in ("--set", change)]
    places = ["--data", corpora["data"], "--encoder", corpora["encoder"], "--texts", corpora["texts"], "--out", out]
    return ["ontonotes", *places, "--models", models, "--stages", stages, *settings]


def do(command: list[str]) -> None:
    """Runs a command of a plan in this process: a process for each would have to load torch again."""
    if command[1:3] == ["-m", "longcoref"]:
        done = CliRunner().invoke(build_app(), command[3:], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    else:
        _, script, stage, arguments = command
        assert Path(script).is_file()
        {**STAGE_FUNCTIONS, **MEASURES}[stage](**json.loads(arguments))


@pytest.fixture(scope="session")
def reproduced(corpora: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    """Every stage on the tiny corpus, and the command that writes its report."""
    out = tmp_path_factory.mktemp("out")
    models = ["umem", "umem-star", "lb-2", "rb-2"]
    whole = reproduction(
        "ontonotes",
        out,
        settings=TINY,
        data=corpora["data"],
        encoder=str(corpora["encoder"]),
        models=models,
        stages=STAGES,
        texts=corpora["texts"],
        measures=Measures(hidden=16, repeat=2, joined=(1, 2), lengths=(60, 120)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", lambda command, check: do(command))
        for task in whole.plan():
            task.folder.mkdir(parents=True, exist_ok=True)
            do(list(task.command))
            (task.folder / "done.json").write_text("{}")
    command = command_of(corpora, out, ",".join(models), ",".join(STAGES))
    result = run(*command)
    assert result.exit_code == 0, result.output
    return out / "ontonotes", command


def test_the_command_runs_what_is_missing_and_says_what_it_took(corpora: dict[str, Path], tmp_path: Path) -> None:
    result = run(*command_of(corpora, tmp_path, "lb-2", "models"))
    assert result.exit_code == 0, result.output
    assert "train taught-lb-2: done" in result.output
    text = (tmp_path / "ontonotes" / "report" / "report.md").read_text(encoding="utf-8")
    assert "| LB-MEM 2 |" in text
    assert "| all of it |" in text


def test_one_command_leaves_records_and_a_report(reproduced: tuple[Path, list[object]]) -> None:
    folder, _ = reproduced
    for name in ("report.md", "report.html", "figures/entity_spread.svg", "figures/novels_seconds.png"):
        assert (folder / "report" / name).stat().st_size > 0
    text = (folder / "report" / "report.md").read_text(encoding="utf-8")
    for heading in ("CoNLL F1", "Memory and time", "Errors on dev", "By genre", "Parameters", "Hyperparameters"):
        assert f"## {heading}" in text
    for model in ("U-MEM", "U-MEM*", "LB-MEM 2", "RB-MEM 2"):
        assert f"| {model} |" in text
    assert "fine-tuned on the fold itself" in text
    assert "learned weights" in text
    assert "dev, at once, as in the paper" in text
    runs = [row["megabytes"] / 1000 for row in Figures(folder).rows("training-lb-2")]
    assert len(runs) == 2
    assert f"| LB-MEM 2 | {sum(runs) / 2:.2f} ({min(runs):.2f}–{max(runs):.2f}) |" in text
    for setting in TINY:
        assert f"--set {setting}" in text


def test_the_figures_of_the_report_are_those_of_the_records(reproduced: tuple[Path, list[object]]) -> None:
    folder, _ = reproduced
    figures = Figures(folder)
    assert {model.name for model in figures.models()} == {"umem", "umem-star", "lb-2", "rb-2"}
    for model in figures.models():
        facts = json.loads((folder / "scores" / f"taught-{model.name}" / "scores.json").read_text(encoding="utf-8"))
        assert figures.f1(model.name, "test") == pytest.approx(facts["test"]["conll_f1"])
        assert figures.use(model.name, "dev")["max_entities"] == facts["dev"]["max_entities_in_memory"]
        assert figures.use(model.name)["max_entities"] <= (model.cells or 100)
        assert len(figures.records(model.name, "test")) == 4
        for what in ("training", "inference"):
            measured = figures.measured(what, model.name)
            assert measured["runs"] == 2
            assert measured["seconds"] > 0
        assert set(figures.genres(model.name, "test")) == {"bn", "nw"}
    assert [row["joined"] for row in figures.rows("joined-umem")] == [1, 2]
    assert [row["words"] for row in figures.rows("novels-lb-2")] == [60, 120]


def test_what_is_done_is_not_done_again(reproduced: tuple[Path, list[object]]) -> None:
    folder, command = reproduced
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("done.json")}
    result = run(*command)
    assert result.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("done.json")} == before


def test_other_settings_need_another_folder(reproduced: tuple[Path, list[object]]) -> None:
    _, command = reproduced
    with pytest.raises(UsageError, match=r"train.seed = 0, not 3.*another --out"):
        run(*command, "--set", "train.seed=3")


def test_a_report_is_written_from_what_there_is(reproduced: tuple[Path, list[object]], tmp_path: Path) -> None:
    folder, _ = reproduced
    part = tmp_path / "ontonotes"
    shutil.copytree(folder / "scores" / "taught-umem", part / "scores" / "taught-umem")
    text = write_report(part)[0].read_text(encoding="utf-8")
    assert "| U-MEM |" in text
    assert "LB-MEM 2 |" not in text
    assert "no figures yet" in text
    assert write_report(tmp_path / "litbank")[0].read_text(encoding="utf-8").startswith("# LitBank: the paper again")


def test_findings_are_judged_by_the_figures() -> None:
    class Known(Figures):
        """Figures of a litbank where all is as in the paper."""

        def models(self, variant: str = "taught") -> list[Any]:
            return [memory_model(name) for name in self.paper["models"]]

        def f1(self, model: str, part: str, *_: Any, **__: Any) -> float | None:
            return float(self.paper["models"][model][part])

        def use(self, model: str, part: str = "dev") -> dict[str, float]:
            return self.paper["models"][model]  # type: ignore[no-any-return]

        def correlation(self, model: str, part: str = "dev") -> dict[str, float | None]:
            return self.paper["models"][model]  # type: ignore[no-any-return]

        def errors(self, model: str, part: str = "dev") -> dict[str, int]:
            return {}

        def measured(self, what: str, model: str) -> dict[str, float]:
            own = self.paper["models"][model]
            return {"megabytes": own["training_gigabytes"], "seconds": own["inference_seconds"]}

    figures = Known(Path("litbank"))
    verdicts = {finding.statement: finding.verdict for finding in findings(figures)}
    silent = {statement for statement, verdict in verdicts.items() if verdict == "no figures yet"}
    assert len(silent) == 1  # entities were not counted
    judged = {statement: verdict for statement, verdict in verdicts.items() if statement not in silent}
    assert [s for s, verdict in judged.items() if verdict != "confirmed"] == [
        "With more cells, LB-MEM misses fewer mentions and entities on dev, from the fewest cells to the most."
    ]
    figures.paper["models"]["rb-10"]["test"] = 80.0
    turned = {f.statement.split(" (")[0] for f in findings(figures) if f.verdict == "not confirmed"}
    assert {"RB-MEM improves with its capacity", "LB-MEM beats RB-MEM at every capacity"} <= turned


def test_ontonotes_differs_from_ontogum_in_paths_and_encoder_only(corpora: dict[str, Path]) -> None:
    gum, notes = (raw_recipe(name) for name in ("ontogum", "ontonotes"))
    changed = {key for key in gum.keys() | notes.keys() if gum.get(key) != notes.get(key)}
    assert changed == {"data.path", "data.train", "data.dev", "data.test", "data.format", "encoder.name"}
    assert recipe("ontonotes", data=corpora["data"]).model.genres == ("bn", "nw")


def raw_recipe(name: str) -> dict[str, Any]:
    import reproduction

    folder = Path(reproduction.__file__).parent / "recipes"
    table = config_table(load_config(folder / f"{name}.toml"))
    return {f"{section}.{key}": value for section, values in table.items() for key, value in values.items()}


@pytest.mark.data
def test_litbank_is_planned_fold_by_fold(data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGCOREF_DATA", str(data_root))
    tasks = reproduction("litbank", tmp_path, folds=[0, 1, 2]).plan()
    names = [task.name for task in tasks]
    assert names[0] == "teach the encoder"
    assert sum(bool(re.fullmatch(r"train taught-fold[012]-(umem|[lr]b-\d+)", name)) for name in names) == 21
    assert {"train frozen-fold0-lb-20", "train finetuned-fold0-lb-20", "train weighted-fold0-lb-20"} <= set(names)
    assert len({task.folder for task in tasks}) == len(tasks)


def test_the_papers_figures_agree_among_themselves() -> None:
    for corpus in ("litbank", "ontonotes"):
        for name, own in paper_figures(corpus)["models"].items():
            scores = [own[metric] for metric in ("muc", "b_cubed", "ceaf_e")]
            for precision, recall, f1 in scores:
                assert 2 * precision * recall / (precision + recall) == pytest.approx(f1, abs=0.11), (corpus, name)
            assert sum(f1 for _, _, f1 in scores) / 3 == pytest.approx(own["test"], abs=0.11), (corpus, name)


def test_joined_documents_keep_their_casts_apart(corpora: dict[str, Path]) -> None:
    documents = list(read_corpus(corpora["data"] / "test", format="conll"))
    whole = join_documents(documents)
    assert len(whole.words) == sum(len(document.words) for document in documents)
    texts = [[document.text_of(span) for span in c.spans] for document in documents for c in document.clusters or ()]
    assert [[whole.text_of(span) for span in cluster.spans] for cluster in whole.clusters or ()] == texts


def test_models_are_known_by_their_names() -> None:
    assert (memory_model("lb-5").label, memory_model("umem-star").label) == ("LB-MEM 5", "U-MEM*")
    assert memory_model("rb-20").memory.capacity == 20
    with pytest.raises(UsageError, match="unknown model 'lb'"):
        memory_model("lb")
    settings = memory_model("lb-5").settings
    assert load_recipe(settings).train.cells == (5,)


def load_recipe(settings: list[str]) -> Config:
    return recipe("litbank", settings)


def test_what_does_not_exist_is_refused(corpora: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown corpus 'litbnk'; did you mean 'litbank'"):
        run("litbnk", "--out", tmp_path)
    with pytest.raises(UsageError, match="unknown stage 'model'"):
        run("ontonotes", "--data", corpora["data"], "--out", tmp_path, "--stages", "model")
