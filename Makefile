# The commands of this project. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip compiles one file after the other, which takes longer than all the rest. Here all cores do it for what mgrag needs
# (some files of packages are templates, and no Python); what tests import is compiled when they do.
INSTALL := $(PIP) install --no-compile --constraint constraints.txt --build-constraint constraints.txt --editable
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true

# Where it is set, each process of the tests compiles all of them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

$(BIN)/python:
	@python=$$(./scripts/find-python) && echo "Creating $(VENV) with $$python" && "$$python" -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt --upgrade pip

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the packages that mgrag needs (about a minute) ..."
	@$(INSTALL) .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "Installing the packages that tests and checks need ..."
	@$(INSTALL) '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "Installing the packages that benchmarks compare with ..."
	@$(INSTALL) '.[dev,bench]'
	@touch $@

$(VENV)/.containers: $(VENV)/.dev
	@$(INSTALL) '.[containers]'
	@touch $@

.PHONY: install
install: $(VENV)/.run ## Create .venv with the command mgrag

.PHONY: demo
demo: $(VENV)/.run ## Ingest examples/corpus and search it
	@$(BIN)/python examples/demo.py

# The parser of Mermaid, for the tests of diagrams: it needs Node, and those tests are skipped without it.
MERMAID := tests/answering/mermaid
$(MERMAID)/node_modules: $(MERMAID)/package-lock.json
	@if command -v npm >/dev/null 2>&1; then \
	echo "Installing the parser of Mermaid ..."; npm ci --prefix $(MERMAID) --silent --no-audit --no-fund \
	--fetch-retries=1 --fetch-retry-mintimeout=1000 || \
	echo "It cannot be installed: the tests that need it will be skipped."; fi

.PHONY: test
test: $(VENV)/.dev $(MERMAID)/node_modules ## Run all tests that need no server
	@$(BIN)/pytest -q -n auto --maxprocesses 4 --dist worksteal -m "not bolt and not java" \
	$(if $(MGRAG_TEST_STATEMENTS),-p tests.statements) $(ARGS)

# Every statement of tests that run on the embedded engine alone is shown to the server, too: `make test` has put them
# into the file MGRAG_TEST_STATEMENTS, or else these tests are run again.
STATEMENTS = if [ -s "$$MGRAG_TEST_STATEMENTS" ]; then $(BIN)/python -m tests.statements; else \
	$(BIN)/pytest -q -n auto --maxprocesses 4 --dist worksteal -p tests.statements -m "not bolt and not java" \
	$$($(BIN)/python -m tests.statements tests); fi

# For a run of this length, the second compiler of Java pays, unlike for tests that start servers of their own; but only
# for what is hot indeed: by default, it takes as long as all that Neo4j does in the first minutes.
HOT = $(addprefix --java=-XX:,TieredStopAtLevel=4 Tier4InvocationThreshold=25000 Tier4MinInvocationThreshold=3000 \
	Tier4CompileThreshold=75000 Tier4BackEdgeThreshold=200000)

# A Neo4j that is ours is two, one for each process; on a server that is given, one test runs at a time.
BOLT_TESTS = env MGRAG_TEST_REQUIRE_BOLT=1 sh -c '$(BIN)/pytest -q $(1) -m bolt $(ARGS) && $(STATEMENTS)'

.PHONY: test-bolt
test-bolt: $(VENV)/.dev ## Run the tests on a server: MGRAG_TEST_BOLT_URI, or a Neo4j of their own (Java 17)
	@if [ -n "$$MGRAG_TEST_BOLT_URI" ]; then $(call BOLT_TESTS); \
	else $(BIN)/python -m tests.servers.neo4j run --servers 2 $(HOT) -- \
	$(call BOLT_TESTS,-n 2 --dist worksteal); fi

.PHONY: test-java
test-java: $(VENV)/.dev ## Run the tests that start and kill servers of their own (Java 17)
	@MGRAG_TEST_REQUIRE_BOLT=1 $(BIN)/pytest -q -n 2 --dist loadfile -m java $(ARGS)

.PHONY: test-memgraph
test-memgraph: $(VENV)/.containers ## Run the tests on a Memgraph in a container, where Docker is
	@$(BIN)/python -m tests.servers.memgraph run -- $(call BOLT_TESTS)

.PHONY: faults
faults: $(VENV)/.dev ## Provoke all faults on a server, and write docs/faults.md
	@$(BIN)/python -m tests.servers.neo4j run -- \
	$(BIN)/pytest -q -p tests.faults.table --fault-table docs/faults.md tests/faults $(ARGS)

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

.PHONY: bench-conversation
bench-conversation: $(VENV)/.dev ## Measure questions inside conversations
	@$(BIN)/python -m benchmarks conversation $(ARGS)

.PHONY: bench-graph
bench-graph: $(VENV)/.dev ## Measure multi-hop questions, and the mode auto (EVAL=folder with the data sets)
	@$(BIN)/python -m benchmarks graph $(if $(EVAL),--eval $(EVAL)) $(ARGS)

.PHONY: bench-memory
bench-memory: $(VENV)/.dev ## Measure recall among 10,000 memories, and of turns of long dialogues
	@$(BIN)/python -m benchmarks memory dialogues $(ARGS)

.PHONY: bench-bolt
bench-bolt: $(VENV)/.dev ## Measure what the client costs on a server: MGRAG_TEST_BOLT_URI, or a Neo4j of its own
	@if [ -n "$$MGRAG_TEST_BOLT_URI" ]; then $(BIN)/python -m benchmarks.bolt; \
	else $(BIN)/python -m tests.servers.neo4j run --java=-XX:TieredStopAtLevel=4 -- $(BIN)/python -m benchmarks.bolt; fi

.PHONY: bench-drift
bench-drift: $(VENV)/.dev ## Measure DRIFT RAG on 100,000 edges
	@$(BIN)/python -m benchmarks drift $(ARGS)

.PHONY: constraints
constraints: $(VENV)/.bench $(VENV)/.containers ## Pin the versions that are installed now in constraints.txt
	@$(PIP) install --constraint constraints.txt hatchling editables # what pip builds packages with, apart from these
	@./scripts/pin $(BIN)/python > constraints.new && mv constraints.new constraints.txt

.PHONY: clean
clean: ## Remove .venv, caches and the demo's graph
	rm -rf $(VENV) $(MERMAID)/node_modules .mgrag .mypy_cache .ruff_cache .pytest_cache .hypothesis
