# Every target prepares what it needs; `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
SCALE ?= small
MINUTES ?= 10
COUNT ?= 1000
SEED ?= 1
BIN := .venv/bin

.PHONY: help setup demo up test check bench screenshots soak faults clean

help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Python packages from the lock file, Java checked, Delta jars fetched (again: does nothing)
	@.ci/bootstrap.sh

demo: setup ## The whole life of a change request, on a throw-away root
	@$(BIN)/oreo demo

up: setup ## The platform: Spark, API and review site, Dagster; Ctrl-C stops all of it
	@exec $(BIN)/oreo up

test: setup ## Every test, with real Spark, Delta, Dagster, Postgres and a browser
	@.ci/chromium.sh
	@$(BIN)/pytest

check: setup ## Lint, format, types and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/pytest -q oreo_assets_tests/test_layers.py

bench: setup ## Side-by-side table against the peers (SCALE=small takes under 10 minutes)
	@$(BIN)/python -m benchmarks --scale $(SCALE)

screenshots: setup ## A picture of each page of the review site, in docs/images/site
	@.ci/chromium.sh
	@$(BIN)/python -m oreo_assets_tests.site.screenshots docs/images/site

soak: setup ## Hostile input, then processes and engines killed at random, for MINUTES=10 (COUNT=1000 SEED=1); lost and doubled must be 0
	@$(BIN)/python -m oreo_assets_tests.faults.soak --minutes $(MINUTES) --count $(COUNT) --seed $(SEED)

faults: setup ## Every crash point with every fault (make test takes a part of them); some 20 minutes
	@OREO_FAULTS=all $(BIN)/pytest -q oreo_assets_tests/faults

clean: ## Remove what set-up and tests made in this folder
	@rm -rf .venv .venv-uv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
