#!/usr/bin/env bash
# Counts the instructions of one message in the chat core and in the crowd, by valgrind's callgrind, and compares them with
# bench/instructions.txt: over 3 % more fails. `scripts/instructions.sh write` puts the counts of this compiler there.
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
    echo "$program, rustc $compiler: $count tenths of an instruction a message, baseline ${known:-none}"
    if [ -z "$known" ]; then
        echo "$baseline has no counts of rustc $compiler: write them with $0 write, on the commit before the change" >&2
        status=1
    elif [ $((100 * count)) -gt $((103 * known)) ]; then
        echo "$program needs over 3 % more instructions than $baseline says; if it must be so, $0 write, and say why" >&2
        status=1
    fi
done
exit $status
