#!/bin/sh
# Writes what installs a release beside its files: install.sh and the Homebrew formula klatch.rb. The folder has the archives of both
# architectures, and their sums in SHA256SUMS.
#
#   scripts/installers.sh OWNER/REPOSITORY FOLDER
set -eu
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || {
    echo "usage: installers.sh OWNER/REPOSITORY FOLDER" >&2
    exit 2
}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
sum() { # architecture
    found=$(sed -n "s/ [ *]klatch-$version-$1-linux.tar.xz\$//p" "$2/SHA256SUMS")
    [ -n "$found" ] || {
        echo "installers.sh: $2/SHA256SUMS has no tarball of version $version for $1; make dist on such a machine first" >&2
        exit 2
    }
    echo "$found"
}
x86_64=$(sum x86_64 "$2")
aarch64=$(sum aarch64 "$2")
for file in install.sh klatch.rb; do
    sed -e "s|@REPOSITORY@|$1|g" -e "s|@VERSION@|$version|g" -e "s|@SHA256_X86_64@|$x86_64|g" -e "s|@SHA256_AARCH64@|$aarch64|g" \
        "packaging/$file.in" >"$2/$file"
done
