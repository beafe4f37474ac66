# make demo and make test set up all they need, in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# runs with the newest numpy, scipy and pandas, but asks for old ones
IRRCAC := irrCAC==0.4.4

.PHONY: demo test lint types check fuzz bench study docs oldest clean

demo: .venv/installed
	$(BIN)/scorewise demo

test: .venv/tested lint types check

lint: .venv/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: .venv/tested
	$(BIN)/mypy

# two processes, of which neither starts threads of its own
check: .venv/tested
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# as long as told (make fuzz MINUTES=30); what it finds is in fuzz/found
MINUTES ?= 5
fuzz: .venv/tested
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz --minutes $(MINUTES)

bench: .venv/tested
	$(BIN)/python -m benchmarks

# what is simulated or measured on data: `make study` lists, `make study NAME=coverage` runs one
study: .venv/tested
	$(BIN)/python -m studies $(NAME)

docs: .venv/documented
	$(BIN)/python docs/make.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# the oldest versions that pyproject.toml allows, in an environment of their own
oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint constraints-oldest.txt --editable '.[test]'
	.venv-oldest/bin/python -m pip install --quiet --no-deps $(IRRCAC)
	.venv-oldest/bin/python -m pytest -n 2 --dist worksteal

clean:
	rm -rf .venv .venv-oldest site scorewise-demo

.venv/made:
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/made pyproject.toml
	$(PIP) --editable .
	touch $@

.venv/tested: .venv/made pyproject.toml
	$(PIP) --editable '.[test]'
	$(PIP) --no-deps $(IRRCAC)
	touch $@ .venv/installed

.venv/documented: .venv/tested
	$(PIP) --editable '.[test,docs]'
	touch $@
