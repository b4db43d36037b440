#!/bin/sh
# Prints at the end of a group of tests which tests were not run, and why. Tests append their reasons to the file
# $KLATCH_TEST_NOT_RUN.
# usage: not-run.sh begin        not-run.sh add "TEST: REASON"        not-run.sh end GROUP [EXCLUDED]
set -eu

if [ "$1" = add ]; then
    echo "not run: $2" >&2
    [ -z "${KLATCH_TEST_NOT_RUN:-}" ] || echo "$2" >>"$KLATCH_TEST_NOT_RUN"
    exit 0
fi
file=${KLATCH_TEST_NOT_RUN:?must be the path of the file}
case $1 in
    begin)
        mkdir -p "$(dirname "$file")"
        : >"$file"
        ;;
    end)
        echo
        echo "make $2: all tests that were run passed."
        if [ -s "$file" ]; then
            echo "Not run, because this machine lacks a requirement:"
            sort -u "$file" | sed 's/^/  /'
        else
            echo "No test was left out for lack of a requirement."
        fi
        [ -z "${3:-}" ] || echo "Not a part of make $2: $3"
        ;;
esac
