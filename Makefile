PYTHON ?= python3
BIN = .venv/bin

.PHONY: help example test fuzz hostile bench lint generate ci clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

example:  ## infer the shapes of an example; needs nothing but Python
	$(PYTHON) -m irshape infer examples/atrous.xml --input "image[N,3,H,W]"

$(BIN)/pytest: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -e '.[dev]'
	@touch $@

test: $(BIN)/pytest  ## run the tests, beside OpenVINO where it has a say
	$(BIN)/python -m pytest -q -n auto

SECONDS ?= 600
SEED ?= 0

$(BIN)/fuzz: $(BIN)/pytest
	$(BIN)/pip install -q -e '.[fuzz]'
	@touch $@

fuzz: $(BIN)/fuzz  ## mutants of the small files of the tests, then guided fuzzing of each target, for SECONDS in sum
	$(BIN)/python -m tests.fuzz.mutate tests/data --seconds $$(( $(SECONDS) / 5 )) --seed $(SEED)
	for target in reader example notation check; do \
		$(BIN)/python -m tests.fuzz.guided $$target tests/data --seconds $$(( $(SECONDS) / 5 )) --seed $$(( $(SEED) + 1 )) || exit 1; \
	done

hostile: $(BIN)/pytest  ## write the files made to do harm and measure irshape check on each
	$(BIN)/python -m tests.fuzz.hostile build/hostile

bench: $(BIN)/pytest  ## measure irshape beside OpenVINO and other tools
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/python -m benchmarks

lint: $(BIN)/pytest  ## ruff, mypy, derived files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/generate.py --check

generate: $(BIN)/pytest  ## derive the index, schemas, pages and outputs from the code
	$(BIN)/python tools/generate.py

ci:  ## what a change must pass, as .ci/run does it
	.ci/run

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -exec rm -rf {} +
