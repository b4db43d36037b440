#!/usr/bin/env bash
# Builds the files of a release in target/dist, with the sums of all: for each architecture a tarball, a .deb, an .rpm, a container
# image, and the bill of materials, which is in the packages too. Of both architectures, also an index of both images.
#
# Equal sources give equal bytes in every folder; times are that of the commit.
# usage: dist.sh [amd64|arm64|all]        by default, this machine's own architecture
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/target/dist
cargo_home=${CARGO_HOME:-$HOME/.cargo}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

declare -A machines=([amd64]=x86_64 [arm64]=aarch64) programs=()
case $(uname -m) in
    x86_64) own=amd64 ;;
    aarch64) own=arm64 ;;
    *) echo "dist.sh: there are packages for x86_64 and aarch64, and this is $(uname -m)" >&2; exit 2 ;;
esac
case ${1:-$own} in
    amd64 | arm64) architectures=("${1:-$own}") ;;
    all) architectures=(amd64 arm64) ;;
    *) echo "usage: dist.sh [amd64|arm64|all]" >&2; exit 2 ;;
esac

PATH=$PATH:$cargo_home/bin
need() { # program, how to install it
    command -v "$1" >/dev/null || { echo "dist.sh: $1 is missing; install it: $2" >&2; exit 2; }
}
for tool in cargo-about cargo-cyclonedx cargo-deb cargo-generate-rpm; do
    need "$tool" "scripts/install-tools.sh $tool"
done
need xz "apt-get install xz-utils"
for tool in buildah jq unzip python3; do
    need "$tool" "apt-get install $tool"
done
for architecture in "${architectures[@]}"; do programs[$architecture]=$(scripts/cross.sh "$architecture"); done

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# Where the tools for packages look for the program.
export CARGO_TARGET_DIR=$root/target/dist-build

rm -rf "$dist"
mkdir -p "$dist/man" "$dist/completions"
# Pages and completions are the same for both architectures, so they are those of a program that runs here if there is one.
klatch=("${programs[$own]:-}")
[ -n "${klatch[0]}" ] || klatch=(scripts/under-arm64.sh "${programs[arm64]}")
"${klatch[@]}" man --out "$dist/man"
"${klatch[@]}" completions bash >"$dist/completions/klatch.bash"
"${klatch[@]}" completions zsh >"$dist/completions/_klatch"
"${klatch[@]}" completions fish >"$dist/completions/klatch.fish"

package() { # architecture
    local machine=${machines[$1]} program=${programs[$1]}
    local name=klatch-$version-$machine-linux target=$machine-unknown-linux-gnu
    scripts/third-party.sh "$dist" "$machine"

    mkdir "$dist/$name"
    cp "$program" README.md LICENSE "$dist/THIRD-PARTY-LICENSES.txt" "$dist/klatch.cdx.json" "$dist/$name"
    cp -r "$dist/man" "$dist/completions" "$dist/$name"
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$dist" "$name" | xz --threads=1 -9 >"$dist/$name.tar.xz"

    install -D "$program" "$CARGO_TARGET_DIR/$target/release/klatch"
    # It warns of every file that cargo does not build.
    cargo deb --no-build --no-strip --package klatch --target "$target" --deb-version "$version-1" --output "$dist/" \
        2> >(grep --invert-match 'Only source paths' >&2) >/dev/null
    cargo generate-rpm --package crates/klatch --target "$target" --payload-compress xz --source-date "$SOURCE_DATE_EPOCH" \
        --output "$dist/klatch-$version-1.$machine.rpm"
    scripts/image.sh "$program" "$version" "$1" "$dist/klatch-$version-$machine.image.tar"
    mv "$dist/klatch.cdx.json" "$dist/klatch-$version-$machine.cdx.json"
    rm -r "${dist:?}/$name"
}
for architecture in "${architectures[@]}"; do package "$architecture"; done
rm -r "$dist/man" "$dist/completions" "$dist/THIRD-PARTY-LICENSES.txt"
cd "$dist"
[ ${#architectures[@]} -eq 1 ] || "$root/scripts/image-index.sh" "klatch-$version.image.tar" klatch-"$version"-*.image.tar
sha256sum -- *.deb *.rpm *.tar.xz *.image.tar *.cdx.json | tee SHA256SUMS
