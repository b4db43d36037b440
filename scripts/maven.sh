#!/bin/sh
# Runs mvn, and compares what it has fetched with the list of checksums, before and after. Where something differs, nothing that
# was built is left.
# usage: maven.sh ARGUMENT…
set -eu
scripts=$(dirname "$(realpath "$0")")
"$scripts/maven-checksums.sh"
mvn "$@"
"$scripts/maven-checksums.sh" || {
    rm -f "$scripts"/../java/target/*.jar
    exit 1
}
