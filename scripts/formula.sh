#!/bin/sh
# Prints the Homebrew formula of the release in target/dist.
#
#   scripts/formula.sh OWNER/REPOSITORY
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
sum=$(sed -n "s/  klatch-$version-x86_64-linux.tar.xz\$//p" target/dist/SHA256SUMS)
[ -n "$sum" ] || {
    echo "formula.sh: target/dist/SHA256SUMS has no tarball of version $version for x86_64; make dist first" >&2
    exit 2
}
sed -e "s|@REPOSITORY@|$1|g" -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sum|g" packaging/klatch.rb.in
