# Needs Python 3.11 or newer, git and make; everything else goes into $(VENV). `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell for p in python3 python python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PY_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
export UV_PYTHON_DOWNLOADS := never
export UV_NO_PROGRESS := 1
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Stamps: each says "this step was done after the files it depends on last changed".
TOOLS := $(VENV)/.tools-$(PY_VERSION)
BASE := $(VENV)/.base
TEST := $(VENV)/.test
WEIGHTS := hatch_build.py packages/tenuto-minilm/obtain.py packages/tenuto-reader/src/tenuto_reader/__init__.py

# uv is fast; pip is the way out on a machine whose package index only pip knows.
install = $(BIN)/uv pip install -q --python $(BIN)/python $(1) || $(BIN)/python -m pip install -q $(1)

.PHONY: help demo test check lint types imports format unit docs model-test bench wheel setup setup-test lock clean fuzz audit mutants reliability chromium mcp-inspector

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: setup ## set up and run the main job: no key, no server, no network
	@$(BIN)/tenuto demo

test: setup-test chromium ## all checks: lint, types, import rules, tests
	@$(MAKE) check

check: lint types imports unit

lint: setup-test ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-test ## mypy, strict
	$(BIN)/mypy

imports: setup-test ## import rules
	$(BIN)/lint-imports

# What measures the processor, the clock or a browser runs alone; the rest side by side, a file to a worker.
ALONE := tests/browser tests/reliability tests/surfaces tests/adapters

unit: setup-test
ifeq ($(strip $(PYTEST_ARGS)),)
	$(BIN)/python -m pytest -n 2 --dist loadfile tests $(addprefix --ignore=,$(ALONE))
	$(BIN)/python -m pytest $(ALONE)
else
	$(BIN)/python -m pytest $(PYTEST_ARGS)
endif

chromium: ## the browser that the page's tests drive
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "· chromium"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
		else \
			echo "The page's tests need Chromium: install the package 'chromium' (Debian: sudo apt install chromium)." >&2; exit 1; \
		fi; }

fuzz: setup-test ## 10,000 requests from the server's own schema, sequences of them, and the time per KB of everything that reads
	TENUTO_TEST_CASES=10000 $(BIN)/python -m pytest tests/surfaces/test_schemathesis.py tests/surfaces/sequences.py --timeout=7200 $(PYTEST_ARGS)
	$(BIN)/python -m tests.reliability.linear

reliability: setup-test ## the fault campaign in full: hours; ROWS="--rows 12" or "--seconds 600" for less
	@$(BIN)/python -m pip install -q --upgrade --target build/fuzz/site atheris || true
	PYTHONPATH=build/fuzz/site $(BIN)/python -m tests.reliability $(ROWS)

audit: setup ## known weaknesses of what is locked (needs the network, or AUDIT_ARGS for a copy of the advisories)
	@$(BIN)/python -m pip install -q --upgrade --target build/audit/site pip-audit
	PYTHONPATH=build/audit/site $(BIN)/python -m pip_audit --require-hashes --disable-pip -r requirements/base.txt $(AUDIT_ARGS)

mutants: setup-test ## plant faults in the core decisions one by one; the tests must notice (MUTANTS="--module gate" for one)
	$(BIN)/python -m tests.mutants $(MUTANTS)

mcp-inspector: setup ## list the MCP tools with the official inspector (needs npx)
	npx -y @modelcontextprotocol/inspector --cli $(BIN)/tenuto --method tools/list -- --db build/inspector.db mcp

format: setup-test ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup-test ## write the pages that are made from the code
	$(BIN)/python docs/make.py

model-test: setup-test ## tests with a real model on this machine (downloads 1.1 GB once)
	$(BIN)/python -m pip install -q --upgrade --target build/model/site xllamacpp
	PYTHONPATH=build/model/site TENUTO_TEST_MODEL=build/model $(BIN)/python -m pytest --timeout 1200 tests/model $(PYTEST_ARGS)

bench: setup-test ## measure, and print the figures
	$(BIN)/python -m bench

wheel: $(TOOLS) ## the wheel and the source archive, into dist/
	$(BIN)/python -m hatchling build

setup: $(BASE) ## environment to run Tenuto

setup-test: $(TEST) ## environment to test Tenuto

$(TOOLS): requirements/tools.txt
	@test -n "$(PY_VERSION)" || { echo "Tenuto needs Python 3.11 or newer; give one with PYTHON=…" >&2; exit 1; }
	@echo "· environment in $(VENV), Python $(PY_VERSION)"
	@test -e $@ || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q --require-hashes -r requirements/tools.txt
	@touch $@

$(BASE): requirements/base.txt pyproject.toml $(WEIGHTS) $(TOOLS)
	@echo "· packages"
	@$(call install,--require-hashes -r requirements/base.txt)
	@$(BIN)/python -m pip uninstall -q -y tenuto-minilm tenuto-reader  # until 0.2.0 the weights were packages, which would hide these
	@$(call install,--no-deps --no-build-isolation --force-reinstall -e .)
	@touch $@

$(TEST): requirements/test.txt $(BASE)
	@echo "· packages for the tests"
	@$(call install,--require-hashes -r requirements/test.txt)
	@touch $@

# A lock names no index: whoever installs brings their own.
COMPILE = $(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK_ARGS)

lock: ## renew the locked requirements (LOCK_ARGS=--upgrade for newer versions)
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install -q uv; }
	$(COMPILE) requirements/tools.in -o requirements/tools.txt
	$(COMPILE) pyproject.toml --extra all --group test -o requirements/test.txt
	$(COMPILE) pyproject.toml -c requirements/test.txt -o requirements/base.txt

clean: ## remove what was built, the environment too
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
