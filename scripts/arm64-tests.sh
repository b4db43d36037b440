#!/usr/bin/env bash
# Runs the unit tests of all crates for arm64 on another architecture, under QEMU's user-mode emulation. Ends with how many passed, and
# with those that did not run and why; any failure ends it.
# usage: arm64-tests.sh [FILE]        FILE has what cross.sh arm64 tests printed; by default that is called first
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=${1:-$work/programs}
[ $# -gt 0 ] || scripts/cross.sh arm64 tests >"$programs"
export KLATCH_TEST_NOT_RUN=$work/not-run PROGRAMS=$programs LEFT_OUT=$work/left-out WORK=$work RUST_TEST_THREADS=${RUST_TEST_THREADS:-2}
: >"$KLATCH_TEST_NOT_RUN"

# crate, test, why it does not run here.
cat >"$LEFT_OUT" <<'END'
END

# shellcheck disable=SC2016 # the shell in the namespace expands it
scripts/under-arm64.sh bash -c 'set -euo pipefail
passed=0 failed=0
while read -r folder program; do
    crate=${folder##*/} arguments=(--exact)
    while read -r test; do arguments+=(--skip "$test"); done < <(awk -v crate="$crate" "\$1 == crate { print \$2 }" "$LEFT_OUT")
    echo "$crate"
    (cd "$folder" && "$program" "${arguments[@]}") >"$WORK/output" 2>&1 || { failed=1; cat "$WORK/output"; }
    passed=$((passed + $(sed -n "s/^test result: .* \([0-9]*\) passed;.*/\1/p" "$WORK/output")))
done <"$PROGRAMS"
echo "arm64-tests.sh: $passed unit tests passed on arm64; not run: $(wc -l <"$LEFT_OUT"), and $(wc -l <"$KLATCH_TEST_NOT_RUN") for want of something"
exit "$failed"' || { echo "arm64-tests.sh: a test failed: its output is above" >&2; exit 1; }
cat "$LEFT_OUT" "$KLATCH_TEST_NOT_RUN"
