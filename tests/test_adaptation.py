"""Adaptation: whole words are masked, names and pronouns above all; it learns, resumes, and leaves an encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file

from longcoref.cli import main
from longcoref.cli.options import numbers_of
from longcoref.errors import ConfigError, UsageError
from longcoref.nn.encoder import Encoder
from longcoref.runtime.pieces import Tokenizer
from longcoref.training import adaptation
from longcoref.training.adaptation import Adaptation, AdaptationSettings, mask_words, stretches
from tiny import tiny_documents, write_tiny_encoder

SETTINGS = AdaptationSettings(pieces=16 * 4 * 60, window=16, windows=4, rate=3e-3)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_encoder(tmp_path_factory.mktemp("adaptation") / "encoder")


def story(seed: int) -> str:
    """A text in the words of the tiny corpus."""
    (document,) = tiny_documents(1, seed, sentences=120)
    return "\n".join(" ".join(sentence) for sentence in document["sentences"])


def test_stretches_are_consecutive_windows_of_the_text(encoder: Path) -> None:
    tokenizer = Tokenizer.open(encoder / "tokenizer.json")
    found = stretches(story(1), tokenizer, SETTINGS)
    assert len(found) > 5
    for stretch in found:
        assert len(stretch.windows) == SETTINGS.windows
        assert stretch.windows[0].start == 0
        assert stretch.windows[-1].end == len(stretch.ids) == len(stretch.words)
        assert stretch.words[0] == 0
        assert len(stretch.telling) == stretch.words[-1] + 1
    text = [tokenizer.word(word)[0] for word in story(1).split()]
    read = np.concatenate([stretch.ids for stretch in found]).tolist()
    assert read == text[: len(read)]


def test_names_and_pronouns_are_masked_more_often_and_words_whole(encoder: Path) -> None:
    tokenizer = Tokenizer.open(encoder / "tokenizer.json")
    random = np.random.default_rng(0)
    counts = {True: [0, 0], False: [0, 0]}
    for stretch in stretches("Then Ann saw Tom . Ruth met the mills . " * 300, tokenizer, SETTINGS):
        ids, places = mask_words(stretch, tokenizer.mask, len(ids_known(tokenizer)), random)
        masked = np.zeros(len(ids), bool)
        masked[places] = True
        assert (ids[~masked] == stretch.ids[~masked]).all()
        for word, telling in enumerate(stretch.telling):
            pieces = masked[stretch.words == word]
            assert pieces.all() or not pieces.any()
            counts[bool(telling)][0] += bool(pieces[0])
            counts[bool(telling)][1] += 1
    shares = {telling: chosen / total for telling, (chosen, total) in counts.items()}
    assert shares[True] == pytest.approx(adaptation.TELLING, abs=0.05)
    assert shares[False] == pytest.approx(adaptation.OTHER, abs=0.05)


def ids_known(tokenizer: Tokenizer) -> list[str]:
    return list(json.loads(tokenizer.definition)["model"]["vocab"])


def test_it_learns_to_guess_and_leaves_an_encoder(encoder: Path, tmp_path: Path) -> None:
    texts = [story(seed) for seed in range(4)]
    facts = Adaptation(str(encoder), texts, tmp_path / "out", SETTINGS).run()
    log = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    before = next(line for line in log if line["event"] == "held_out")
    assert facts["held_out_loss"] < before["held_out_loss"] - 0.5
    adapted = Encoder.load(tmp_path / "out")
    assert adapted.fingerprint() != Encoder.load(encoder).fingerprint()
    assert not (tmp_path / "out" / "last.safetensors").exists()


def test_a_killed_adaptation_ends_as_a_whole_one(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptation, "CHECKPOINT_STEPS", 7)
    texts = [story(seed) for seed in range(2)]

    def killed(event: dict[str, object]) -> None:
        if event.get("step") == 17:
            raise KeyboardInterrupt

    settings = AdaptationSettings(pieces=16 * 4 * 24, window=16, windows=4)
    Adaptation(str(encoder), texts, tmp_path / "whole", settings).run()
    with pytest.raises(KeyboardInterrupt):
        Adaptation(str(encoder), texts, tmp_path / "parts", settings, report=killed).run()
    Adaptation(str(encoder), texts, tmp_path / "parts", settings, resume=True).run()
    whole, parts = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_another_run_is_not_overwritten_or_mixed(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="too little text"):
        Adaptation(str(encoder), ["Ann saw Tom ."], tmp_path / "short", SETTINGS)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "story.txt").write_text(story(1), encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "log.jsonl").touch()
    with pytest.raises(SystemExit) as stopped:
        main(["adapt", str(tmp_path / "texts"), "--out", str(tmp_path / "out"), "--encoder", str(encoder)])
    assert stopped.value.code == 2


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers_of("0-2") == [0, 1, 2]
    assert numbers_of("0, 3,5-6") == [0, 3, 5, 6]
    with pytest.raises(UsageError, match="such as 0-2"):
        numbers_of("first")
