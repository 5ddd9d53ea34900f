"""The whole road on real text: two documents of LitBank are learned by heart, exported, and read without torch.

It takes minutes, so it runs when asked for: LONGCOREF_SLOW=1 pytest tests/test_overfit.py
With a finished run of the same config in LONGCOREF_START it begins with that run's weights and takes fewer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from longcoref.clusters import gold_entities
from longcoref.config import load_config
from longcoref.formats import read_corpus, read_part, write_corpus
from longcoref.memory import UnboundedMemory
from longcoref.training.inference import evaluate_torch
from longcoref.training.loop import Trainer
from longcoref.training.runs import export_run, load_run

CONFIG = Path(__file__).parent.parent / "configs" / "litbank-small.toml"
# Nothing that keeps a model from learning by heart.
SETTINGS = (
    "model.dropout=0.0",
    "train.average=0.0",
    "train.cells=[0]",
    "train.keep_invalid=1.0",
    "train.windows=overlap",
    "train.weight_decay=0.0",
    "train.warmup=0.05",
    "train.pretrain_epochs=25",
    "train.pretrain_rate=1e-3",
    "train.epochs=150",
    "train.patience=150",
    "train.rate=5e-4",
    "train.encoder_rate=2e-4",
)

WITHOUT_TORCH = """
import sys
from longcoref.evaluation import evaluate
from longcoref.formats import read_corpus, write_corpus
from longcoref.memory import UnboundedMemory
from longcoref.runtime.model import open_model
model, gold, response = sys.argv[1:]
write_corpus(evaluate(read_corpus(gold), open_model(model), UnboundedMemory()).responses, response, format="conll")
assert not {"torch", "transformers"} & set(sys.modules)
"""


@pytest.mark.skipif("LONGCOREF_SLOW" not in os.environ, reason="takes minutes: set LONGCOREF_SLOW=1 to run it")
def test_two_real_documents_are_learned_by_heart_and_read_again_without_torch(
    data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGCOREF_DATA", str(data_root))
    start = os.environ.get("LONGCOREF_START")
    config = load_config(
        CONFIG, [*SETTINGS, *([f"train.start={start}", "train.pretrain_epochs=0", "train.epochs=30"] if start else [])]
    )
    # The shortest two whose mentions can all be proposed.
    widest = config.model.max_width
    reachable = (
        d
        for d in read_part(config.data, "train")
        if all(end - start <= widest for start, end in gold_entities(d.clusters))
    )
    documents = sorted(reachable, key=lambda document: len(document.words))[:2]

    class LearnedByHeartError(Exception):
        """Enough."""

    def report(event: dict[str, float]) -> None:
        if event["event"] == "epoch" and event["conll_f1"] > 99.5:
            raise LearnedByHeartError

    with suppress(LearnedByHeartError):
        Trainer(config, tmp_path / "run", documents, documents, report=report).train()
    model, facts = load_run(tmp_path / "run")
    assert facts["conll_f1"] > 99
    export_run(tmp_path / "run", tmp_path / "model", weights="float32")
    gold, response = tmp_path / "gold.conll", tmp_path / "response.conll"
    write_corpus(documents, gold, format="conll")
    command = [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path / "model"), str(gold), str(response)]
    subprocess.run(command, check=True)
    expected = evaluate_torch(model, documents, UnboundedMemory()).responses
    found = {document.id: document.clusters for document in read_corpus(response)}
    assert {d.id: [c.spans for c in d.clusters] for d in expected} == {
        id: [c.spans for c in clusters] for id, clusters in found.items()
    }
