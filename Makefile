# Two commands for a fresh machine with Python 3.11 or 3.12 and nothing else:
#   make demo   environment, embedded database, the whole chain on the examples, a search
#   make test   the tests
# Everything installed is inside .venv; everything the demo writes is inside .corpus-demo.

# The first interpreter that really runs and is of a supported version (a shim may exist without one).
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))
PYTHON ?= $(shell for python in python3.11 python3.12 python3; do \
	$$python -c '$(SUPPORTED)' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_WORKERS ?= 2

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export HF_HUB_OFFLINE = 1
export TRANSFORMERS_OFFLINE = 1

DEMO := CORPUS_CONFIG=examples/corpora.yaml CORPUS_HOME=.corpus-demo $(BIN)/corpus-pipeline

.PHONY: help demo dev test test-all lint format schema clean install

help:
	@sed -n '1,4p' Makefile | cut -c3-; echo "also: make dev | test-all | lint | format | schema | clean"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@[ -n "$(PYTHON)" ] && $(PYTHON) -c '$(SUPPORTED)' || { \
		echo "error: no Python 3.11 or 3.12 found; install one, or run: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@echo "setting up $(VENV): about 3 GB, two to five minutes the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --upgrade pip
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[offline,openvino,onnx,endpoint,ocr,markitdown,dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(DEMO) config check
	@$(DEMO) ingest --all
	@echo; echo '$$ corpus-pipeline search "how long do customers have to ask for a refund?" --explain'
	@$(DEMO) search "how long do customers have to ask for a refund?" --explain
	@echo; echo "The same runs in the Dagster UI: make dev"

dev: $(STAMP)
	@$(DEMO) dev

test: $(STAMP)
	@$(BIN)/python -m pytest -q -n $(PYTEST_WORKERS) --dist worksteal -m "not slow and not data"

test-all: $(STAMP)
	@$(BIN)/python -m pytest -q -n $(PYTEST_WORKERS) --dist worksteal

lint: $(STAMP)
	@$(BIN)/ruff format --check corpus_pipeline corpus_pipeline_tests benchmarks examples
	@$(BIN)/ruff check corpus_pipeline corpus_pipeline_tests benchmarks examples
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/yamllint -s .
	@$(BIN)/hadolint deploy/Dockerfile
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.compose-spec deploy/docker-compose.yaml

format: $(STAMP)
	@$(BIN)/ruff format corpus_pipeline corpus_pipeline_tests benchmarks examples
	@$(BIN)/ruff check --fix corpus_pipeline corpus_pipeline_tests benchmarks examples

schema: $(STAMP)
	@$(BIN)/python -m corpus_pipeline.store.schema_file

clean:
	rm -rf $(VENV) .corpus-demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.PHONY: test-long
test-long: $(STAMP)
	@$(BIN)/python -m pytest -q -n $(PYTEST_WORKERS) --dist worksteal -m "slow or data"
