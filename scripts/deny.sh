#!/bin/sh
# Checks the crates of Cargo.lock with cargo-deny, by deny.toml: licences, bans, sources, and advisories where the RustSec
# database has been fetched. A check that cannot run here is reported and does not fail. The set-up does not install
# cargo-deny, because building it takes minutes.
set -eu
cd "$(dirname "$0")/.."

# Called through cargo, which also searches the folder of `cargo install`.
if ! cargo deny --version >/dev/null 2>&1; then
    exec scripts/not-run.sh add "cargo deny: cargo-deny is not installed (scripts/install-tools.sh cargo-deny)"
fi
cargo deny --locked check licenses bans sources
# Nothing is fetched here: tests need no network.
databases=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if [ -n "$(ls -A "$databases" 2>/dev/null)" ]; then
    cargo deny --locked check --disable-fetch advisories
else
    scripts/not-run.sh add "cargo deny check advisories: there is no advisory database in $databases (cargo deny fetch db)"
fi
