# Two commands matter to a newcomer: `make quickstart` and `make test`. Both install what is
# missing, build, and run; `make help` lists the rest.
JOBS ?= 2
PRESET ?= release
PYTHON ?= /usr/bin/python3
BUILD = build/$(PRESET)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: quickstart test build configure deps unit-tests python-tests asan asan-slice tsan explained fuzz fuzz-formats fuzz-sql fuzz-databases crash reproducible soak stops bench bench-peers bench-cluster package docs format lint check-layers clean help test-64mb memory

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

quickstart: configure  ## install, build, and run a short guided program
	@cmake --build --preset $(PRESET) --target quickstart _tessera tessera_shell
	@$(BUILD)/examples/quickstart

test: build check-layers unit-tests python-tests  ## install, build, and run all tests

deps:
	@scripts/deps

configure: deps
	@cmake --preset $(PRESET) --log-level=NOTICE > /dev/null

build: configure
	@cmake --build --preset $(PRESET)

unit-tests: build
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

python-tests: build
	PYTHONPATH=$(BUILD)/python $(PYTHON) -m pytest -q -n $(JOBS) -p no:cacheprovider tests/python
	TESSERA_MEMORY_LIMIT=64MB PYTHONPATH=$(BUILD)/python $(PYTHON) -m pytest -q -n $(JOBS) -p no:cacheprovider \
	  $(addprefix tests/python/test_,$(addsuffix .py,database plan_model relations running sites))

test-64mb: export TESSERA_MEMORY_LIMIT = 64MB
test-64mb: build unit-tests  ## all tests once more, every run in 64 MB
	PYTHONPATH=$(BUILD)/python $(PYTHON) -m pytest -q -n $(JOBS) -p no:cacheprovider tests/python

asan-slice: deps  ## what every change must pass of `make asan`: all but the laws
	@cmake --preset asan-slice --log-level=NOTICE > /dev/null
	@cmake --build --preset asan-slice --target unit_tests papers_tests sql_tests format_fuzz sql_fuzz database_fuzz
	ctest --test-dir build/asan-slice --output-on-failure -j $(JOBS) -R '^(unit_.|papers_.|sql|sql_by_rows|sql_4_sites|sql_64mb|.*_fuzz)$$'

asan:  ## the C++ tests under the address and undefined-behaviour sanitizers
	$(MAKE) unit-tests PRESET=asan

tsan:  ## the C++ tests under the thread sanitizer
	$(MAKE) unit-tests PRESET=tsan

explained: build  ## random statements: the plans that EXPLAIN shows are those that run (STATEMENTS=n DEEP=n SEED=n)
	STATEMENTS=$(or $(STATEMENTS),3000) DEEP=$(or $(DEEP),20) SEED=$(or $(SEED),1) \
	  $(BUILD)/tests/laws_tests --gtest_filter='Explained.*'

fuzz: build  ## a long campaign of kernels against plain loops (CASES=n SEED=n)
	$(BUILD)/tests/laws/kernel_fuzz --cases=$(or $(CASES),2000000) --seed=$(or $(SEED),0)

fuzz-formats: deps  ## mutated files of every format, under the address sanitizer (SECONDS=n a format, SEED=n)
	@cmake --preset asan --log-level=NOTICE > /dev/null
	@cmake --build --preset asan --target format_fuzz
	@for format in npy npz raw hdf5 csv triples mtx svmlight extreme; do \
	  echo $$format; ASAN_OPTIONS=allocator_may_return_null=1 build/asan/tests/fuzz/format_fuzz \
	    --format $$format --seconds $(or $(SECONDS),300) --seed $(or $(SEED),0) || exit 1; done

fuzz-sql: deps  ## random bytes, tokens and mutated statements, executed as SQL under the address sanitizer (SECONDS=n, SEED=n)
	@cmake --preset asan --log-level=NOTICE > /dev/null
	@cmake --build --preset asan --target sql_fuzz
	@ASAN_OPTIONS=allocator_may_return_null=1 build/asan/tests/fuzz/sql_fuzz --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)

fuzz-databases: deps  ## databases written by an attacker, with right checksums, under the address sanitizer (MUTATIONS=n, SEED=n)
	@cmake --preset asan --log-level=NOTICE > /dev/null
	@cmake --build --preset asan --target database_fuzz
	@each=$$(( ($(or $(MUTATIONS),100000) + $(JOBS) - 1) / $(JOBS) )); for job in $$(seq $(JOBS)); do echo $$(( $(or $(SEED),0) + (job - 1) * each )); done | \
	  ASAN_OPTIONS=allocator_may_return_null=1 xargs -P $(JOBS) -I{} build/asan/tests/fuzz/database_fuzz --mutations $$each --seed {}

crash: build  ## databases whose processes are killed, whose disks fail and whose bits flip (RUNS=n of each kind, FLIPS=n, SEED=n)
	RUNS=$(or $(RUNS),2000) SEED=$(SEED) OPENBLAS_NUM_THREADS=1 $(BUILD)/tests/crash_tests --gtest_filter=-Readers.*:OneState.*:FlippedBits.*
	RUNS=$(or $(FLIPS),20000) SEED=$(SEED) OPENBLAS_NUM_THREADS=1 $(BUILD)/tests/crash_tests --gtest_filter=FlippedBits.*

reproducible: build  ## one result a plan and placement, to the last bit: PLANS=n, on 1 to 4 sites and 1 to 8 threads, RUNS=n each (SEED=n)
	PLANS=$(or $(PLANS),200) RUNS=$(or $(RUNS),20) SEED=$(SEED) OMP_WAIT_POLICY=passive $(BUILD)/tests/laws_tests --gtest_filter='Reproducible.*'

memory: build  ## statements built to exceed their memory, at 64 MB and 1 MB, and ones for which the machine has none (RUNS=n)
	$(PYTHON) tests/memory/campaign.py --program $(BUILD)/tessera
	RUNS=$(or $(RUNS),300) OPENBLAS_NUM_THREADS=1 $(BUILD)/tests/memory_tests

soak: build  ## processes that read a database beside some that write, for SECONDS=n (READERS=n WRITERS=n)
	SOAK_SECONDS=$(or $(SECONDS),60) SOAK_READERS=$(or $(READERS),50) SOAK_WRITERS=$(or $(WRITERS),6) \
	  OPENBLAS_NUM_THREADS=1 $(BUILD)/tests/crash_tests --gtest_filter=Readers.*:OneState.*

stops: build  ## statements of 42 kinds stopped by Ctrl-C at random moments: how soon they end (STOPS=n SEED=n)
	$(PYTHON) tests/stops/campaign.py --program $(BUILD)/tessera --stops $(or $(STOPS),300) --seed $(or $(SEED),0)

bench: build  ## our kernels against the libraries called directly, as ratios: some minutes
	@PYTHONPATH=$(BUILD)/python $(PYTHON) bench/run.py --build $(BUILD)

bench-kernels: build  ## one family of these; the others: bench-forms, -expressions, -sparse, -scipy, -multiply, -planning, -statements, -events, -cuts
bench-import: build  ## longer: a file of 2 GB imported, against cp
bench-import-text: build  ## longer: text files of 500 MB imported, against NumPy and SciPy
bench-out-of-core: build  ## longer: work on more than the memory holds, against no limit and the disk
bench-frames: build  ## longer: recursive SQL in frames, against one plan
bench-%: build
	@PYTHONPATH=$(BUILD)/python $(PYTHON) bench/run.py --build $(BUILD) $*

bench-peers:  ## install and build the tools that the cluster benchmark compares with
	@$(MAKE) -C bench/peers bench-peers

bench-cluster: build bench-peers  ## distributed products against ScaLAPACK, PETSc and Dask (NETCLUSTER=path, root)
	$(PYTHON) bench/cluster.py --ours $(BUILD)/examples/multiply_distributed

package: build  ## packages for Debian in build/<preset>: the shell and the library, the plug-in for MPI, the Python module
	@cd $(BUILD) && cpack -G DEB

docs: build  ## write the pages that are generated from the code, and what the examples of the shell print
	PYTHONPATH=$(BUILD)/python $(PYTHON) scripts/kernel_reference > docs/kernels.md
	PYTHONPATH=$(BUILD)/python $(PYTHON) scripts/transcripts README.md CONTRIBUTING.md docs/*.md

format:  ## format every C++ file
	@git ls-files -co --exclude-standard '*.cpp' '*.h' | xargs clang-format -i

lint: build  ## clang-tidy on the files changed since BASE (default: the last commit)
	@scripts/lint $(BUILD) $(BASE)

check-layers:
	@scripts/check_layers

clean:  ## remove every build
	rm -rf build
