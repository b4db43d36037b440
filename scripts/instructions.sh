#!/usr/bin/env bash
# Counts the instructions of one message in the chat core and in the crowd with valgrind's callgrind, and compares them
# with bench/instructions.txt. The limit is 3 % above the baseline, or 10 % if it lacks this compiler.
# `scripts/instructions.sh write` adds the counts of this compiler to the baseline.
set -euo pipefail
cd "$(dirname "$0")/.."

baseline=bench/instructions.txt
compiler=$(rustc --version | cut -d ' ' -f 2)
# Two lengths of the same run: their difference is the loop without start and end.
few=20
many=120
messages=$(((many - few) * 20 * 20))
command -v valgrind >/dev/null || {
    echo "valgrind is missing; install it: apt-get install valgrind" >&2
    exit 2
}

# As the tests have already built them.
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --locked --workspace --examples

count_instructions() { # program, messages of each user
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

status=0
for program in chat_room crowd_room; do
    at=$target/release/examples/$program
    # In tenths of an instruction.
    count=$(((10 * ($(count_instructions "$at" $many) - $(count_instructions "$at" $few))) / messages))
    if [ "${1:-}" = write ]; then
        mkdir -p "$(dirname "$baseline")"
        { grep -v "^$program $compiler " "$baseline" 2>/dev/null || true; } >"$baseline.new"
        echo "$program $compiler $count" >>"$baseline.new"
        mv "$baseline.new" "$baseline"
    fi
    expected=$(sed -n "s/^$program $compiler //p" "$baseline")
    allowed=3
    if [ -z "$expected" ]; then
        # Compilers differ by a few per cent.
        expected=$(sed -n "s/^$program [^ ]* //p" "$baseline" | tail -n 1)
        allowed=10
    fi
    echo "$program, rustc $compiler: $count tenths of an instruction for each message; limit: $expected + $allowed %"
    if [ $((100 * count)) -gt $(((100 + allowed) * expected)) ]; then
        echo "$program needs over $allowed % more instructions than in $baseline." \
            "If this is intended, run $0 write and give the reason in the commit message." >&2
        status=1
    fi
done
exit $status
