# What is made first builds .venv: Python >= 3.11 and pip are all it needs.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
TARGETS ?= reference vllm@0.32.0
SECONDS ?= 15
SEEDS   ?= 100
TIER    ?= pr
# torch's CPU build. On a machine with a GPU set TORCH_INDEX= to take the default one.
TORCH       ?= torch==2.13.0
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test test-all hunt models mutants lint clean
.DELETE_ON_ERROR:

## demo: judge the reference and the published vLLM 0.32.0, side by side. Exit code 2 of the judgement says
## that a target violates a clause, which the published release does: that is the demonstration.
demo: $(VENV)/installed
	@$(BIN)/mmcache-ref conform $(TARGETS) --seconds $(SECONDS) || [ $$? -eq 2 ]

## test: the fast tests
test: $(VENV)/installed
	$(BIN)/python -m pytest -q -m "not slow" -n 2

## test-all: also the slow ones
test-all: $(VENV)/installed
	$(BIN)/python -m pytest -q -n 2

## hunt: how surely, how fast and by how short a run each seeded fault is found, from SEEDS seeds
hunt: $(VENV)/installed
	@$(BIN)/mmcache-ref hunt --seeds $(SEEDS)

## models: check the TLA+ models with TLC, against models/manifest.json and against the search in Python. TIER=nightly
## takes the large ones too.
models: $(VENV)/installed
	@$(BIN)/mmcache-ref models --tier $(TIER)

## mutants: change what decides the caches and the protocol, place by place, and let the oracle judge each mutant.
## It fails on a survivor that tests/mutants/survivors.toml does not explain. MUTANTS=all takes the data model and the
## interface too; MUTANTS=lru:LRUCache.put only what contains the text.
mutants: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python -m mutants $(MUTANTS)

## lint: style, types, the import rule, and a clause matrix without holes
lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mmcache-ref clauses --missing

clean:
	rm -rf $(VENV) dist build reports .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Downloads are tried twice. What torch itself needs comes with the package's own dependencies below.
TORCH_INSTALL = $(PIP) install -qq --no-deps $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

$(VENV)/torch: | $(VENV)/bin/python
	@echo "installing $(TORCH) into $(VENV) ..." >&2
	@$(TORCH_INSTALL) --retries 1 '$(TORCH)' || $(TORCH_INSTALL) '$(TORCH)'
	@touch $@

$(VENV)/installed: pyproject.toml | $(VENV)/torch
	@echo "installing mmcache-ref and its tools into $(VENV) ..." >&2
	@$(PIP) install -e '.[vllm,dev,symbolic,tlc]' || $(PIP) install -e '.[vllm,dev,symbolic,tlc]'
	@touch $@
