"""The same settings mean the same everywhere: in Python, on the command line, in spaCy and on the server.

A model says which memory it uses by default; every surface uses that memory unless it is told otherwise.
"""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import longcoref
from longcoref.cli import main
from longcoref.cli.bench import _capacity
from longcoref.config import MemoryConfig
from longcoref.errors import UsageError
from longcoref.memory import POLICIES, RuleMemory, WithRecall, chosen_policy
from longcoref.runtime.model import open_model

TEXT = (
    "“Ann saw the old mill,” said Tom. “I left it.” She met him. Ruth liked the barn. Carl saw the inns. "
    "“You saw Ruth,” said Ann. He met her. The dog saw a cat, a bird, a boat, a barn, an inn and the old mills. "
) * 3

memories = st.builds(
    MemoryConfig, policy=st.sampled_from(list(POLICIES)), cells=st.integers(0, 50), recall=st.booleans()
)


@given(memories)
def test_without_options_the_memory_is_the_models_own(own: MemoryConfig) -> None:
    policy = chosen_policy(own)
    bounded = own.policy in ("learned", "rule")
    assert (policy.name, policy.capacity, policy.recalls) == (
        own.policy,
        (own.cells or None) if bounded else None,
        own.recall,
    )


@given(memories, st.sampled_from([None, *POLICIES]), st.none() | st.integers(1, 50), st.none() | st.booleans())
def test_each_option_overrides_one_setting(
    own: MemoryConfig, memory: str | None, cells: int | None, recall: bool | None
) -> None:
    name = memory or own.policy
    if cells is not None and name not in ("learned", "rule"):
        with pytest.raises(UsageError, match="has no capacity"):
            chosen_policy(own, memory=memory, cells=cells, recall=recall)
        return
    changed = MemoryConfig(name, own.cells if cells is None else cells, own.recall if recall is None else recall)  # type: ignore[arg-type]
    assert chosen_policy(own, memory=memory, cells=cells, recall=recall) == chosen_policy(changed)


@pytest.fixture(scope="module")
def rule_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, whose own memory has a rule, 2 cells and recall."""
    folder = tmp_path_factory.mktemp("models") / "rule"
    shutil.copytree(tiny_model, folder)
    facts = (folder / "model.toml").read_text(encoding="utf-8")
    own = '[memory]\npolicy = "learned"\ncells = 20\nrecall = false\n'
    assert own in facts
    changed = facts.replace(own, '[memory]\npolicy = "rule"\ncells = 2\nrecall = true\n')
    (folder / "model.toml").write_text(changed, encoding="utf-8")
    return folder


MEMORY = {"policy": "rule", "capacity": 2}


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    assert not done.value.code, shown.err
    return json.loads(shown.out)


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_python_and_the_command_line_use_the_models_memory(
    rule_model: Path, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resolver = longcoref.load(rule_model, threads=1)
    assert resolver.policy == WithRecall(RuleMemory(2))
    expected = json.loads(resolver(TEXT, id="story").to_json())
    resolved = printed(capsys, "resolve", story, "--model", rule_model, "--threads", 1)
    assert resolved == expected
    assert resolved["memory"] == MEMORY
    stored = tmp_path / "story.json"
    stored.write_text(json.dumps(resolved), encoding="utf-8")
    assert printed(capsys, "evaluate", "--model", rule_model, "--data", stored, "--json")["memory"] == MEMORY
    assert _capacity(str(rule_model), None) == 2
    for option, policy in (
        ({"memory": "learned"}, "LearnedMemory"),
        ({"cells": 3}, "RuleMemory"),
        ({"recall": False}, "RuleMemory"),
    ):
        chosen = longcoref.load(rule_model, threads=1, **option).policy
        assert policy in repr(chosen)
        assert chosen.recalls == ("recall" not in option)


def test_spacy_uses_the_models_memory_and_keeps_quotations(rule_model: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc, DocBin

    resolver = longcoref.load(rule_model, threads=1)
    nlp = spacy.blank("en")
    nlp.add_pipe("longcoref", config={"model": str(rule_model), "threads": 1})
    assert nlp.get_pipe("longcoref").resolver.policy == resolver.policy
    doc = nlp(TEXT)
    expected = nlp.get_pipe("longcoref").predict([nlp.make_doc(TEXT)])[0]
    assert len(expected.quotes) > 1
    assert doc._.coref.quotes == expected.quotes
    assert (doc._.coref.memory, doc._.coref.capacity) == ("rule", 2)
    (stored,) = DocBin(docs=[doc]).from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    assert isinstance(stored, Doc)
    assert stored._.coref == doc._.coref
    assert nlp(doc.copy())._.coref == doc._.coref


def test_spacy_takes_every_setting_of_load(rule_model: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from longcoref.spacy_component import make_longcoref

    settings = set(inspect.signature(longcoref.load).parameters)
    filters = set(inspect.signature(longcoref.Result.select).parameters) - {"self"}
    assert set(inspect.signature(make_longcoref).parameters) == {"nlp", "name"} | settings | filters
    given = {"memory": "learned", "cells": 3, "recall": False, "post_processing": "none", "threads": 1, "style": None}
    assert set(given) == settings - {"model"}
    nlp = spacy.blank("en")
    nlp.add_pipe("longcoref", config={"model": str(rule_model), **given})
    own = nlp.get_pipe("longcoref").resolver
    wanted = longcoref.load(rule_model, **given)
    assert (own.policy, own.book) == (wanted.policy, wanted.book)
    assert nlp(TEXT)._.coref.quotes == ()


def test_the_server_uses_the_models_memory(rule_model: Path) -> None:
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from longcoref.server.app import build_app

    resolver = longcoref.load(rule_model, threads=1)
    with TestClient(build_app(resolver), base_url="http://127.0.0.1") as client:

        def answer(**fields: object) -> Any:
            return client.post("/v1/resolve", json={"text": TEXT, **fields}).json()

        assert answer() == resolver(TEXT).as_json()  # with recall, which shows in the clusters
        assert answer(memory="learned")["memory"] == {"policy": "learned", "capacity": 2}
        alone = longcoref.load(rule_model, threads=1, recall=False)(TEXT).as_json()
        assert alone != resolver(TEXT).as_json()


def test_a_config_says_which_memory_cross_validation_scores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipes = []

    def recorded(recipe: Any, *_: object) -> Any:
        recipes.append(recipe)
        raise UsageError("enough")

    monkeypatch.setattr("longcoref.training.crossval.fold_tasks", recorded)
    config = tmp_path / "config.toml"
    config.write_text('[memory]\npolicy = "rule"\ncells = 4\n', encoding="utf-8")
    for options in ([], ["--cells", "9"], ["--memory", "unbounded"], ["--set", "memory.cells=5"]):
        with pytest.raises(SystemExit):
            main(["crossval", str(config), "--out", str(tmp_path / "out"), "--folds", "0", *options])
    assert [recipe.memory for recipe in recipes] == ["rule-4", "rule-9", "unbounded", "rule-5"]


def test_the_runtime_default_is_written_once() -> None:
    """A model without [memory] uses the defaults of the config, and nothing else knows a number."""
    assert chosen_policy(MemoryConfig()).capacity == open_model().config.memory.cells == MemoryConfig().cells
