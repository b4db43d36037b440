# `make setup` installs the build requirements, `make setup-test` also those of the tests, `make setup-test-all` those of all tests;
# `make run`, `make test` and `make test-all` call them. `make build` and `make check` install nothing.
.PHONY: run bench build jars dist check test test-all lint test-java test-go test-node docs setup setup-test setup-test-all clean

JARS := java/target/klatch.jar java/target/klatch-netty.jar java/target/klatch-web.jar
KLATCH := target/release/klatch
# Warnings of a compiler end it, so they are shown; --quiet would hide them.
MVN := scripts/maven.sh --batch-mode -Dorg.slf4j.simpleLogger.defaultLogLevel=warn --file java/pom.xml

# Tests append a line to this file when the machine lacks a requirement.
export KLATCH_TEST_NOT_RUN := $(CURDIR)/target/not-run
# With 1, tests take every platform instead of one a language.
export KLATCH_TEST_ALL
# Tests of the whole program wait for processes, timeouts and given times for a third of their time, so three of them use two CPUs.
export RUST_TEST_THREADS ?= $(shell expr $$(nproc) '*' 3 / 2)

# Build everything and run the default benchmark. For more: target/release/klatch --help
run: setup
	$(MAKE) build
	$(KLATCH) run

# Compare servers and crowd with the floor of this machine, and measure the simulator; appends to bench/history. Ten minutes on an idle machine.
bench: setup-test
	$(MAKE) build
	$(KLATCH) floor
	cargo run --release --locked --package klatch-research -- speed

# With an example, cargo turns on the features that tests need, and compiles nothing a second time for them.
BUILD := --release --locked --workspace --bin klatch --example dummy
build:
	@if [ -e java/target/klatch-web.jar ]; then $(MAKE) jars && cargo build $(BUILD); else scripts/first-build.sh $(BUILD); fi

# The program contains the jars. Formatter, Error Prone and tests are left to `make test`.
jars: $(JARS)
$(JARS) &: $(shell find java -path '*/src/main/*.java' -o -name pom.xml)
	@# Maven keeps what a source that is gone has left there, and the jar would contain it.
	@rm -rf java/*/target/classes
	$(MVN) package -Dquick

# The files of a release in target/dist: tarball, .deb, .rpm, container image and bill of materials, with the sums of all. They are for this
# machine's architecture; with ARCHITECTURE=all for both, and of the images there is an index.
dist: setup $(JARS)
	@scripts/dist.sh $(ARCHITECTURE)

# Formatters, linters and unit tests, without root and, after a build, without network.
check:
	@scripts/not-run.sh begin
	$(MAKE) --jobs=2 --output-sync test-java lint
	cargo test --release --locked --workspace --lib --bins
	$(MAKE) test-go test-node
	@scripts/not-run.sh end check "the tests of whole programs, the count of instructions and the IRC clients: make test-all"

# What `make test` leaves to `make test-all`.
LEFT_OUT := --skip all:: --skip alone::
LEFT_OUT_NOTE := every platform, other JDKs, the lab, clusters, IRC clients: make test-all

# What a contributor runs: everything but other JDKs, downloads, emulated machines, clusters, and every platform instead of one a language.
test: setup-test
	@scripts/not-run.sh begin
	$(MAKE) --jobs=2 --output-sync test-java lint
	cargo test --release --locked --workspace --no-fail-fast -- $(LEFT_OUT)
	scripts/instructions.sh
	$(MAKE) test-go test-node
	@scripts/not-run.sh end test "$(LEFT_OUT_NOTE)"

# All tests: `make test` with every platform, other JDKs, the lab and a cluster, then IRC clients. The group `alone` measures or
# changes the host, so it runs one by one.
test-all: setup-test-all
	$(MAKE) test KLATCH_TEST_ALL=1 LEFT_OUT='--skip alone::' LEFT_OUT_NOTE='the group alone and the IRC clients, which follow'
	@scripts/not-run.sh begin
	KLATCH_TEST_ALL=1 cargo test --release --locked --workspace --no-fail-fast --test it -- --test-threads=1 alone::
	scripts/irc-clients.sh $(KLATCH) java/target
	@scripts/not-run.sh end test-all

# Error Prone sees what is compiled, so everything is: `make jars` has compiled without it. The jars stay as they are.
test-java:
	rm -rf java/*/target/classes
	$(MVN) test

test-go:
	for module in go-goroutines go-goroutines/gorilla go-goroutines/coder go-goroutines/gws go-pgx; do \
		(cd platforms/$$module && test -z "$$(gofmt -l .)" && go vet ./... && go test ./...) || exit 1; \
	done

test-node:
	for module in node-events node-pg; do (cd platforms/$$module && node --test) || exit 1; done

# Cargo would look for make's job server, which only make itself can use, and warn.
lint: export MAKEFLAGS :=
lint:
	cargo fmt --all --check
	shellcheck scripts/*.sh research/planted/*.sh .ci/run contrib/slurm/*
	@# In the profile of the tests, so that build scripts and macros are compiled once for both.
	cargo clippy --release --locked --workspace --all-targets -- --deny warnings
	@# As a release is built: without the features of tests.
	cargo check --release --locked --package klatch
	scripts/maven.sh --batch-mode --quiet --file platforms/payara/pom.xml spotless:check
	scripts/deny.sh
	scripts/manifests.sh
	scripts/workflows.sh

# Build docs/ as a book with search in target/book. cargo installs mdbook in a folder that the search path may lack.
docs: export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin
docs:
	@command -v mdbook >/dev/null || { \
		echo "make docs needs mdbook; install it: scripts/install-tools.sh mdbook" >&2; exit 2; }
	mdbook build

setup:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test

setup-test-all:
	@scripts/setup.sh test-all

clean:
	cargo clean
	$(MVN) clean
