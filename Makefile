# `make setup` installs what Klatch is built with, `make setup-test` also what it is tested with; `make run`, `make bench`
# and `make test` call them. `make build` and `make check` install nothing.
.PHONY: run bench build check test test-system lint test-java test-go test-node setup setup-test clean

JARS := java/target/klatch.jar java/target/klatch-netty.jar
KLATCH := target/release/klatch
MVN := mvn --batch-mode --quiet --file java/pom.xml

# Tests append a line here when the machine lacks what they need.
export KLATCH_TEST_NOT_RUN := $(CURDIR)/target/not-run

# Build all, and run the benchmark as it is by default. More: target/release/klatch --help
run: setup
	$(MAKE) build
	$(KLATCH) run

# How near servers and crowd are to what the machine itself takes; appended to bench/history. Ten minutes on an idle machine.
bench: setup-test
	$(MAKE) build
	$(KLATCH) floor

build: $(JARS)
	cargo build --release --locked --package klatch

# The jars are inside the program, so they are built first.
$(JARS) &: $(shell find java -path '*/src/main/*.java' -o -name pom.xml)
	$(MVN) package -DskipTests

# Formatters, linters and unit tests: without root, and without network once all is built. Two minutes after a build.
check:
	@scripts/not-run.sh begin
	$(MAKE) test-java lint
	cargo test --locked --workspace --lib --bins
	$(MAKE) test-go test-node
	@scripts/not-run.sh end check "the tests of whole programs, the count of instructions and the IRC clients: make test"

# Everything that works on this machine, the group test-system included.
test: setup-test
	@scripts/not-run.sh begin
	$(MAKE) test-java lint
	cargo test --locked --workspace --no-fail-fast
	scripts/instructions.sh
	$(MAKE) test-go test-node
	scripts/irc-clients.sh target/debug/klatch java/target
	@scripts/not-run.sh end test

# The tests that need root, BPF, QEMU, a browser or namespaces. Each says so where it cannot run.
SYSTEM_TESTS := hosts instruments lab sysctls browser jvm processes scheduling $(notdir $(basename $(wildcard crates/*/tests/*_as_root.rs)))
test-system: $(JARS)
	@scripts/not-run.sh begin
	cargo test --locked --workspace $(SYSTEM_TESTS:%=--test %)
	@scripts/not-run.sh end test-system "everything else: make test"

test-java:
	$(MVN) verify

test-go:
	cd platforms/go-goroutines && test -z "$$(gofmt -l .)" && go vet ./... && go test ./...

test-node:
	cd platforms/node-events && node --test

lint:
	cargo fmt --all --check
	shellcheck scripts/*.sh .ci/run
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	scripts/deny.sh

setup:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test

clean:
	cargo clean
	$(MVN) clean
