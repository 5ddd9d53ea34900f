"""Training: a run learns, can be killed and resumed to the same weights, and treats documents as it says."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file

from longcoref.clusters import cluster_of
from longcoref.config import Config, ExtraConfig, load_config
from longcoref.document import document_of_words
from longcoref.errors import ConfigError, ModelError
from longcoref.formats import find_data, read_part
from longcoref.memory import memory_policy
from longcoref.spans import WordSpan
from longcoref.training import checkpoints
from longcoref.training.data import add_endings, prepare
from longcoref.training.loop import Trainer
from longcoref.training.schedule import schedule
from tiny import write_tiny_corpus, write_tiny_encoder

CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings that point the tiny config at a tiny encoder and corpus."""
    folder = tmp_path_factory.mktemp("tiny")
    corpus = write_tiny_corpus(folder)
    encoder = write_tiny_encoder(folder / "encoder")
    return [f"encoder.name={encoder}", f"data.train={corpus['train']}", f"data.dev={corpus['dev']}"]


def run(config: Config, folder: Path, **options: object) -> Trainer:
    trainer = Trainer(config, folder, read_part(config.data, "train"), read_part(config.data, "dev"), **options)
    trainer.train()
    return trainer


def final(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "last.safetensors")


# Frozen, the encoder stays random, and the heads need more time.
@pytest.mark.parametrize(("finetune", "passes"), [("true", 12), ("false", 24)])
def test_a_run_learns_and_leaves_what_is_needed(tiny: list[str], tmp_path: Path, finetune: str, passes: int) -> None:
    settings = [*tiny, f"train.finetune={finetune}", f"train.epochs={passes}", f"train.patience={passes}"]
    run(load_config(CONFIGS / "tiny.toml", settings), tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    epochs = [line for line in log if line["event"] == "epoch"]
    assert [line["epoch"] for line in epochs] == list(range(1, passes + 1))
    assert max(line["conll_f1"] for line in epochs) > 60 > epochs[0]["conll_f1"]
    steps = [line for line in log if line["event"] == "step"]
    assert len(steps) == 6 * (passes + 1)
    assert {line["cells"] for line in steps if line["phase"] == "clusters"} == {0, 2}
    for name in ("config.toml", "encoder.json", "tokenizer.json", "best.safetensors"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    best = checkpoints.load(tmp_path / "run" / "best.safetensors")
    assert best.facts["conll_f1"] == max(line["conll_f1"] for line in epochs)


def test_a_run_that_recalls_learns_whom_to_recall(tiny: list[str], tmp_path: Path) -> None:
    losses = {}
    for recall in ("true", "false"):
        settings = [*tiny, "train.epochs=6", "train.cells=[1]", f"train.recall={recall}"]
        run(load_config(CONFIGS / "tiny.toml", settings), tmp_path / recall)
        log = [json.loads(line) for line in (tmp_path / recall / "log.jsonl").read_text().splitlines()]
        steps = [line for line in log if line["event"] == "step" and line["phase"] == "clusters"]
        losses[recall] = [sum(line["link"] for line in steps[at : at + 6]) for at in range(0, len(steps), 6)]
    # While few mentions are proposed nobody is evicted; then whom to recall is learned besides, by the same scores.
    assert losses["true"][0] == losses["false"][0]
    assert losses["true"][-1] > losses["false"][-1]
    assert losses["true"][-1] < 0.8 * max(losses["true"])


def test_a_run_that_follows_its_own_decisions_learns_what_would_be_right_after_them(
    tiny: list[str], tmp_path: Path
) -> None:
    settings = [*tiny, "train.epochs=12", "train.patience=12", "train.recall=true", "train.own_decisions=1.0"]
    run(load_config(CONFIGS / "tiny.toml", settings), tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    scores = [line["conll_f1"] for line in log if line["event"] == "epoch"]
    assert max(scores) > 60 > scores[0]


def test_of_a_document_with_known_links_only_nothing_else_is_learned(tiny: list[str], tmp_path: Path) -> None:
    config = load_config(CONFIGS / "tiny.toml", tiny)
    trainer = Trainer(config, tmp_path / "run", read_part(config.data, "train"), read_part(config.data, "dev"))
    model, encoder = trainer.model, trainer.model.encoder
    example = replace(prepare(read_part(config.data, "train")[0], encoder.tokenizer, config), known="links")
    kept: list[torch.Tensor] = []
    score = model.heads.mention_scores
    model.heads.mention_scores = lambda *given: kept.append(score(*given)) or kept[-1].retain_grad() or kept[-1]
    vectors = encoder.encode(example.pieces.ids, example.windows)
    losses = model.losses(example, vectors, memory_policy("unbounded", None), np.random.default_rng(0))
    losses.mention.backward()
    (grid,) = kept
    pushed = grid.grad != 0
    assert pushed.sum() == len(example.gold)
    assert (torch.from_numpy(example.gold_grid).bool() == pushed).all()
    assert (grid.grad[pushed] < 0).all()
    assert (losses.option, losses.label) == (0, 0)


def test_a_label_counts_as_much_as_it_is_likely(tiny: list[str], tmp_path: Path) -> None:
    config = load_config(CONFIGS / "tiny.toml", [*tiny, "train.epochs=0"])
    trainer = run(config, tmp_path / "run")
    (document, *_) = read_part(config.data, "train")
    losses = []
    for score in (None, 1.0, 0.25, 0.0):
        clusters = [
            replace(cluster, mentions=tuple(replace(mention, score=score) for mention in cluster.mentions))
            for cluster in document.clusters
        ]
        example = prepare(document.with_clusters(clusters), trainer.model.encoder.tokenizer, config)
        example = replace(example, known="links")  # no proposal that is none, whose label no model gave
        vectors = trainer.model.encoder.encode(example.pieces.ids, example.windows)
        policy = memory_policy("unbounded")
        losses.append(trainer.model.losses(example, vectors, policy, np.random.default_rng(0)).link.item())
    assert losses[0] == losses[1] > 0
    assert losses[2:] == pytest.approx([losses[0] / 4, 0])


def test_a_run_may_keep_its_last_epoch(tiny: list[str], tmp_path: Path) -> None:
    settings = [*tiny, "train.epochs=3", "train.rate=0.5", "train.keep=last"]  # the rate is too high to learn anything
    trainer = run(load_config(CONFIGS / "tiny.toml", settings), tmp_path / "run")
    kept = checkpoints.load(tmp_path / "run" / "best.safetensors")
    assert kept.facts["epoch"] == 3
    last = checkpoints.load(tmp_path / "run" / "last.safetensors").part("average")
    assert all(torch.equal(kept.tensors[name], value) for name, value in last.items())
    assert trainer._state["best"]["epoch"] == 3


def test_no_document_comes_again_before_all_have_come(tiny: list[str], tmp_path: Path) -> None:
    settings = [*tiny, "data.documents=2", "train.pretrain_epochs=0", "train.epochs=5", "train.patience=5"]
    trainer = run(load_config(CONFIGS / "tiny.toml", settings), tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [line["documents"] for line in log if line["event"] == "step"] == [2] * 10
    phase = trainer.phases[1]
    trainer._state["waiting"] = [[]]
    met = [number for _ in range(6) for number in trainer._order(phase)]
    assert sorted(met[:6]) == sorted(met[6:]) == list(range(6))


def test_noun_phrases_teach_no_score_of_mentions(tiny: list[str], tmp_path: Path) -> None:
    config = load_config(CONFIGS / "tiny.toml", tiny)
    extra = ExtraConfig(train=str(config.data.train), format=config.data.format, phrases_only=True)
    config = replace(config, data=replace(config.data, extra=(extra,)))
    trainer = Trainer(config, tmp_path / "run", read_part(config.data, "train"), read_part(config.data, "dev"))
    model = trainer.model
    example = replace(prepare(read_part(config.data, "train")[0], model.encoder.tokenizer, config), known="phrases")
    vectors = model.encoder.encode(example.pieces.ids, example.windows)
    losses = model.losses(example, vectors, memory_policy("unbounded", None), np.random.default_rng(0))
    losses.total(1, 1).backward()
    assert losses.mention > 0 == losses.link
    assert model.phrases is not None
    assert model.phrases.weight.grad.any()
    assert model.heads.mention.hidden.weight.grad.any()
    assert model.heads.mention.output.weight.grad is None
    assert not any(name.startswith("phrases") for name in model.heads.state_dict())  # nothing of it is exported


def test_a_run_with_further_features_starts_where_the_other_ended(tiny: list[str], tmp_path: Path) -> None:
    known = list(load_config(CONFIGS / "tiny.toml").model.features)
    short = [*tiny, "train.pretrain_epochs=0", "train.epochs=0"]

    def scores(name: str, *settings: str) -> dict[str, float]:
        run(load_config(CONFIGS / "tiny.toml", [*short, *settings]), tmp_path / name)
        line = (tmp_path / name / "log.jsonl").read_text().splitlines()[-1]
        return {key: value for key, value in json.loads(line).items() if key != "seconds"}

    def features(*names: str) -> str:
        return f"model.features={json.dumps(names)}"

    start = f"train.start={tmp_path / 'first'}"
    assert scores("first", "train.epochs=1") | {"epoch": 0} == scores("more", start, features(*known, "spoke", "heard"))
    with pytest.raises(ConfigError, match="belong to other models"):
        scores("other", start, features("spoke", *known))


def test_a_run_may_have_types_that_its_start_lacks(tiny: list[str], tmp_path: Path) -> None:
    def head(name: str, *settings: str) -> tuple[torch.Tensor, torch.Tensor]:
        short = [*tiny, "train.pretrain_epochs=0", "train.epochs=0", *settings]
        run(load_config(CONFIGS / "tiny.toml", short), tmp_path / name)
        weights = final(tmp_path / name)
        return weights["model/heads.type_head.weight"], weights["model/heads.type_head.bias"]

    first = head("first", 'model.types=["PER", "ORG"]')
    more = head("more", 'model.types=["ORG", "THING", "PER"]', f"train.start={tmp_path / 'first'}")
    for known, found in zip(first, more, strict=True):
        torch.testing.assert_close(found, torch.stack([known[1], 0 * known[0], known[0]]))


KILLED = """
import os, sys
from pathlib import Path
from longcoref.config import load_config
from longcoref.formats import read_part
from longcoref.training.loop import Trainer
folder, config, *settings = sys.argv[1:]
config = load_config(config, settings)
def report(event):
    if event.get("phase") == "clusters" and event["epoch"] == 1 and event["place"] == 4:
        os.kill(os.getpid(), 9)
Trainer(config, Path(folder), read_part(config.data, "train"), read_part(config.data, "dev"), report=report).train()
"""


def test_a_run_killed_in_mid_epoch_and_resumed_ends_with_the_same_weights(tiny: list[str], tmp_path: Path) -> None:
    config = CONFIGS / "tiny.toml"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(config), *tiny]
    assert subprocess.run(command, check=False).returncode == -9
    loaded = load_config(config, tiny)
    run(loaded, tmp_path / "killed", resume=True)
    run(loaded, tmp_path / "whole")
    killed, whole = final(tmp_path / "killed"), final(tmp_path / "whole")
    assert killed.keys() == whole.keys()
    assert [name for name in whole if not torch.equal(killed[name], whole[name])] == []
    logs = [(tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("killed", "whole")]
    lines = [[{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in log] for log in logs]
    assert lines[0] == lines[1]


def test_another_seed_gives_other_weights(tiny: list[str], tmp_path: Path) -> None:
    short = [*tiny, "train.epochs=1"]
    for seed in (0, 1):
        run(load_config(CONFIGS / "tiny.toml", [*short, f"train.seed={seed}"]), tmp_path / str(seed))
    assert not torch.equal(*(final(tmp_path / str(seed))["model/heads.link.hidden.weight"] for seed in (0, 1)))


def test_a_run_starts_from_the_mean_of_several(tiny: list[str], tmp_path: Path) -> None:
    short = [*tiny, "train.epochs=1"]
    runs = [tmp_path / seed for seed in "01"]
    for seed, folder in enumerate(runs):
        run(load_config(CONFIGS / "tiny.toml", [*short, f"train.seed={seed}"]), folder)
    both = [*tiny, f"train.start={runs[0]},{runs[1]}", "train.pretrain_epochs=0", "train.epochs=0"]
    run(load_config(CONFIGS / "tiny.toml", both), tmp_path / "both")
    first, second, mean = (load_file(folder / "best.safetensors") for folder in (*runs, tmp_path / "both"))
    assert mean.keys() == first.keys()
    for name, value in mean.items():
        torch.testing.assert_close(value, (first[name] + second[name]) / 2)
    assert "conll_f1" in checkpoints.load(tmp_path / "both" / "best.safetensors").facts
    with pytest.raises(ConfigError, match="belong to other models"):
        run(load_config(CONFIGS / "tiny.toml", [*short, f"train.start={runs[0]}", "model.hidden=7"]), tmp_path / "no")


def test_a_damaged_checkpoint_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "last.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match="not a checkpoint"):
        checkpoints.load(tmp_path / "last.safetensors")


def test_the_rate_rises_and_then_falls_to_nothing() -> None:
    rates = [schedule(step / 100, 0.1) for step in range(101)]
    assert max(rates) == pytest.approx(1.0, abs=0.01)
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[:10] == sorted(rates[:10])
    assert rates[-1] == 0
    assert schedule(0.0, 0.0) == 1.0


def test_a_cropped_document_keeps_only_what_lies_inside() -> None:
    document = document_of_words(
        "d",
        [["a", "b", "c"], ["d", "e"], ["f", "g"]],
        clusters=[cluster_of([(0, 1), (2, 4), (5, 6)]), cluster_of([(6, 7)]), cluster_of([(0, 2), (5, 7), (1, 2)])],
    )
    part = document.crop(WordSpan(1, 6))
    assert part.words == ("b", "c", "d", "e", "f")
    assert part.sentences == (WordSpan(0, 2), WordSpan(2, 4), WordSpan(4, 5))
    assert [cluster.spans for cluster in part.clusters] == [(WordSpan(1, 3), WordSpan(4, 5)), (WordSpan(0, 1),)]


def test_every_config_that_ships_can_be_read() -> None:
    for path in CONFIGS.glob("*.toml"):
        config = load_config(path)
        assert np.all(np.array(config.train.cells) >= 0)


def test_a_corpus_that_is_not_there_is_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGCOREF_DATA", str(tmp_path))
    with pytest.raises(ConfigError, match="there is no corpus at"):
        find_data("nowhere")
    with pytest.raises(ConfigError, match="names no dev documents"):
        read_part(Config().data, "dev")


def test_possessors_get_their_ending_once_and_verbs_stay_outside() -> None:
    sentences = [
        ["Ann", "'s", "aunt", "met", "Bob", "’s", "cat", "."],
        ["It", "'s", "late", "and", "Ann", "'s", "not", "in"],
    ]
    clusters = [
        cluster_of([WordSpan(0, 1), WordSpan(12, 13)]),  # Ann
        cluster_of([WordSpan(0, 3)]),
        cluster_of([WordSpan(4, 5), WordSpan(4, 6)]),  # Bob, and Bob’s, which has its ending
        cluster_of([WordSpan(8, 9)]),
    ]
    document = document_of_words("a", sentences, clusters=clusters)
    extended = add_endings(document)
    assert [list(cluster.spans) for cluster in extended.clusters or ()] == [
        [(0, 2), (12, 13)],
        [(0, 3)],
        [(4, 5), (4, 6)],
        [(8, 9)],
    ]
    assert add_endings(extended) == extended
