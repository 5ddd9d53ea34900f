"""Configs: every key is checked, and what is written is read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.config import Config, ModelConfig, TrainConfig, config_from, config_table, dump_toml, load_config
from longcoref.errors import ConfigError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_are_laid_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "[train]\nseed = 1\nrate = 1\n[model]\nfeatures = ['count']\n")
    config = load_config(path, ["train.seed=3", "encoder.overlap=0.25", "train.cells=[5, 20]"])
    assert config.train == TrainConfig(seed=3, rate=1.0, cells=(5, 20))
    assert config.model == ModelConfig(features=("count",))
    assert config.encoder.overlap == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[train]\nsede = 1", "unknown key 'train.sede'; did you mean 'train.seed'"),
        ("[trian]\nseed = 1", "unknown key 'trian'; did you mean 'train'"),
        ("[train]\nseed = 'one'", "train.seed: expected int, got 'one'"),
        ("[train]\nseed = true", "train.seed: expected int, got true"),
        ("[train]\ncells = 5", "train.cells: expected a list, got 5"),
        ("[model]\nunit = 'wordz'", "model.unit: unknown value 'wordz'; did you mean 'words'"),
        ("train = 3", r"\[train\] must be a table"),
        ("[train", "is not valid TOML"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(write(tmp_path, text))
    assert "config.toml" in str(caught.value)


def test_a_setting_without_a_section_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected section\.key=value"):
        load_config(write(tmp_path, ""), ["seed=3"])


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")


@given(
    st.builds(
        TrainConfig, seed=st.integers(0, 9), rate=st.floats(1e-9, 1), cells=st.lists(st.integers(0, 99)).map(tuple)
    )
)
def test_a_config_survives_being_written(train: TrainConfig) -> None:
    config = Config(train=train)
    assert config_from(config_table(config), "here") == config


def test_toml_text_survives_quotes_and_lines(tmp_path: Path) -> None:
    table = {"data": {"path": 'a "quoted"\\path\nline', "keep_singletons": False}, "model": {"kinds": ["a", "b"]}}
    config = load_config(write(tmp_path, dump_toml(table)))
    assert config.data.path == 'a "quoted"\\path\nline'
    assert (config.data.keep_singletons, config.model.kinds) == (False, ("a", "b"))
