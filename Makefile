# `make demo` mends a real model and shows the breaks before and after; `make test` is what CI runs.
# Both set up .venv on their first run and need nothing but Python 3.11 or later.
# `make test-torch VERSION=2.11.0` runs the tests on another torch, in an environment of its own. The
# index is pip's: PIP_INDEX_URL and PIP_EXTRA_INDEX_URL choose the build of torch.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
WORKERS ?= 2
VERSION ?= 2.11.0
PY := $(VENV)/bin/python

.PHONY: demo test test-torch lint clean

test: lint
	$(PY) -m pytest -q -n $(WORKERS)

test-torch: $(VENV)-torch-$(VERSION)/ready
	$(<D)/bin/python -m pytest -q -n $(WORKERS) -m 'not slow and not pinned'

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

$(VENV)-torch-%/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(@D)
	grep -v '^torch==' constraints.txt > $(@D)/constraints.txt
	$(@D)/bin/python -m pip install -q -c $(@D)/constraints.txt torch==$* -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-torch-* dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
