#!/usr/bin/env bash
# Builds the files of a release in target/dist, with the sums of all: a tarball, a .deb, an .rpm, a container image, and the
# bill of materials, which is in the packages too.
#
# Equal sources give equal bytes in every folder; times are that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/target/dist
cargo_home=${CARGO_HOME:-$HOME/.cargo}
architecture=$(uname -m)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

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
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
case $architecture in
    x86_64) program=$(scripts/cross.sh amd64) ;;
    aarch64) program=$(scripts/cross.sh arm64) ;;
    *) echo "dist.sh: there are packages for x86_64 and aarch64, and this is $architecture" >&2; exit 2 ;;
esac
# Where the tools for packages look for it.
export CARGO_TARGET_DIR=$root/target/dist-build
klatch=$CARGO_TARGET_DIR/release/klatch
mkdir -p "$(dirname "$klatch")"
cp "$program" "$klatch"

rm -rf "$dist"
mkdir -p "$dist/man" "$dist/completions"
"$klatch" man --out "$dist/man"
"$klatch" completions bash >"$dist/completions/klatch.bash"
"$klatch" completions zsh >"$dist/completions/_klatch"
"$klatch" completions fish >"$dist/completions/klatch.fish"
scripts/third-party.sh "$dist"

name=klatch-$version-$architecture-linux
mkdir "$dist/$name"
cp "$klatch" README.md LICENSE "$dist/THIRD-PARTY-LICENSES.txt" "$dist/klatch.cdx.json" "$dist/$name"
cp -r "$dist/man" "$dist/completions" "$dist/$name"
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$dist" "$name" | xz --threads=1 -9 >"$dist/$name.tar.xz"

# It warns of every file that cargo does not build.
cargo deb --no-build --no-strip --package klatch --deb-version "$version-1" --output "$dist/" \
    2> >(grep --invert-match 'Only source paths' >&2) >/dev/null
cargo generate-rpm --package crates/klatch --payload-compress xz --source-date "$SOURCE_DATE_EPOCH" \
    --output "$dist/klatch-$version-1.$architecture.rpm"
scripts/image.sh "$klatch" "$version" "$dist/klatch-$version-$architecture.image.tar"
mv "$dist/klatch.cdx.json" "$dist/klatch-$version-$architecture.cdx.json"
rm -r "${dist:?}/$name" "$dist/man" "$dist/completions" "$dist/THIRD-PARTY-LICENSES.txt"
cd "$dist"
sha256sum -- *.deb *.rpm *.tar.xz *.image.tar *.cdx.json | tee SHA256SUMS
