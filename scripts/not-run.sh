#!/bin/sh
# Says at the end of a group of tests what was not run, and why. Tests append their reasons to the file that
# KLATCH_TEST_NOT_RUN names.
# usage: not-run.sh begin        not-run.sh end GROUP [WHAT-THE-GROUP-LEAVES-TO-OTHERS]
set -eu

file=${KLATCH_TEST_NOT_RUN:?not-run.sh needs the name of the file}
case $1 in
    begin)
        mkdir -p "$(dirname "$file")"
        : >"$file"
        ;;
    end)
        echo
        echo "make $2: everything that was run passed."
        if [ -s "$file" ]; then
            echo "Not run, because this machine lacks what it needs:"
            sort -u "$file" | sed 's/^/  /'
        else
            echo "Nothing was left out for lack of anything."
        fi
        [ -z "${3:-}" ] || echo "Not a part of make $2: $3"
        ;;
esac
