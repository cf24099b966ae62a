# `make demo` mends a real model and shows the breaks before and after; `make test` is what CI runs.
# Both set up .venv on their first run and need nothing but Python 3.11 or later.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
WORKERS ?= 2
PY := $(VENV)/bin/python

.PHONY: demo test lint clean

test: lint
	$(PY) -m pytest -q -n $(WORKERS)

lint: $(VENV)/ready
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict graphmend

demo: $(VENV)/ready
	$(PY) -m eval.demo

# torch first and pinned: nothing installed later then asks the index for another build of it.
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q $$(grep '^torch==' constraints.txt)
	$(PY) -m pip install -q -c constraints.txt -e '.[torch,dev]'
	touch $@

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
