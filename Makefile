# `make run` and `make test` do all the set-up they need.
.PHONY: run bench test build lint setup setup-test clean

JARS := java/target/klatch.jar java/target/klatch-netty.jar
KLATCH := target/release/klatch
MVN := mvn --batch-mode --quiet --file java/pom.xml

# Build all, and run the benchmark as it is by default. More: target/release/klatch --help
run: build
	$(KLATCH) run

# How near servers and crowd are to what the machine itself takes; appended to bench/history. Ten minutes on an idle machine.
bench: build setup-test
	$(KLATCH) floor

build: $(JARS)
	cargo build --release --locked --package klatch

# The jars are inside the program, so they are built first.
$(JARS) &: $(shell find java -path '*/src/main/*.java' -o -name pom.xml) | setup
	$(MVN) package -DskipTests

# Everything that CI checks.
test: setup-test
	$(MVN) verify
	$(MAKE) lint
	cargo test --locked --workspace
	scripts/instructions.sh
	cd platforms/go-goroutines && test -z "$$(gofmt -l .)" && go vet ./... && go test ./...
	cd platforms/node-events && node --test
	scripts/irc-clients.sh target/debug/klatch java/target

lint:
	cargo fmt --all --check
	shellcheck scripts/*.sh .ci/run
	cargo clippy --locked --workspace --all-targets -- --deny warnings

setup:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test

clean:
	cargo clean
	$(MVN) clean
