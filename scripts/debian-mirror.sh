#!/bin/sh
# Prints the address of the Debian mirror that this machine uses: $DEBIAN_MIRROR, else the one that apt is configured with.
# With a SUITE, such as bookworm-security, prints where apt gets that suite, or nothing.
# usage: debian-mirror.sh [SUITE]
set -eu

# Lines of "address suite": apt reads both formats of its sources, and says what it would download.
archives() {
    command -v apt-get >/dev/null 2>&1 || return 0
    apt-get --print-uris update 2>/dev/null | sed -n "s|^'\(.*\)/dists/\([^/]*\)/main/.*|\1 \2|p"
}

if [ $# -gt 0 ]; then
    archives | awk -v suite="$1" '$2 == suite && !found { found = 1; print $1 }'
    exit 0
fi
if [ -n "${DEBIAN_MIRROR:-}" ]; then
    echo "${DEBIAN_MIRROR%/}"
    exit 0
fi
# Other archives use the names of Debian's suites too; a mirror's address ends in "debian" almost always.
mirror=$(archives | awk '
    $2 ~ /^(oldstable|stable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)$/ {
        if (first == "") first = $1
        if (named == "" && $1 ~ /debian$/) named = $1
    }
    END { print named != "" ? named : first }')
[ -n "$mirror" ] || {
    echo "debian-mirror.sh: apt has no Debian mirror here; set DEBIAN_MIRROR to the address of one" >&2
    exit 2
}
echo "$mirror"
