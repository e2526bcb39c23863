# The commands of this project. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	@python=$$(./scripts/find-python) && echo "Creating $(VENV) with $$python" && "$$python" -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt --upgrade pip

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the packages that mgrag needs (about a minute) ..."
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "Installing the packages that tests and checks need ..."
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "Installing the packages that benchmarks compare with ..."
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt --editable '.[dev,bench]'
	@touch $@

.PHONY: install
install: $(VENV)/.run ## Create .venv with the command mgrag

.PHONY: demo
demo: $(VENV)/.run ## Ingest examples/corpus and search it
	@$(BIN)/python examples/demo.py

.PHONY: test
test: $(VENV)/.dev ## Run all tests that need no server
	@$(BIN)/pytest -q $(ARGS)

.PHONY: check
check: $(VENV)/.dev ## Lint, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

.PHONY: format
format: $(VENV)/.dev ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: bench
bench: $(VENV)/.bench ## Measure quality and speed (EVAL=folder with the data sets)
	@$(BIN)/python -m benchmarks $(if $(EVAL),--eval $(EVAL)) $(ARGS)

.PHONY: constraints
constraints: $(VENV)/.dev ## Pin the versions that are installed now in constraints.txt
	@./scripts/pin $(BIN)/python > constraints.new && mv constraints.new constraints.txt

.PHONY: clean
clean: ## Remove .venv, caches and the demo's graph
	rm -rf $(VENV) .mgrag .mypy_cache .ruff_cache .pytest_cache .hypothesis
