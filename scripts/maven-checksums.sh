#!/usr/bin/env bash
# Compares what Maven has fetched with java/.mvn/checksums/checksums.sha256, a list of SHA-256 sums and paths in Maven's local
# repository. maven.sh calls it around each build; Maven itself, from version 3.9.2 on, compares each file before it uses it
# (java/.mvn/maven.config).
#
#   maven-checksums.sh              every file there that is listed has its sum; those that have not changed since are skipped
#   maven-checksums.sh all          and every file there is listed; for machines that use Maven for nothing else
#   maven-checksums.sh repository   prints the path of the local repository
#   maven-checksums.sh write        makes the list anew in an empty repository, after a change of versions; with Debian 12's Maven
set -euo pipefail
cd "$(dirname "$0")/.."
list=$PWD/java/.mvn/checksums/checksums.sha256

fail() {
    echo "maven-checksums.sh: $1" >&2
    exit 1
}

# Java takes the home folder from the user database, not from HOME.
local_repository() {
    home=$(getent passwd "$(id -u)" | cut -d : -f 6)
    repository=$(echo "${MAVEN_ARGS:-} ${MAVEN_OPTS:-}" | sed -n 's/.*-Dmaven\.repo\.local=\([^ ]*\).*/\1/p')
    [ -n "$repository" ] || repository=$(sed -n 's|.*<localRepository>\(.*\)</localRepository>.*|\1|p' "$home/.m2/settings.xml" 2>/dev/null) || true
    echo "${repository:-$home/.m2/repository}"
}

# The paths of all files that Maven fetched, without its notes on where and when.
fetched() { # repository, condition of find
    find "$@" -type f ! -name _remote.repositories ! -name '*.lastUpdated' ! -name 'maven-metadata*' \
        ! -name resolver-status.properties ! -name '*.sha1' ! -name '*.lock' -printf '%P\n' | LC_ALL=C sort
}

case ${1:-} in
    write)
        fresh=$(mktemp -d)
        trap 'rm -rf "$fresh"' EXIT
        fetch() { mvn --batch-mode --quiet -Dmaven.repo.local="$fresh/repository" "$@"; }
        # One test of each module makes Surefire fetch what runs tests.
        fetch --file java/pom.xml clean verify -Dtest='DialogueTest,NettyStackTest,RulesTest,CommandTest' \
            -Dsurefire.failIfNoSpecifiedTests=false
        fetch --file java/pom.xml "$(grep --only-matching 'org\.cyclonedx:[^ ]*' scripts/third-party.sh)" -DoutputDirectory="$fresh" \
            -DincludeTestScope=false -DincludeLicenseText=true -Dcyclonedx.verbose=false
        fetch --file platforms/payara/pom.xml -Dbuild.folder="$fresh/payara" package spotless:check
        cd "$fresh/repository"
        mkdir -p "$(dirname "$list")"
        fetched . | tr '\n' '\0' | xargs -0 sha256sum >"$list"
        ;;
    repository) local_repository ;;
    '' | all)
        repository=$(local_repository)
        [ -d "$repository" ] || exit 0
        # Its time is that before the comparison. The kernel sets the time of a change, so no file can look older than it is.
        checked=$PWD/target/maven-checked
        mkdir -p target
        now=$(mktemp "$checked.XXXXXX")
        trap 'rm -f "$now"' EXIT
        echo "$repository" >"$now"
        changed=
        if [ -z "${1:-}" ] && [ "$checked" -nt "$list" ] && [ "$(cat "$checked")" = "$repository" ]; then
            changed="-cnewer $checked"
        fi
        cd "$repository"
        # shellcheck disable=SC2086 # two words, or none
        present=$(fetched . $changed | awk -v list="$list" '
            BEGIN { while ((getline line <list) > 0) sum[substr(line, 67)] = line }
            $0 in sum { print sum[$0] }')
        [ -z "$present" ] || echo "$present" | sha256sum --check --quiet --strict >&2 ||
            fail "files of $repository differ from $list; remove them, and if they differ again, somebody has changed them"
        mv "$now" "$checked"
        [ "${1:-}" = all ] || exit 0
        unlisted=$(fetched . | awk -v list="$list" '
            BEGIN { while ((getline line <list) > 0) listed[substr(line, 67)] = 1 }
            !($0 in listed)')
        [ -z "$unlisted" ] || fail "these files of $repository are not in $list; make it anew with $0 write:
$unlisted"
        ;;
    *)
        echo "usage: maven-checksums.sh [all|repository|write]" >&2
        exit 2
        ;;
esac
