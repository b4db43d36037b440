#!/usr/bin/env bash
# Builds the jars and the program in a clean clone: Maven works while cargo compiles what does not need the jars. The build script
# of crates/platforms, which puts them into the program, waits for the lock.
# `scripts/first-build.sh CARGO-ARGUMENT...`
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p java/target
exec 9>java/target/lock
flock 9
# As old as the start, since a build script is run anew for a file that is younger than its own start.
(make jars && touch --reference=java/target/lock java/target/*.jar) &
jars=$!
exec 9>&-
cargo build "$@" &
program=$!
trap 'kill $jars $program 2>/dev/null || true' EXIT
# If one fails, the other is not worth waiting for.
wait -n
wait -n
trap - EXIT
