# Two commands for a newcomer: `make demo` and `make test`. Everything they need lands in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check lint docs out/dist package package-tests bench bench-full rivals fuzz faults load machines clean help
.DEFAULT_GOAL := help

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: an unchanged pyproject.toml installs nothing twice.
$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[data,report]"
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e ".[dev]"
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo   ## the main job on data in the box: a review and an explorer in out/demo/, yeast next to the paper
	$(BIN)/mltsk demo --out out/demo

# Two test processes share two cores: BLAS threads of their own would only fight.
# Nothing is installed on the system: without a browser, tests that need one say which command installs it.
test: $(VENV)/.dev    ## lint, types, import contract, documentation, then every test; part of them: PYTEST_ARGS="tests/cli"
	$(MAKE) --no-print-directory check
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

check: lint docs      ## lint, types, import contract, commands and tables of the pages, documentation

lint: $(VENV)/.dev    ## the same without the documentation; `pre-commit install` runs it before each commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_docs.py

# A warning is an error, also that of a name which leads nowhere; every example of the gallery runs.
docs: $(VENV)/.dev    ## the documentation with its gallery, into out/docs/html
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -n -q -d out/docs/doctrees docs out/docs/html

# What a stranger will have: the wheel alone in an environment of its own, and the unpacked sdist.
out/dist: $(VENV)/.dev
	rm -rf out/dist
	$(BIN)/python -m build --outdir out/dist
	$(BIN)/python -m twine check --strict out/dist/*
	rm -rf out/package && mkdir -p out/package/sdist
	tar -xzf out/dist/*.tar.gz -C out/package/sdist --strip-components=1

FROM_SDIST = cd out/package/sdist && PYTHONPATH=src OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(CURDIR)/$(BIN)/python -m pytest -q -n 2

package: out/dist     ## wheel and sdist into out/dist, checked; the README's lines run from the wheel, some tests from the sdist
	$(PYTHON) -m venv out/package/venv
	out/package/venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "$$(echo out/dist/*.whl)[report]"
	sed -n '/^```python/,/^```/p' README.md | grep -v '^```' > out/package/quick_start.py
	cd out/package && env -u PYTHONPATH MPLBACKEND=agg venv/bin/python quick_start.py > quick_start.txt
	$(FROM_SDIST) tests/fit tests/test_package.py

package-tests: out/dist   ## every test from the unpacked sdist, which must hold all that they need
	$(FROM_SDIST) $(PYTEST_ARGS)

bench: $(VENV)/.dev   ## speed and memory, as ratios measured side by side in one run
	$(BIN)/python -m benchmarks

bench-full: $(VENV)/.dev   ## the same on whole jobs; for an idle machine
	$(BIN)/python -m benchmarks --full

rivals: $(VENV)/.dev .venv-boomer .venv-boosters .venv-additive   ## other methods and ours on fixed folds; goes on where the last run stopped
	$(BIN)/python -m benchmarks rivals

# Other methods live in environments of their own, which no test needs. BOOMER wants Python 3.12 and an older scikit-learn.
PYTHON_OF_BOOMER ?= python3.12
.venv-boomer:
	$(PYTHON_OF_BOOMER) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check mlrl-boomer==0.15.6 pandas

.venv-boosters:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check lightgbm==4.7.0 xgboost-cpu==3.2.0 catboost==1.2.10 scikit-learn pandas

.venv-additive:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check interpret-core==0.7.8 aplr==10.27.0 imodels==3.0.4 six pandas

# Goes on where the last one stopped; a file that failed is kept in out/fuzz.
fuzz: $(VENV)/.dev    ## ten minutes of mutated and crafted files of every format
	$(BIN)/python -m fuzz

faults: $(VENV)/.dev  ## fits stopped in four ways, fifty kills, full disks, a worker of a cluster that dies
	$(BIN)/python -m fuzz.faults

load: $(VENV)/.dev    ## five minutes of eight threads that fit, then sixteen processes that predict from one file
	$(BIN)/python -m fuzz.load

# What can be pretended or is at hand; --install also makes environments with other versions.
machines: $(VENV)/.dev   ## some tests as other machines would run them, a line each
	$(BIN)/python scripts/machines.py $(MACHINES)

clean:           ## forget the environment and every output
	rm -rf $(VENV) out build dist docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
