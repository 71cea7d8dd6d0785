# Everything that people and CI run. Each target sets up what it needs on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALLED := $(VENV)/.installed
# The index that is served: the sample's, unless another is named (make serve INDEX=medline).
INDEX ?= data/sample-index
# Which build of torch: cpu, cu130, … (uv knows where each is kept), or empty for what pip finds.
TORCH_BACKEND ?=
# Of make lock: --upgrade takes the newest versions; without it, those locked stay where they can.
UPGRADE ?=

# Installs torch for the python that is given.
ifeq ($(TORCH_BACKEND),)
TORCH = $(1) -m pip install --quiet --disable-pip-version-check --requirement requirements/torch.txt
else
TORCH = $(BIN)/uv pip install --quiet --python $(1) --torch-backend $(TORCH_BACKEND) --requirements requirements/torch.txt
endif

.PHONY: demo test check docs bench serve lock minimums clean

$(INSTALLED): pyproject.toml setup.py requirements/development.txt requirements/torch.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements/development.txt
	$(call TORCH,$(BIN)/python)
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(PIP) check
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

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(INSTALLED)
	$(PIP) install --requirement bench/requirements.txt
	$(BIN)/python -m bench

serve: $(INSTALLED)
	$(BIN)/bioqa serve --index $(INDEX)

# The locks, renewed; see docs/packaging.md. It must also work where the old locks no longer fit pyproject.toml.
COMPILE := $(BIN)/uv pip compile --quiet $(UPGRADE) --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" --no-emit-package torch \
	--excludes requirements/cuda.txt --overrides requirements/torch.txt
lock: $(BIN)/uv
	$(COMPILE) pyproject.toml --extra dev -o requirements/development.txt
	$(COMPILE) pyproject.toml --extra otel --constraints requirements/development.txt -o requirements/service.txt
	printf 'setuptools\nuv\n' | $(COMPILE) - --constraints requirements/development.txt -o requirements/build.txt

# The tests, with the lowest versions of bioqa's own dependencies and the newest of all others that fit them. Without
# mcp, which has newer ones of some of them. Old starlette's test client wants httpx; old versions may warn.
LOW := .venv-minimums
LOWEST := $(BIN)/uv pip compile --quiet --upgrade --python $(LOW)/bin/python --no-header --no-emit-package torch \
	--excludes requirements/cuda.txt --overrides requirements/torch.txt --extra otel --extra train
minimums: $(INSTALLED)
	test -x $(LOW)/bin/python || $(PYTHON) -m venv $(LOW)
	$(LOWEST) pyproject.toml --resolution lowest-direct -o $(LOW)/lowest.txt
	echo httpx | $(LOWEST) pyproject.toml --extra test - --constraints $(LOW)/lowest.txt -o $(LOW)/all.txt
	$(LOW)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(LOW)/all.txt
	$(call TORCH,$(LOW)/bin/python)
	$(LOW)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(LOW)/bin/python -m pytest -n auto --dist worksteal -o filterwarnings=default -W default --ignore tests/app/mcp \
		--ignore tests/app/cli/test_assistants.py

$(BIN)/uv:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements/build.txt

clean:
	rm -rf $(VENV) .venv-minimums
