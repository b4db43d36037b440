#!/usr/bin/env bash
# Counts the instructions of one message in the chat core and in the crowd, by valgrind's callgrind, and compares them with
# bench/instructions.txt: over 3 % more fails, and over 10 % with a compiler that is not there. `scripts/instructions.sh
# write` puts the counts of this compiler there.
set -euo pipefail
cd "$(dirname "$0")/.."

baseline=bench/instructions.txt
compiler=$(rustc --version | cut -d ' ' -f 2)
# Two lengths of the same run: what they differ by is the loop, without what comes before and after it.
few=20
many=120
messages=$(((many - few) * 20 * 20))
command -v valgrind >/dev/null || {
    echo "valgrind is not here; install it: apt-get install valgrind" >&2
    exit 2
}

# The profile `dev` optimises these two crates, so the tests have built all this already.
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --locked --workspace --examples

counted() { # program, messages a user
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

status=0
for program in chat_room crowd_room; do
    at=$target/debug/examples/$program
    # Tenths of an instruction.
    count=$(((10 * ($(counted "$at" $many) - $(counted "$at" $few))) / messages))
    if [ "${1:-}" = write ]; then
        mkdir -p "$(dirname "$baseline")"
        { grep -v "^$program $compiler " "$baseline" 2>/dev/null || true; } >"$baseline.new"
        echo "$program $compiler $count" >>"$baseline.new"
        mv "$baseline.new" "$baseline"
    fi
    known=$(sed -n "s/^$program $compiler //p" "$baseline")
    allowed=3
    if [ -z "$known" ]; then
        # Compilers differ by some per cent.
        known=$(sed -n "s/^$program [^ ]* //p" "$baseline" | tail -n 1)
        allowed=10
    fi
    echo "$program, rustc $compiler: $count tenths of an instruction a message, $known (+$allowed %) are allowed"
    if [ $((100 * count)) -gt $(((100 + allowed) * known)) ]; then
        echo "$program needs over $allowed % more instructions than $baseline says; if it must be so: $0 write, and say why" >&2
        status=1
    fi
done
exit $status
