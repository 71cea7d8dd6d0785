# Everything that people and CI run. Each target sets up what it needs on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# The index that is served: the sample's, unless another is named (make serve INDEX=medline).
INDEX ?= data/sample-index

.PHONY: demo test check bench serve clean

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

demo: $(INSTALLED)
	$(BIN)/bioqa demo --index data/sample-index

test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/audit.py

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement bench/requirements.txt
	$(BIN)/python -m bench

serve: $(INSTALLED)
	$(BIN)/bioqa serve --index $(INDEX)

clean:
	rm -rf $(VENV)
