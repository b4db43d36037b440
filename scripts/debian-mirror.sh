#!/bin/sh
# Prints the address of this machine's Debian mirror: $DEBIAN_MIRROR, or else the one in apt's configuration.
# With a SUITE, such as bookworm-security, prints apt's address of that suite, or nothing.
# usage: debian-mirror.sh [SUITE]
set -eu

# Prints lines of "address suite". apt parses both formats of its sources and lists its downloads.
archives() {
    command -v apt-get >/dev/null 2>&1 || return 0
    apt-get --print-uris update 2>/dev/null | sed -n "s|^'\(.*\)/dists/\([^/]*\)/main/.*|\1 \2|p"
}

if [ $# -gt 0 ]; then
    archives | awk -v suite="$1" '$2 == suite && !printed { printed = 1; print $1 }'
    exit 0
fi
if [ -n "${DEBIAN_MIRROR:-}" ]; then
    echo "${DEBIAN_MIRROR%/}"
    exit 0
fi
# Other archives use Debian's suite names too, but a mirror's address almost always ends in "debian".
mirror=$(archives | awk '
    $2 ~ /^(oldstable|stable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)$/ {
        if (first == "") first = $1
        if (named == "" && $1 ~ /debian$/) named = $1
    }
    END { print named != "" ? named : first }')
[ -n "$mirror" ] || {
    echo "debian-mirror.sh: apt has no Debian mirror; set DEBIAN_MIRROR to the address of one" >&2
    exit 2
}
echo "$mirror"
