# Each target sets itself up: the environment lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# The packages of the demo alone, without the tools of tests.
DEMO := $(VENV)/.stamp-demo
DEMO_PACKAGES := core $(addprefix plugins/match-,map concurrent beyond schedule host quant report verify python gap9)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# An editable package gets no bytecode from pip; without it, each start of match compiles 550 modules (0.6 s).
COMPILE_BYTECODE := $(BIN)/python -m compileall -q
# Each after those that it depends on.
PACKAGES := core $(addprefix plugins/match-,map concurrent beyond schedule regions host quant tflite report verify python calibrate export explore kit qemu cortexm cmsisnn gap9 carfield ita diana dnnl)
PROJECTS := pyproject.toml $(PACKAGES:%=%/pyproject.toml)

# Tests start `match` hundreds of times: without bytecode on disk, each would compile all of its modules again.
export PYTHONDONTWRITEBYTECODE :=

# Three processes for two cores: tests that wait leave the cores to others. worksteal: tests of one file stay together, so that what they share is made once.
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow" --hypothesis-profile=ci

# Tests by package; `make test-NAME` runs those of one. Some need another package to compile with.
TESTS_core := core/tests tests/architecture tests/fuzz
TESTS_host := tests/host
TESTS_quant := $(addprefix core/tests/passes/test_,integerise*.py narrow.py qoperator.py quantised_ends.py recognise.py requant.py tables.py) \
  tests/end_to_end/test_integer_networks.py tests/end_to_end/test_quantize.py tests/end_to_end/test_quantize_verb.py
TESTS_schedule := core/tests/schedule tests/end_to_end/test_schedule_cache.py
TESTS_regions := tests/regions
TESTS_tflite := tests/tflite tests/end_to_end/test_tflite.py
TESTS_report := tests/report tests/end_to_end/test_explain.py $(addprefix core/tests/cli/test_,check.py diff.py explain_verb.py fit.py report.py)
TESTS_verify := tests/verify core/tests/cli/test_quantised_io.py
TESTS_python := plugins/match-python/tests
TESTS_calibrate := plugins/match-calibrate/tests
TESTS_export := plugins/match-export/tests
TESTS_explore := plugins/match-explore/tests
TESTS_kit := tests/kit
TESTS_qemu := tests/qemu
TESTS_cortexm := plugins/match-cortexm/tests
TESTS_cmsisnn := plugins/match-cmsisnn/tests
TESTS_gap9 := plugins/match-gap9/tests
TESTS_carfield := plugins/match-carfield/tests
TESTS_ita := plugins/match-ita/tests
TESTS_diana := plugins/match-diana/tests
TESTS_dnnl := plugins/match-dnnl/tests
TESTS_docs := tests/docs
TIERS := $(addprefix test-,core map concurrent host quant schedule regions tflite report verify python calibrate export explore kit qemu cortexm cmsisnn gap9 carfield ita diana dnnl docs)

.PHONY: demo test test-quick $(TIERS) test-slow test-pip test-manifests test-boards test-mutants test-modes test-transformers conformance fuzz lint \
  bench bench-grid bench-l1 bench-prediction bench-exhaustive bench-zigzag bench-side-by-side bench-transformers bench-host-models \
  bench-studies bench-diana bench-host bench-riscv bench-dnnl bench-breadth paper docs wheels clean

$(DEMO): $(DEMO_PACKAGES:%=%/pyproject.toml) requirements.txt
	@echo "1/3 making an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "2/3 installing the libraries that match uses: ONNX, ONNX Runtime, OR-Tools, numpy and others (about 400 MB on disk)"
	@$(PIP) --no-compile -r requirements.txt
	@echo "3/3 installing match and its package for GAP9"
	@$(PIP) --no-compile --no-build-isolation --no-deps $(DEMO_PACKAGES:%=-e %)
	@$(COMPILE_BYTECODE) $(DEMO_PACKAGES:%=%/src)
	@touch $@

$(STAMP): $(DEMO) $(PROJECTS) requirements-dev.txt
	$(PIP) --no-compile -r requirements-dev.txt
	$(PIP) --no-compile --no-build-isolation $(patsubst %,-e %,$(filter-out $(DEMO_PACKAGES),$(PACKAGES)))
	@$(COMPILE_BYTECODE) $(PACKAGES:%=%/src)
	touch $@

demo: $(DEMO)
	@$(BIN)/python examples/demo/demo.py

test: $(STAMP)
	$(PYTEST)

# One test for each mechanism: tests/quick.py lists them.
test-quick: $(STAMP)
	$(BIN)/python -m tests.quick

$(TIERS): test-%: $(STAMP)
	$(PYTEST) $(TESTS_$*)

test-slow: $(STAMP)
	MATCH_TEST_EXAMPLES=full $(BIN)/python -m pytest -n 2 -m slow

# Wheels, in fresh environments without a network: each package, and two packages for one board.
test-pip: $(STAMP)
	$(BIN)/python -m pytest tests/packaging/test_wheels.py tests/packaging/test_two_packages.py

# All stored digests of programs, those of large networks too.
test-manifests: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/end_to_end/test_manifests.py

# All networks of ../shared/models below 1 MB on emulated boards, with a table; and what of match-qemu takes longer.
test-boards: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/qemu
	$(BIN)/python -m benchmarks.boards

test-mutants: $(STAMP)
	$(BIN)/python -m tests.end_to_end.mutants

test-modes: $(STAMP)
	$(BIN)/python -m tests.end_to_end.modes

test-transformers: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/end_to_end/test_transformers.py

CASES ?= 20000
SEED ?= 1
SECONDS ?= 0

# Goes on behind the cases of this seed that build/fuzz has.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED) --seconds $(SECONDS)

conformance: $(STAMP)
	$(BIN)/python -m tests.conformance

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES:%=%/src)

bench: $(STAMP)
	$(BIN)/python -m benchmarks.networks

bench-grid: $(STAMP)
	$(BIN)/python -m benchmarks.micro_grid

bench-l1: $(STAMP)
	$(BIN)/python -m benchmarks.l1_sweep

bench-prediction: $(STAMP)
	$(BIN)/python -m benchmarks.prediction

bench-exhaustive: $(STAMP)
	$(BIN)/python -m benchmarks.exhaustive

ZIGZAG := build/zigzag

$(ZIGZAG)/.stamp: benchmarks/requirements-zigzag.txt
	$(PYTHON) -m venv $(ZIGZAG)
	$(ZIGZAG)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-zigzag: $(STAMP) $(ZIGZAG)/.stamp
	$(BIN)/python -m benchmarks.zigzag

bench-side-by-side: $(STAMP)
	$(BIN)/python -m benchmarks.side_by_side

bench-transformers: $(STAMP)
	$(BIN)/python -m benchmarks.transformers --shares

bench-host-models: $(STAMP)
	$(BIN)/python -m benchmarks.host_models

# All figures of the papers beside ours: docs/papers.md.
paper: $(STAMP)
	$(BIN)/python -m benchmarks.papers

# The sweeps of the papers as studies, and what the engine of match explore costs.
bench-studies: $(STAMP)
	PYTHONPATH=. $(BIN)/python examples/study_models.py build/study-models
	for study in match_l1 match_units match_diana_l1 matcha_parallel gap9_l2; do $(BIN)/match explore benchmarks/studies/$$study.toml -o build/studies/$$study || exit 1; done
	$(BIN)/python -m benchmarks.study_tables
	$(BIN)/python -m benchmarks.explore_engine
	$(BIN)/python -m benchmarks.explore_search

bench-diana: $(STAMP)
	$(BIN)/python -m benchmarks.diana_networks
	$(BIN)/python -m benchmarks.diana_grid

EMX := build/emx

$(EMX)/.stamp: benchmarks/requirements-emx.txt
	$(PYTHON) -m venv $(EMX)
	$(EMX)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-host: $(STAMP) $(EMX)/.stamp
	$(BIN)/python -m benchmarks.host_speed

bench-dnnl: $(STAMP)
	$(BIN)/python -m benchmarks.dnnl

bench-breadth: $(STAMP)
	$(BIN)/python -m benchmarks.breadth

ZIG := build/zig

$(ZIG)/.stamp: benchmarks/requirements-zig.txt
	$(PYTHON) -m venv $(ZIG)
	$(ZIG)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-riscv: $(STAMP) $(ZIG)/.stamp
	$(BIN)/python -m benchmarks.host_riscv

# With the reports of the gallery; nothing is loaded from a network.
docs: $(STAMP)
	$(BIN)/python docs/make_gallery.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheels: $(STAMP)
	rm -rf dist
	for package in $(PACKAGES); do $(BIN)/python -m build --wheel --outdir dist $$package || exit 1; done
	$(BIN)/python -m tests.packaging.wheelhouse dist

clean:
	rm -rf $(VENV) dist
