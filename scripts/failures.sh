#!/bin/sh
# Prints what failed in a log of tests once more, so that it stands at the end, where it is looked for: the names of the tests, and the
# first lines that each printed.
# usage: failures.sh LOG
set -eu
log=$1
lines=${KLATCH_FAILURE_LINES:-40}
echo
echo "Failed, from $log:"
sed -n 's/^test \(.*\) \.\.\. FAILED$/  \1/p' "$log" | sort -u
awk -v most="$lines" '
    /^---- .* stdout ----$/ { inside = 1; count = 0 }
    /^failures:$/ { inside = 0 }
    inside && count++ < most { print substr($0, 1, 400) }' "$log"
