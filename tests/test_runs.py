"""From a run to a model directory: what was measured in torch is what runs without it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import load_file

torch = pytest.importorskip("torch")

from longcoref.cli import main
from longcoref.cli.export import SAMPLE_DOCUMENTS
from longcoref.clusters import spans_of
from longcoref.config import load_config
from longcoref.errors import ModelError
from longcoref.evaluation import evaluate
from longcoref.formats import read_part
from longcoref.memory import LearnedMemory, UnboundedMemory, memory_policy
from longcoref.metrics import score_documents
from longcoref.runtime.heads import GATES
from longcoref.runtime.model import open_model
from longcoref.runtime.processor import multiplies_bytes
from longcoref.runtime.reading import read_document
from longcoref.training.agreement import compare
from longcoref.training.bench import bench_training
from longcoref.training.inference import evaluate_torch
from longcoref.training.model import CorefModel
from longcoref.training.runs import load_run
from longcoref.training.transfer import start_from
from tiny import write_tiny_corpus, write_tiny_encoder

CONFIG = Path(__file__).parent.parent / "configs" / "tiny.toml"


def command(*arguments: object) -> None:
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert done.value.code in (0, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, a finished run, and its model directory, made by the commands."""
    folder = tmp_path_factory.mktemp("runs")
    corpus = write_tiny_corpus(folder)
    encoder = write_tiny_encoder(folder / "encoder")
    settings = [f"encoder.name={encoder}", f"data.train={corpus['train']}", f"data.dev={corpus['dev']}"]
    settings += ["train.epochs=6", "train.patience=6"]
    sets = [part for setting in settings for part in ("--set", setting)]
    command("train", CONFIG, "--run", folder / "run", "--quiet", *sets)
    command("export", folder / "run", folder / "model", "--weights", "float32", "--no-gate")
    return folder


@pytest.mark.parametrize("memory", [("unbounded", None), ("learned", 2), ("rule", 2), ("track-all", None)])
def test_the_exported_model_finds_what_the_run_found(folder: Path, memory: tuple[str, int | None]) -> None:
    model, _ = load_run(folder / "run")
    dev = read_part(model.config.data, "dev")
    policy = memory_policy(*memory)
    expected = evaluate_torch(model, dev, policy)
    found = evaluate(dev, open_model(folder / "model"), policy)
    assert [document.clusters for document in found.responses] == [document.clusters for document in expected.responses]
    assert found.scores == expected.scores


@pytest.mark.parametrize("memory", [("unbounded", None), ("learned", 2), ("rule", 2), ("track-all", None)])
def test_the_runtime_decides_as_torch_would(folder: Path, memory: tuple[str, int | None]) -> None:
    model, _ = load_run(folder / "run")
    documents = read_part(model.config.data, "train")
    found = compare(model, open_model(folder / "model"), documents, memory_policy(*memory))
    assert found.mentions > 50
    assert (found.proposed_differently, found.beyond_ties) == (0, 0)
    # With other heads the comparison must notice.
    torch.nn.init.normal_(model.heads.link.output.weight)
    assert compare(model, open_model(folder / "model"), documents, memory_policy(*memory)).beyond_ties > 0


def test_gates_keep_all_mentions_of_the_documents_they_were_fitted_to(folder: Path, tmp_path: Path) -> None:
    command("export", folder / "run", tmp_path / "gated", "--weights", "float32", "--no-calibrate")
    ungated, gated = open_model(folder / "model"), open_model(tmp_path / "gated")
    assert set(GATES) <= set(load_file(tmp_path / "gated" / "heads.safetensors"))
    for document in read_part(ungated.config.data, "train")[:SAMPLE_DOCUMENTS]:
        every, some = (read_document(document, model, UnboundedMemory()).mentions for model in (ungated, gated))
        assert {mention.words for mention in every if mention.entity is not None} <= {one.words for one in some}


@pytest.mark.skipif(not multiplies_bytes(), reason="no dot products of bytes")
def test_bytes_and_floats_find_nearly_the_same_clusters(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("export", folder / "run", tmp_path / "model", "--weights", "int8", "--no-calibrate")
    dev = read_part(load_run(folder / "run")[0].config.data, "dev")
    found = []
    for in_bytes in (True, False):
        monkeypatch.setattr("longcoref.runtime.encoder.multiplies_bytes", lambda in_bytes=in_bytes: in_bytes)
        evaluation = evaluate(dev, open_model(tmp_path / "model"), LearnedMemory(5))
        found.append([spans_of(document.clusters) for document in evaluation.responses])
    # A tiny model is undecided about much; those of real ones agree far better (docs/encoder.md).
    assert score_documents(zip(*found, strict=True)).conll_f1 > 0.8


def test_the_model_directory_is_complete_and_calibrated(folder: Path) -> None:
    model = open_model(folder / "model")
    assert model.facts["calibration"]["temperature"] > 0
    assert model.facts["scores"]["dev_conll_f1"] == pytest.approx(load_run(folder / "run")[1]["conll_f1"])
    assert (folder / "model" / "CARD.md").read_text().startswith("# model")


def test_a_model_may_have_the_calibration_of_another(folder: Path, tmp_path: Path) -> None:
    lent = tmp_path / "lent"
    shutil.copytree(folder / "model", lent)
    table = lent / "model.toml"
    own = open_model(lent).facts["calibration"]["temperature"]
    table.write_text(table.read_text().replace(f"temperature = {own!r}", "temperature = 3.25"))
    command("export", folder / "run", tmp_path / "borrower", "--weights", "float32", "--calibration", lent)
    assert open_model(tmp_path / "borrower").facts["calibration"] == open_model(lent).facts["calibration"]
    assert open_model(tmp_path / "borrower").facts["calibration"]["temperature"] == 3.25


@pytest.mark.parametrize("options", [("--weights", "float32", "--rank", 0), ("--weights", "int8", "--rank", 8)])
def test_a_run_starts_from_an_exported_model(folder: Path, tmp_path: Path, options: tuple[object, ...]) -> None:
    command("export", folder / "run", tmp_path / "model", "--no-calibrate", *options)
    config = load_config(folder / "run" / "config.toml")
    start, _ = load_run(folder / "run")
    model = CorefModel(config, start.encoder)
    start_from(model, str(tmp_path / "model"))
    dev = read_part(config.data, "dev")
    of_run, of_model = (
        evaluate_torch(one.eval(), dev, UnboundedMemory()).scores.conll_f1
        for one in (load_run(folder / "run")[0], model)
    )
    assert of_model == pytest.approx(of_run, abs=0.05)
    if options[1] == "float32":
        assert of_model == of_run
        for name, value in load_run(folder / "run")[0].state_dict().items():
            torch.testing.assert_close(model.state_dict()[name], value)


def test_the_mean_of_a_run_and_its_exported_model_is_the_run(folder: Path, tmp_path: Path) -> None:
    """An exported layer has its neurons in another order."""
    command("export", folder / "run", tmp_path / "model", "--no-calibrate", "--weights", "int8", "--rank", 0)
    run, _ = load_run(folder / "run")
    exported, mean = (CorefModel(run.config, load_run(folder / "run")[0].encoder) for _ in range(2))
    start_from(exported, str(tmp_path / "model"))
    start_from(mean, f"{folder / 'run'},{tmp_path / 'model'}")
    name = "encoder.model.encoder.layer.0.intermediate.dense.weight"
    own, other, both = (one.state_dict()[name] for one in (run, exported, mean))
    assert not torch.allclose(other, own, atol=0.05)
    torch.testing.assert_close(both, own, atol=0.05, rtol=0.05)


def test_biases_move_scores(folder: Path, tmp_path: Path) -> None:
    (document, *_) = read_part(load_run(folder / "run")[0].config.data, "dev")
    counts = {}
    for name, option in (("as trained", ()), ("more", ("--mention-bias", 5)), ("larger", ("--link-bias", 30))):
        target = tmp_path / name
        command("export", folder / "run", target, "--weights", "float32", "--no-calibrate", "--no-gate", *option)
        (found,) = evaluate([document], open_model(target), LearnedMemory(5)).responses
        counts[name] = (sum(len(cluster.mentions) for cluster in found.clusters), len(found.clusters))
    assert counts["more"][0] > counts["as trained"][0]
    assert counts["larger"][1] == 1 < counts["as trained"][1]


def test_evaluate_needs_no_torch_and_agrees_with_score(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from longcoref.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    arguments = ["evaluate", "--model", folder / "model", "--data", folder / "dev.jsonlines", "--json"]
    arguments += ["--conll-out", tmp_path / "out", "--records", tmp_path / "records.jsonl", "--memory", "unbounded"]
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], check=True, capture_output=True, text=True
    )
    facts = json.loads(done.stdout)
    assert facts["memory"] == {"policy": "unbounded", "capacity": None}
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert [(record["id"], record["part"]) for record in records] == [("tiny_2", part) for part in range(3)]
    assert all(sum(record["decisions"].values()) == record["proposed"] for record in records)
    files = [str(tmp_path / "out" / name) for name in ("key.conll", "response.conll")]
    scored = subprocess.run(
        [sys.executable, "-m", "longcoref", "score", *files, "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(scored.stdout)["conll_f1"] == pytest.approx(facts["conll_f1"])


def test_a_run_without_an_epoch_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no finished epoch"):
        load_run(tmp_path)


def test_the_bench_times_every_part_of_a_step(folder: Path) -> None:
    model, _ = load_run(folder / "run")
    found = bench_training(model, read_part(model.config.data, "dev")[:1], LearnedMemory(3), repeat=1).as_json()
    assert found["pairs"] > found["mentions"] > 0
    assert all(found[name] > 0 for name in ("clustering_to_product", "plain_loop_to_clustering", "step_to_encoder"))


def test_a_run_under_several_capacities_is_timed_under_all_of_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "training", str(folder / "run"), "--documents", "1", "--repeat", "1", "--json"])
    *rows, together = json.loads(capsys.readouterr().out)
    assert [row["cells"] for row in rows] == [None, 2]
    assert together["product"] == pytest.approx(sum(row["product"] for row in rows))
    assert together["clustering_to_product"] == pytest.approx(together["clustering"] / together["product"])
