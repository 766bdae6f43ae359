# The project's commands. Each works in a bare clone: python3 and make are all that it needs.
#
#   make demo     run the demonstration
#   make test     everything that must hold before a change lands
#   make check    the fast part of it, for the inner loop
#   make every-call  all tests, with every program compiled and checked on every call; goes on where it was broken off
#   make bench    side by side with NumPy, JAX on the CPU and hand-written Numba
#   make format   rewrite the source in the project's format
#   make lock     renew requirements.lock, the versions that all of these install
#   make test-lowest, make test-newest
#                 the quick tests with the lowest versions that pyproject.toml declares, and with the newest ones
#   make test-machines
#                 the quick tests as on other processors: see tests/machines.py

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
STAMP := $(VENV)/.installed
LOCK := requirements.lock

.PHONY: demo test check every-call bench format lint lint-format lint-rules lint-contracts lint-types unit quick clean lock test-lowest test-newest \
	test-machines

demo: $(STAMP)-demo
	$(BIN)/python -m notebooks.demo

# Types are checked beside the tests: it takes a minute of one core.
test: $(STAMP)-test
	$(MAKE) --jobs=2 lint unit

check: $(STAMP)-test
	$(MAKE) --jobs=2 lint quick

every-call: $(STAMP)-test
	$(BIN)/python -m tests.every_call -n $(WORKERS) --dist worksteal

bench: $(STAMP)-bench
	$(BIN)/python -m numhlo cache prepare --package
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.cold

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

test-machines: $(STAMP)-test
	$(BIN)/python -m tests.machines -- -q -n $(WORKERS) --dist worksteal -m "not slow"

# Environments of their own, so that neither changes the one that everything else runs in.
test-lowest test-newest: test-%: $(VENV)-%/.installed
	$(VENV)-$*/bin/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

$(VENV)-lowest/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(PYTHON) -m tests.architecture.lowest > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/python -m pip install --quiet --constraint $(VENV)-lowest/constraints.txt --editable '.[test]'
	@touch $@

# Made anew each time: what is newest changes without a change here.
.PHONY: $(VENV)-newest/.installed
$(VENV)-newest/.installed:
	$(PYTHON) -m venv --clear $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install --quiet --editable '.[test]'

lock:
	$(PYTHON) -m venv --clear $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --editable '.[bench,docs,test]'
	$(VENV)-lock/bin/python -m tests.architecture.lock
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) $(VENV)-lock $(VENV)-lowest $(VENV)-newest build dist .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# A stamp per extra, renewed when pyproject.toml or the lock file changes: an environment is made once and never edited
# by hand. The tool that builds the project's own package comes first, since pip would take its newest version for that.
$(STAMP)-%: pyproject.toml $(LOCK) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint $(LOCK) hatchling
	$(BIN)/python -m pip install --quiet --constraint $(LOCK) --no-build-isolation --editable '.[$*]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("numhlo needs Python 3.11 or newer; this is " + sys.version if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
