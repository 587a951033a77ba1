PYTHON ?= python3
BIN = .venv/bin

.PHONY: help example test test-all pyodide compiled lint format generate site page-types vendor docs docs-serve mutants ci fuzz hostile bench release-check clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

example:  ## infer the shapes of an example; needs nothing but Python
	$(PYTHON) -m irshape infer examples/atrous.xml --input "image[N,3,H,W]"

$(BIN)/pytest: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -e '.[whole]'
	@touch $@

test: $(BIN)/pytest  ## run the tests that take less than 3 minutes, beside OpenVINO where it has a say
	$(BIN)/python -m pytest -q -n auto

test-all: $(BIN)/pytest  ## run all tests
	$(BIN)/python -m pytest -q -n auto -m ""

pyodide: $(BIN)/pytest  ## run the tests that need Python alone under Python 3.14, in Pyodide; needs Node and npm
	$(BIN)/python tools/pyodide/run.py

compiled: $(BIN)/pytest  ## build the compiled wheel, run tests with it, compare its reports; needs a C compiler
	$(BIN)/python tools/compiled/run.py

lint: $(BIN)/pytest  ## ruff, mypy, the forms of workflows and issue forms, fresh derived files
	.ci/lint

format: $(BIN)/pytest  ## lay out the Python files, and sort their imports
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

site: $(BIN)/pytest  ## build the site that runs irshape in the browser into build/browser; needs npm
	$(BIN)/python tools/site.py

page-types:  ## check the types of the page's scripts; needs npm
	npx --yes --package typescript@5.6 tsc -p tools/page/tsconfig.json

vendor:  ## take the JavaScript libraries of the page from npm, at fixed versions
	$(PYTHON) tools/vendor.py

generate: $(BIN)/pytest  ## derive the index, schemas, pages and outputs from the code
	$(BIN)/python tools/generate.py

$(BIN)/zensical: $(BIN)/pytest
	$(BIN)/pip install -q -e '.[docs]'
	@touch $@

docs: $(BIN)/zensical  ## build the documentation into build/site, and check its links
	$(BIN)/python tools/documentation.py

docs-serve: docs  ## show the documentation at http://127.0.0.1:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory build/site

mutants: $(BIN)/pytest  ## make a sample of small changes of the code, and list those that no test notices; takes about an hour
	$(BIN)/pip install -q -e '.[mutants]'
	$(BIN)/python tools/mutants.py 60 1

ci:  ## what a change must pass, as .ci/run does it
	.ci/run

SECONDS ?= 600
SEED ?= 0

$(BIN)/fuzz: $(BIN)/pytest
	$(BIN)/pip install -q -e '.[fuzz]'
	@touch $@

fuzz: $(BIN)/fuzz  ## mutants of the small files of the tests, random nets, then guided fuzzing of each target, for SECONDS in sum
	$(BIN)/python -m tests.fuzz.mutate tests/data --seconds $$(( $(SECONDS) / 6 )) --seed $(SEED) --shuffled 0.2 --interrupted 0.2
	$(BIN)/python -m tests.fuzz.values --seconds $$(( $(SECONDS) / 6 )) --seed $(SEED)
	for target in reader example notation check; do \
		$(BIN)/python -m tests.fuzz.guided $$target tests/data --seconds $$(( $(SECONDS) / 6 )) --seed $$(( $(SEED) + 1 )) || exit 1; \
	done

hostile: $(BIN)/pytest  ## write the files made to do harm and measure irshape on each
	$(BIN)/python -m tests.fuzz.hostile build/hostile
	$(BIN)/python -m tests.fuzz.work build/hostile
	$(BIN)/python -m tests.fuzz.strangers build/hostile

bench: $(BIN)/pytest  ## measure irshape beside OpenVINO and other tools
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/python -m benchmarks

$(BIN)/twine: $(BIN)/pytest
	$(BIN)/pip install -q -e '.[release]'
	@touch $@

release-check: $(BIN)/twine  ## build a release from a clean tree, and try its wheel in a new environment
	$(BIN)/python tools/release.py check

clean:  ## remove the environment and caches
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -exec rm -rf {} +
