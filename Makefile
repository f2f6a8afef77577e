# Each target sets itself up: the environment lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
PACKAGES := core plugins/match-gap9 plugins/match-carfield plugins/match-ita plugins/match-diana plugins/match-dnnl
PROJECTS := pyproject.toml $(PACKAGES:%=%/pyproject.toml)

# Tests start `match` hundreds of times: without bytecode on disk, each would compile all of its modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slow test-qemu test-mutants test-modes test-transformers conformance lint bench bench-grid bench-l1 bench-prediction bench-exhaustive bench-zigzag bench-side-by-side bench-transformers bench-diana bench-host bench-riscv bench-dnnl wheels clean

$(STAMP): $(PROJECTS) requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PACKAGES:%=-e %)
	touch $@

demo: $(STAMP)
	$(BIN)/python examples/demo/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow" --hypothesis-profile=ci

test-slow: $(STAMP)
	MATCH_TEST_EXAMPLES=full $(BIN)/python -m pytest -n 2 -m slow

test-qemu: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/ports

test-mutants: $(STAMP)
	$(BIN)/python -m tests.end_to_end.mutants

test-modes: $(STAMP)
	$(BIN)/python -m tests.end_to_end.modes

test-transformers: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/end_to_end/test_transformers.py

conformance: $(STAMP)
	$(BIN)/python -m tests.conformance

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES:%=%/src)

bench: $(STAMP)
	$(BIN)/python -m tests.benchmarks.networks

bench-grid: $(STAMP)
	$(BIN)/python -m tests.benchmarks.micro_grid

bench-l1: $(STAMP)
	$(BIN)/python -m tests.benchmarks.l1_sweep

bench-prediction: $(STAMP)
	$(BIN)/python -m tests.benchmarks.prediction

bench-exhaustive: $(STAMP)
	$(BIN)/python -m tests.benchmarks.exhaustive

ZIGZAG := build/zigzag

$(ZIGZAG)/.stamp: tests/benchmarks/requirements-zigzag.txt
	$(PYTHON) -m venv $(ZIGZAG)
	$(ZIGZAG)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-zigzag: $(STAMP) $(ZIGZAG)/.stamp
	$(BIN)/python -m tests.benchmarks.zigzag

bench-side-by-side: $(STAMP)
	$(BIN)/python -m tests.benchmarks.side_by_side

bench-transformers: $(STAMP)
	$(BIN)/python -m tests.benchmarks.transformers --shares

bench-host-models: $(STAMP)
	$(BIN)/python -m tests.benchmarks.host_models

bench-diana: $(STAMP)
	$(BIN)/python -m tests.benchmarks.diana_networks
	$(BIN)/python -m tests.benchmarks.diana_grid

EMX := build/emx

$(EMX)/.stamp: tests/benchmarks/requirements-emx.txt
	$(PYTHON) -m venv $(EMX)
	$(EMX)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-host: $(STAMP) $(EMX)/.stamp
	$(BIN)/python -m tests.benchmarks.host_speed

bench-dnnl: $(STAMP)
	$(BIN)/python -m tests.benchmarks.dnnl

ZIG := build/zig

$(ZIG)/.stamp: tests/benchmarks/requirements-zig.txt
	$(PYTHON) -m venv $(ZIG)
	$(ZIG)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-riscv: $(STAMP) $(ZIG)/.stamp
	$(BIN)/python -m tests.benchmarks.host_riscv

docs: $(STAMP)
	$(BIN)/mkdocs build --strict --quiet

wheels: $(STAMP)
	rm -rf dist
	for package in $(PACKAGES); do $(BIN)/python -m build --wheel --outdir dist $$package || exit 1; done
	$(BIN)/python -m tests.packaging.wheelhouse dist

clean:
	rm -rf $(VENV) dist
