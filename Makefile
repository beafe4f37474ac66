# make demo and make test set up all they need, in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# as pip does it for a wheel, so that a command starts as fast as an installed one
COMPILED := $(BIN)/python -m compileall -q src
# runs with the newest numpy, scipy and pandas, but asks for old ones
IRRCAC := irrCAC==0.4.4

.PHONY: demo test lint types check fuzz bundle bench study docs oldest clean

demo: .venv/installed
	$(BIN)/scorewise demo

test: .venv/tested web/node_modules lint types check

lint: .venv/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: .venv/tested
	$(BIN)/mypy

# two processes, of which neither starts threads of its own
check: .venv/tested web/node_modules
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# as long as told (make fuzz MINUTES=30); what it finds is in fuzz/found
MINUTES ?= 5
fuzz: .venv/tested
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz --minutes $(MINUTES)

# the scripts that a report carries, from their sources
bundle: web/node_modules
	cd web && npm run --silent build

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
	rm -rf .venv .venv-oldest site scorewise-demo web/node_modules

.venv/made:
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/made pyproject.toml
	$(PIP) --editable .
	$(COMPILED)
	touch $@

.venv/tested: .venv/made pyproject.toml
	$(PIP) --editable '.[test]'
	$(PIP) --no-deps $(IRRCAC)
	$(COMPILED)
	touch $@ .venv/installed

.venv/documented: .venv/tested
	$(PIP) --editable '.[test,docs]'
	touch $@

# a browser for the tests of the report, Node to build it, and Java for PySpark: Debian's packages, where
# they may be installed
TOOLS = command -v chromium >/dev/null || echo chromium fonts-dejavu-core; \
	command -v node >/dev/null || echo nodejs; command -v npm >/dev/null || echo npm; \
	command -v java >/dev/null || echo default-jre-headless
.venv/tools: .venv/made
	@absent=$$($(TOOLS)); \
	if [ -z "$$absent" ]; then touch $@; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $$absent >/dev/null && touch $@; \
	else echo "not installed, so that tests of the report or of PySpark are skipped: $$absent"; fi

web/node_modules: .venv/tools web/package-lock.json
	@if command -v npm >/dev/null; then cd web && npm ci --silent && touch node_modules; fi
