# demo · test · check · bench; each creates .venv when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check bench clean

# One thread a process: threads of small networks wait for each other when anything else runs.
demo test: export OMP_NUM_THREADS := $(or $(OMP_NUM_THREADS),1)

demo: $(READY)
	$(BIN)/probekit demo --out runs/demo

test: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest tests/test_ladder.py

bench: $(READY)
	$(BIN)/python -m bench --out bench.json

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): about 5 GB, most of it PyTorch and the CUDA libraries that come with it"
	$(BIN)/python -m pip install --quiet torch torchvision
	$(BIN)/python -m pip install --quiet --editable ".[test,bench]"
	touch $(READY)

clean:
	rm -rf $(VENV) runs bench.json
