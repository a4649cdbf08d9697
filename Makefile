# The one way in, for people, README and CI alike. `make help` lists the targets.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; `make PYTHON=/path/to/python3.13 run` chooses another.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# As the product does for itself: threads of the linear algebra library would only fight over the cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all test-train train lint format bench bench-strokes system-packages clean fuzz try-install test-oldest-runtime
AXE := node_modules/axe-core/axe.min.js

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found (Debian: apt install python3 python3-venv)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "venv is missing in $(PYTHON) (Debian: apt install python3-venv)" >&2; exit 1; }

$(VENV)/.run-stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing novuss and what it needs into $(VENV) (once, a minute or two) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev-stamp: $(VENV)/.run-stamp
	@echo "installing what the tests need into $(VENV) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

setup: $(VENV)/.run-stamp ## make the virtual environment with everything `run` needs

run: $(VENV)/.run-stamp ## play on the virtual table, with scoreboard and embedded broker (Ctrl-C ends it); ARGS="..." are added
	@$(BIN)/novuss watch $(ARGS)

system-packages: ## mosquitto and Chromium for the broker and browser tests: installed where that may be, named where not
	@missing=; command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || missing="$$missing mosquitto"; \
	command -v mosquitto_sub >/dev/null || missing="$$missing mosquitto-clients"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing ..."; \
	  apt-get update -qq >/dev/null 2>&1; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null 2>&1 || true; \
	fi; \
	for p in $$missing; do dpkg -s $$p >/dev/null 2>&1 || echo "missing: $$p (sudo apt install $$p); its tests will be skipped" >&2; done; true

# A tool of the tests like Chromium, by name from npm; without it the tests of accessibility are skipped and say so.
$(AXE):
	@if command -v npm >/dev/null; then \
	  echo "installing axe-core from npm ..."; npm install --silent --no-save --no-package-lock --no-audit --no-fund axe-core@4 || \
	  echo "axe-core could not be installed; the tests of accessibility will be skipped" >&2; \
	else echo "missing: npm (sudo apt install npm); the tests of accessibility will be skipped" >&2; fi

# Three processes a machine of two cores: many tests wait for brokers, browsers and real seconds, few for the processor.
test: $(VENV)/.dev-stamp system-packages $(AXE) ## all tests but the slow ones, browser and broker included
	@$(BIN)/python -m pytest -m "not slow" -rR --numprocesses 3 --dist loadfile $(ARGS)

test-all: $(VENV)/.dev-stamp system-packages $(AXE) ## every test, the slow ones too
	@$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev-stamp ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: $(VENV)/.dev-stamp ## put the code into house format
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

# Raspberry Pi OS bookworm has glibc 2.36, trixie 2.41: wheels for these and for every older one run there.
PI_OUT := $(VENV)/pi
PI_PYTHONS := 3.11 3.13
PI_PLATFORMS := $(foreach g,17 24 26 27 28 31 34 35,--platform manylinux_2_$(g)_aarch64) --platform manylinux2014_aarch64

wheels: $(VENV)/.run-stamp ## every runtime dependency as a wheel for the Pi (aarch64, Python 3.11 and 3.13), from the package index
	@mkdir -p $(PI_OUT)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > $(PI_OUT)/runtime.txt
	@for v in $(PI_PYTHONS); do \
	  $(PIP) --dry-run --ignore-installed --only-binary=:all: --implementation cp --python-version $$v $(PI_PLATFORMS) \
	    --target $(PI_OUT)/pi-$$v --report $(PI_OUT)/pi-$$v.json -r $(PI_OUT)/runtime.txt >/dev/null \
	  && $(BIN)/python -c 'import json, sys; r = json.load(open(sys.argv[1]))["install"]; print("Python", sys.argv[2] + ":", len(r), "wheels,",  \
	    sum("aarch64" in p["download_info"]["url"] for p in r), "of them built for aarch64")' $(PI_OUT)/pi-$$v.json $$v || exit 1; \
	done

try-install: $(VENV)/.dev-stamp ## the installer in a fresh Debian that systemd has booted; root, debootstrap and systemd-container are needed
	@$(BIN)/python -m pytest tests/systemd/test_fresh_root.py -rs $(ARGS)

test-oldest-runtime: $(VENV)/.dev-stamp ## the networks with the oldest onnxruntime, numpy, OpenCV and scipy that are allowed: same answers, same tests
	@$(BIN)/python -m pytest tests/vision/test_oldest_runtime.py -rsP $(ARGS)

fuzz: $(VENV)/.dev-stamp ## everything that takes bytes from outside, ten minutes each; ARGS="60 http board" for a minute of these
	@$(BIN)/python -m tests.fuzz $(or $(ARGS),600)

bench: $(VENV)/.dev-stamp ## speed, memory and accuracy as figures, against named alternatives in the same run
	@$(BIN)/python -m benchmarks

bench-strokes: $(VENV)/.dev-stamp ## the full figures of strokes: 5,000 at position level, 300 on film, a rolling shutter; hours, with progress
	@$(BIN)/python -m benchmarks strokes 5000
	@$(BIN)/python -m benchmarks filmed 300
	@$(BIN)/python -m benchmarks shutter
	@$(BIN)/python -m benchmarks quiet 60

$(VENV)/.train-stamp: $(VENV)/.dev-stamp
	@echo "installing what training needs into $(VENV) ..."
	@$(PIP) --editable '.[train]'
	@touch $@

train: $(VENV)/.train-stamp ## make the models and their cards from nothing, about two hours on two cores; ARGS="occluders" for one of them
	@$(BIN)/python -m models.training $(ARGS)

test-train: $(VENV)/.train-stamp ## a trial training and its tests
	@$(BIN)/python -m pytest tests/models $(ARGS)

clean: ## remove everything that make made
	rm -rf $(VENV) node_modules build *.egg-info out .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
