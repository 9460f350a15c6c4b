# SPDX-License-Identifier: Apache-2.0
#
# Each target works on a fresh checkout: it makes .venv, downloads what is
# missing, and builds first.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
PYTHON ?= python3
BIN := .venv/bin
DIST := dist
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# The tests start thousands of processes. Importing torch takes each of them twice as long without .pyc files.
unexport PYTHONDONTWRITEBYTECODE

LIT = passes $(wildcard dialects backends) test/analysis test/opt
# pytest runs a process for each core and one more, because some tests wait: for time limits, for servers, for processes
# that hang on purpose. The tests of a file stay in one process, because the fixtures that a file or a session builds
# (environments with the wheel, copies of the checkout, CMake projects) cost more than all of its tests. conftest.py puts
# files with slow tests first, so that no slow file is left for the end of the run.
PYTEST = $(BIN)/pytest -q -n $(shell expr $$(nproc) + 1) --dist loadfile --no-loadscope-reorder --durations 20

.DEFAULT_GOAL := help

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: .venv/ready sdk ## A pass inside the compilation of a real kernel, down to cubin and hsaco
	@$(BIN)/triton-ext build loop_split cpu
	@$(BIN)/python -m triton_ext.demo

demo-cpu: .venv/ready sdk ## Softmax and a matrix product on CPU tensors, checked against torch and timed beside it
	@$(BIN)/triton-ext build cpu
	@$(BIN)/python benchmarks/cpu.py --quick

check: linalg build selftest lint ## Lint and every test that is not slow: minutes, to run before each commit
	@$(BIN)/lit -s $(LIT)
	@$(BIN)/pytest -q -n auto --dist worksteal -m "not slow"

test: linalg build selftest lint lit ## lit + FileCheck and pytest, for every extension and what spans them
	@$(PYTEST)

shard: linalg build selftest ## The Python tests of the directories TESTS= alone, as one job of CI does
	@$(PYTEST) $(TESTS)

lit: linalg build
	@$(BIN)/lit -s $(LIT)

lint: .venv/ready ## clang-format, ruff, spelling, mypy, the layers of pyproject.toml, and the links of the documentation
	@git ls-files '*.cpp' '*.h' | xargs -r $(BIN)/clang-format --dry-run --Werror
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check --no-cache .
	@git ls-files -z | xargs -0 $(BIN)/codespell
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	@$(MAKE) -s site

attack: linalg build ## The attacks of docs/security.md, in a table (SEED=, SCALE=, AREAS= limit or repeat them)
	@$(BIN)/python test/attack --seed $(or $(SEED),0) --scale $(or $(SCALE),20) $(AREAS)

bench: build ## How long building, importing, triton-ext-opt, pipelines and linalg take; the CPU backend beside torch
	@$(BIN)/python benchmarks/foundation.py
	@$(BIN)/python benchmarks/opt.py
	@$(BIN)/python benchmarks/pipeline.py
	@$(BIN)/python benchmarks/cpu.py
	@$(BIN)/python benchmarks/linalg.py
	@$(BIN)/python benchmarks/linalg_ways.py
	@$(BIN)/python benchmarks/linalg_masks.py

docs: linalg build ## Reference pages from the .td files and docstrings
	@$(BIN)/python -m triton_ext.authoring.reference docs/reference
	@$(BIN)/python test/support/linalg/coverage_page.py docs/reference
	@PYTHONPATH=test $(BIN)/python test/support/linalg/shared_page.py docs/reference
	@PYTHONPATH=test $(BIN)/python test/support/linalg/ways_page.py docs/reference
	@PYTHONPATH=test $(BIN)/python test/support/cpu/libdevice_page.py docs/reference
	@PYTHONPATH=test $(BIN)/python test/support/cpu/ptx_page.py docs/reference

site: .venv/ready ## The documentation as a searchable site, into build/site; an error if a link leads nowhere
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: .venv/ready linalg ## One wheel with everything, into dist/ (DIST= another directory)
	@rm -rf "$(DIST)"
	@$(BIN)/pip wheel -q --no-deps --no-build-isolation $(if $(QUICK),--config-settings=cmake.define.TRITON_EXT_QUICK=ON) -w "$(DIST)" .
	@$(BIN)/python infra/wheel_tag.py "$(DIST)" $(if $(MANYLINUX),--at-most $(MANYLINUX))
	@ls "$(DIST)"

build: .venv/ready sdk ## Build every extension, incrementally
	@$(BIN)/triton-ext build

# What `triton-ext doctor` builds at its first use. Afterwards each build keeps it up to date.
selftest: build
	@$(BIN)/triton-ext build selftest

includes: linalg ## Build without the precompiled header, which finds missing #includes
	@$(BIN)/triton-ext build --build-dir build/includes -D TRITON_EXT_PCH=OFF -D TRITON_EXT_STAGE_DIR=

sdk: .venv/ready
	@$(BIN)/triton-ext sdk path >/dev/null 2>&1 || $(BIN)/triton-ext sdk install

# Builds the MLIR parts that linalg and the dialects on top of it need: a long download and minutes of compiling, once.
# Targets that need only the other extensions, such as demo, do not depend on it.
linalg: sdk ## The MLIR dialects that libtriton lacks, for the extensions that need them
	@$(BIN)/triton-ext sdk install --with linalg 2> >(grep --line-buffered -v '^\(SDK\|ready\|part\)' >&2)

# The file is written last, so that an interrupted set-up is repeated. A set-up is also repeated after a backend was
# added or deleted, because the entry points of the installation name each backend. With --no-compile, Python compiles
# only the modules that it imports; pip would compile all of torch.
.venv/ready: pyproject.toml constraints.txt infra/system-packages backends $(wildcard backends/*/backend.json)
	@infra/system-packages $(PYTHON)
	@echo "==> Python packages into .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -q 'scikit-build-core==1.1.2'
	@$(BIN)/pip install -q --no-compile --no-build-isolation --config-settings=wheel.cmake=false -e '.[dev]'
	@touch $@

clean: ## Remove everything that was built, but not the SDK in the cache
	rm -rf .venv build dist python/triton_ext/lib python/triton_ext/share

.PHONY: help demo demo-cpu check test shard lit lint attack bench docs site wheel build selftest includes sdk linalg clean
