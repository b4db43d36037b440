#!/usr/bin/env bash
# Writes what the program for an architecture contains of others' work: klatch.cdx.json, its bill of materials (CycloneDX), and
# THIRD-PARTY-LICENSES.txt.
#
#   scripts/third-party.sh FOLDER x86_64|aarch64
#
# Called by dist.sh, which says what is missing. Equal sources give equal bytes in every folder.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "$1") machine=$2
: "${SOURCE_DATE_EPOCH:?is the time of the bill, in seconds}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tool writes beside the manifest of each program of the workspace, and nowhere else.
cargo cyclonedx --manifest-path crates/klatch/Cargo.toml --features static --target "$machine-unknown-linux-gnu" \
    --describe binaries --format json --spec-version 1.5 --quiet
mv crates/klatch/klatch_bin.cdx.json "$work/rust.json"
rm research/klatch-research_bin.cdx.json
scripts/maven.sh --batch-mode --quiet --file java/pom.xml org.cyclonedx:cyclonedx-maven-plugin:2.9.1:makeAggregateBom \
    -DschemaVersion=1.5 -DoutputFormat=json -DoutputName=java -DoutputDirectory="$work" -DincludeTestScope=false \
    -DincludeLicenseText=true -Dcyclonedx.verbose=false >&2

c_library() { # name, version, licence
    jq --null-input --arg name "$1" --arg version "$2" --arg license "$3" '{
        type: "library", "bom-ref": "\($name)@\($version)", name: $name, version: $version, scope: "required",
        licenses: [{expression: $license}], purl: "pkg:generic/\($name)@\($version)"}'
}
export PKG_CONFIG_LIBDIR=/usr/lib/$machine-linux-gnu/pkgconfig
libbpf=$(jq --raw-output '.components[] | select(.name == "libbpf-sys").version' "$work/rust.json")
{
    c_library libbpf "${libbpf##*+v}" "BSD-2-Clause"
    c_library libelf "$(pkg-config --modversion libelf)" "GPL-2.0-or-later OR LGPL-3.0-or-later"
    c_library zlib "$(pkg-config --modversion zlib)" "Zlib"
} | jq --slurp . >"$work/c.json"

# One bill: the texts of licences are in the other file, and this folder is no part of a name.
jq --slurpfile java "$work/java.json" --slurpfile c "$work/c.json" '
    .components += $c[0] + ($java[0].components | map(del(.licenses[]?.license.text)))
    | .dependencies += $java[0].dependencies' "$work/rust.json" |
    sed "s|file://$PWD|file:///klatch|g" >"$out/klatch.cdx.json"

heading() {
    printf '%s\n%s\n\n' "================================================================================" "$1"
}
c_text() { # name, file
    [ -f "$2" ] || { echo "third-party.sh: $2 is missing, the licence of $1" >&2; exit 2; }
    heading "$1"
    cat "$2"
    echo
}
# Also the crates for other systems, which are looked at although they are not in the program.
cargo fetch --locked --quiet
{
    cargo about generate --fail --offline --config packaging/about.toml --manifest-path crates/klatch/Cargo.toml --features static \
        packaging/licenses.hbs
    crate=$(cargo metadata --locked --format-version 1 | jq --raw-output '.packages[] | select(.name == "libbpf-sys").manifest_path')
    c_text "libbpf, in the crate libbpf-sys, used under its licence BSD-2-Clause" "$(dirname "$crate")/libbpf/LICENSE.BSD-2-Clause"
    c_text "libelf, used under the LGPL version 3 or later" /usr/share/doc/libelf-dev/copyright
    c_text "zlib" /usr/share/doc/zlib1g-dev/copyright
    heading "Java libraries, with their licences"
    jq --raw-output '.components[] | select(.group != "org.klatch")
        | "  \(.group):\(.name) \(.version): \([.licenses[].license | .id // .name] | unique | join(" or "))"' "$work/java.json" | sort -u
    echo
    jq --raw-output '[.components[].licenses[]?.license | select(.text)] | unique_by(.id)[] | [.id, .text.content] | @tsv' "$work/java.json" |
        while IFS=$'\t' read -r id text; do
            heading "$id"
            base64 --decode <<<"$text"
            echo
        done
    # What a library says in its own words: notices must be passed on, and some texts have a copyright line of their own.
    repository=$(scripts/maven-checksums.sh repository)
    jq --raw-output '.components[] | select(.group != "org.klatch")
        | ((.purl | capture("classifier=(?<name>[^&]*)") | "-" + .name) // "") as $classifier
        | "\(.group | gsub("\\."; "/"))/\(.name)/\(.version)/\(.name)-\(.version)\($classifier)"' "$work/java.json" | sort -u |
        while read -r artifact; do
            jar=$repository/$artifact.jar
            zipinfo -1 "$jar" | { grep --ignore-case --extended-regexp '(^|/)[^/]*(LICENSE|NOTICE)[^/.]*(\.(txt|md))?$' || true; } | sort |
                while read -r text; do
                    heading "${artifact##*/}: $text"
                    unzip -p "$jar" "$text"
                    echo
                done
        done
} >"$out/THIRD-PARTY-LICENSES.txt"
