#!/usr/bin/env bash
# Tries the program for arm64 on another architecture, under QEMU's user-mode emulation: the native servers and crowds on every
# workload and transport, conformance, a report. Ends with the number of what passed; any failure ends it.
#
# What this emulation cannot do is not tried: BPF programs, io_uring, sched_ext.
# usage: arm64.sh [PROGRAM]        by default, target/cross/arm64/klatch is built first, in profile release
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-}
[ -n "$program" ] || program=$(scripts/cross.sh arm64 release)
program=$(realpath "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state KLATCH="$program" WORK=$work

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null

# shellcheck disable=SC2016 # the shell in the namespace expands it
scripts/under-arm64.sh bash -c 'set -euo pipefail
passed=0
try() { # arguments of klatch
    echo "klatch $*"
    "$KLATCH" "$@" >"$WORK/output" 2>&1 || { status=$?; cat "$WORK/output"; echo "arm64.sh: klatch $*: exit status $status" >&2; exit 1; }
    passed=$((passed + 1))
}
short=(--warmups 0 --trials 1 --timeout 60s --ready-timeout 60s --out "$WORK/results")
chat=(run --rooms 2 --users 5 --count 20 "${short[@]}")
try --version
try platforms
try doctor
for platform in native-threads native-tokio native-epoll native-epoll-coalesce; do
    try "${chat[@]}" --platform "$platform"
done
try "${chat[@]}" --platform native-epoll --crowd native-threads
for transport in tls ws wss; do
    try "${chat[@]}" --platform native-epoll --transport "$transport"
done
try run rr --platform native-epoll --connections 4 --duration 1 "${short[@]}"
try run web --platform native-epoll --line none --lines 4 --directories 1 --duration 2 "${short[@]}"
try run --workload files --platform native-pread --files 1 --file-mib 4 --duration 1 "${short[@]}"
try conformance native-epoll
try probe ping-pong --tasks 2 --rounds 200
try simulate run --machine "4 cpus" --scheduler goodness
grep -qr "\"architecture\": *\"aarch64\"" "$WORK/results/latest/" || { echo "arm64.sh: the record is not of aarch64" >&2; exit 1; }
try report "$WORK/results/latest" --out "$WORK/report.html"
echo "arm64.sh: $passed commands of the program for arm64 ended well"'
