# Two commands are enough: `make demo` rates the sample games, `make test` checks everything.
# Both set up what they need (a virtual environment in .venv, the packages, a chess engine) and are quick the second time.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/.tools/bin:$(PATH):/usr/games:/usr/local/games

.PHONY: demo test bench validate fuzz lint engine browser clean
.DEFAULT_GOAL := demo

demo: $(VENV)/installed engine
	@$(BIN)/assay demo -o out

test: $(VENV)/installed-all engine browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal -q

# All benchmarks beside the alternatives; writes docs/performance.md. DATA=GAMES.pgn.zst measures on real games,
# QUICK=1 takes under a minute and writes to out/.
bench: $(VENV)/installed-all engine
	$(BIN)/python benchmarks/all.py $(if $(QUICK),--quick) $(DATA)

# All studies on the committed reference set and a folder of real games and analyses (docs/validation.md); goes on where
# it stopped, the cheapest first, writes what each prints and costs to out/validation. MOST=10 leaves out what costs more
# CPU minutes than that.
validate: $(VENV)/installed-all engine
	$(BIN)/python studies/all.py $(if $(MOST),--most $(MOST)) $(if $(DATA),$(DATA),$(error Give the folder of games: make validate DATA=FOLDER))

# Coverage-guided fuzzing, 100,000 cases for each of fourteen surfaces (docs/robustness.md); an hour.
fuzz: $(VENV)/installed-all
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m fuzz.run
	$(BIN)/python -m fuzz.mass

lint: $(VENV)/installed-all
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

$(VENV)/bin/python:
	@tools/make-venv.sh "$(PYTHON)" "$(VENV)"

$(VENV)/installed: pyproject.toml $(VENV)/bin/python
	@echo "Installing Assay into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-all: pyproject.toml $(VENV)/bin/python
	@echo "Installing Assay with all extras into $(VENV) (some minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[learn,cluster,web,dev]'
	@touch $@ $(VENV)/installed

engine:
	@tools/install-engine.sh

browser:
	@tools/install-browser.sh
	@tools/install-npm.sh axe axe-core@4
	@tools/install-npm.sh chessops chessops@0.15

clean:
	rm -rf $(VENV) .tools build dist out .mypy_cache .pytest_cache .ruff_cache .hypothesis
