#!/usr/bin/env bash
# Builds the files of a release in target/dist, with the sums of all: a tarball, a .deb, an .rpm, a container image, and the
# bill of materials, which is in the packages too.
#
# libelf and zlib are inside the program, which needs only the C library, of version 2.28 or newer: Zig links it against the
# symbols of that version. Equal sources give equal bytes in every folder: no path of this checkout or of cargo's folder is in
# it, and times are that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/target/dist
cargo_home=${CARGO_HOME:-$HOME/.cargo}
architecture=$(uname -m)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
libraries=/usr/lib/$architecture-linux-gnu
# The oldest C library that the packages are for: that of RHEL 8 and Debian 10.
glibc=2.28

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
for library in libelf.a libz.a; do
    [ -f "$libraries/$library" ] || {
        echo "dist.sh: $libraries/$library is missing; install it: apt-get install libelf-dev zlib1g-dev" >&2
        exit 2
    }
done

# Debian has neither Zig nor cargo's wrapper of it.
tools=$root/target/tools/zig
[ -x "$tools/bin/cargo-zigbuild" ] || scripts/install-tools.sh zig
PATH=$tools/bin:$PATH

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export LIBBPF_SYS_LIBRARY_PATH=$libraries
# Zig has headers of the C library alone.
export LIBBPF_SYS_EXTRA_CFLAGS="-idirafter /usr/include -idirafter /usr/include/$architecture-linux-gnu"
# No build id: it depends on names that are changed below, and objcopy, which could remove it, would make the relocations writable.
export RUSTFLAGS="--remap-path-prefix=$root=/klatch --remap-path-prefix=$cargo_home=/cargo -Clink-arg=-Wl,--build-id=none"
# Names of routines stay, because instruments show those of the native servers. Zig would remove them with all else, so that is left
# to objcopy.
export CARGO_PROFILE_DIST_STRIP=none
# Other flags than those of `make build`, so another folder.
export CARGO_TARGET_DIR=$root/target/dist-build
target=$architecture-unknown-linux-gnu
export KLATCH_PACKED_JARS=$root/target/dist-jars
scripts/pack-jars.py java/target "$KLATCH_PACKED_JARS"
cargo zigbuild --profile dist --locked --package klatch --features static --target "$target.$glibc"
linked=$CARGO_TARGET_DIR/$target/dist/klatch
needed=$(objdump --dynamic-syms "$linked" | grep --only-matching 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1)
[ "$(printf '%s\n' "$needed" "GLIBC_$glibc" | sort --version-sort | tail -n 1)" = "GLIBC_$glibc" ] || {
    echo "dist.sh: $linked needs $needed, which is newer than the C library $glibc that the packages are for" >&2
    exit 2
}

# ThinLTO puts a hash of the folder into the names of some routines: they are numbered instead.
nm --numeric-sort "$linked" | awk '$NF ~ /\.llvm\.[0-9]+$/ && !done[$NF]++ {
    name = $NF
    sub(/[0-9]+$/, "", name)
    count[name]++
    print $NF, name count[name]
}' >"$linked.names"
# Where the tools for packages look for it.
klatch=$CARGO_TARGET_DIR/release/klatch
mkdir -p "$(dirname "$klatch")"
objcopy --strip-debug --redefine-syms="$linked.names" "$linked" "$klatch"

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
