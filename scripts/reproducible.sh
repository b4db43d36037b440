#!/usr/bin/env bash
# Builds the files of a release from two clones of this tree in two folders, and compares them. Twenty CPU minutes.
set -euo pipefail
source=$(dirname "$(dirname "$(realpath "$0")")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for place in one another/folder; do
    mkdir -p "$folder/$place"
    git clone --quiet --no-hardlinks "$source" "$folder/$place/klatch"
    make --directory "$folder/$place/klatch" dist >"$folder/log" 2>&1 || {
        tail -n 30 "$folder/log" >&2
        exit 2
    }
done
diff "$folder/one/klatch/target/dist/SHA256SUMS" "$folder/another/folder/klatch/target/dist/SHA256SUMS"
echo "equal: two clones in two folders give the same bytes"
