#!/usr/bin/env bash
# Builds the files of a release from two clones of this tree in two folders, and compares them. Those of the first are then in
# target/dist, as after `make dist`. Half an hour of CPU time for one architecture.
# usage: reproducible.sh [amd64|arm64|all]        by default, this machine's own architecture
set -euo pipefail
source=$(dirname "$(dirname "$(realpath "$0")")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for place in one another/folder; do
    clone=$folder/$place/klatch
    mkdir -p "$folder/$place"
    git clone --quiet --no-hardlinks "$source" "$clone"
    make --directory "$clone" dist ARCHITECTURE="${1:-}" >"$folder/log" 2>&1 || {
        tail -n 30 "$folder/log" >&2
        exit 2
    }
    mv "$clone/target/dist" "$folder/dist-${place%%/*}"
    # Gigabytes.
    rm -rf "$clone"
done
diff "$folder/dist-one/SHA256SUMS" "$folder/dist-another/SHA256SUMS"
mkdir -p "$source/target"
rm -rf "$source/target/dist"
mv "$folder/dist-one" "$source/target/dist"
echo "equal: two clones in two folders give the same bytes"
