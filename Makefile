# The project's commands. Each works in a bare clone: python3 and make are all that it needs.
#
#   make demo     run the demonstration
#   make test     everything that must hold before a change lands
#   make check    the fast part of it, for the inner loop
#   make bench    side by side with NumPy, JAX on the CPU and hand-written Numba
#   make format   rewrite the source in the project's format

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
STAMP := $(VENV)/.installed

.PHONY: demo test check bench format lint lint-format lint-rules lint-contracts lint-types unit quick clean

demo: $(STAMP)-demo
	$(BIN)/python -m notebooks.demo

# Types are checked beside the tests: it takes a minute of one core.
test: $(STAMP)-test
	$(MAKE) --jobs=2 lint unit

check: $(STAMP)-test
	$(MAKE) --jobs=2 lint quick

bench: $(STAMP)-bench
	$(BIN)/python -m benchmarks

format: $(STAMP)-test
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .

# Steps of their own, so that `make --keep-going` reports on all of them.
lint: lint-format lint-rules lint-contracts lint-types

lint-format: $(STAMP)-test
	$(BIN)/ruff format --check .

lint-rules: $(STAMP)-test
	$(BIN)/ruff check .

lint-contracts: $(STAMP)-test
	$(BIN)/lint-imports --no-logo

lint-types: $(STAMP)-test
	$(BIN)/mypy

# tests/conftest.py says which tests measure coverage.
unit: $(STAMP)-test
	$(PYTEST) --cov --cov-report=term

quick: $(STAMP)-test
	$(PYTEST) -m "not slow"

clean:
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# A stamp per extra, renewed when pyproject.toml changes: an environment is made once and never edited by hand.
$(STAMP)-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("numhlo needs Python 3.11 or newer; this is " + sys.version if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
