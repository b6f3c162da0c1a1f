# Every chore is one command; README, CONTRIBUTING and CI call these.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_HOME := .demo
export RAY_USAGE_STATS_ENABLED := 0
export RAY_ENABLE_UV_RUN_RUNTIME_ENV := 0
export HF_HUB_OFFLINE := 1

help: ## list the chores
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s $$'\t'

setup: system $(STAMP) ## create .venv and install everything

system: ## install the programs Corpus calls (apt when root, else say what is missing)
	@bash scripts/system-packages.sh

$(STAMP): requirements.txt requirements-dev.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip==26.3
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.txt -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

demo: setup ## backfill the sample documents and search them
	@bash scripts/demo.sh $(BIN) $(DEMO_HOME)

test: setup ## the test suite, slow tests left out
	$(BIN)/python -m pytest -q

slow: setup ## the slow tests
	$(BIN)/python -m pytest -q -m slow

lint: $(STAMP) ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## throughput against a bare process pool (minutes)
	$(BIN)/python -m benchmarks.backfill
	$(BIN)/python -m benchmarks.embedding

lock: $(STAMP) ## pins and hashes anew from the direct dependencies
	bash scripts/lock.sh

docker: ## build the container image
	docker build -t corpus:latest .

dev: setup ## serve the API on port 8016
	$(BIN)/corpus serve

migrate: setup ## bring the registry's schema to this version
	$(BIN)/corpus status > /dev/null

clean: ## remove the demo's state and caches
	rm -rf $(DEMO_HOME) .pytest_cache .ruff_cache

.PHONY: lock help setup system migrate demo test slow lint format bench docker dev clean
