#!/bin/sh
# Checks the crates of Cargo.lock with cargo-deny, by deny.toml: licences, bans, sources, and advisories where the RustSec
# database has been fetched. A check that cannot run here is reported and does not fail. The set-up does not install
# cargo-deny, because building it takes minutes.
set -eu
cd "$(dirname "$0")/.."

not_run() { # check, reason
    echo "not run: $1: $2" >&2
    if [ -n "${KLATCH_TEST_NOT_RUN:-}" ]; then echo "$1: $2" >>"$KLATCH_TEST_NOT_RUN"; fi
}

# Called through cargo, which also searches the folder of `cargo install`.
if ! cargo deny --version >/dev/null 2>&1; then
    not_run "cargo deny" "cargo-deny is not installed (cargo install --locked cargo-deny)"
    exit 0
fi
cargo deny --locked check licenses bans sources
# Nothing is fetched here: tests need no network.
databases=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if [ -n "$(ls -A "$databases" 2>/dev/null)" ]; then
    cargo deny --locked check --disable-fetch advisories
else
    not_run "cargo deny check advisories" "there is no advisory database in $databases (cargo deny fetch db)"
fi
