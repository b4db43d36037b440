#!/usr/bin/env bash
# Builds the program for an architecture, this machine's own or another, and prints its path; or the unit tests of all crates, and
# prints a line for each: the folder of its crate, and its path.
#
# libelf and zlib are inside the program, which needs only the C library, of version 2.28 or newer: Zig links it against the
# symbols of that version. Equal sources give equal bytes in every folder: no path of this checkout or of cargo's folder is in it.
# usage: cross.sh amd64|arm64 [PROFILE|tests]  PROFILE is that of a release, dist, or release, which takes a fifth of the time
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# The oldest C library that the packages are for: that of RHEL 8 and Debian 10.
glibc=2.28

fail() { # what is missing, how to install it
    echo "cross.sh: $1 is missing; install it: $2" >&2
    exit 2
}

case ${1:-} in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) echo "usage: cross.sh amd64|arm64 [PROFILE|tests]" >&2; exit 2 ;;
esac
profile=${2:-dist}
target=$machine-unknown-linux-gnu
libraries=/usr/lib/$machine-linux-gnu
# What Debian calls a package of another architecture than this machine's.
foreign=
install="apt-get install"
if [ "$machine" != "$(uname -m)" ]; then
    foreign=:$1
    install="dpkg --add-architecture $1 && apt-get update && apt-get install"
fi
for library in libelf.a libz.a; do
    [ -f "$libraries/$library" ] || fail "$libraries/$library" "$install libelf-dev$foreign zlib1g-dev$foreign"
done
compgen -G "$(rustc --print target-libdir --target "$target")/libstd-*.rlib" >/dev/null ||
    fail "the standard library of Rust for $target" "rustup target add $target, or $install libstd-rust-web-dev$foreign"
command -v llvm-objcopy >/dev/null || fail llvm-objcopy "apt-get install llvm"
[ -e java/target/klatch-web.jar ] || fail java/target/klatch-web.jar "make jars"

# Debian has neither Zig nor cargo's wrapper of it.
tools=$root/target/tools/zig
[ -x "$tools/bin/cargo-zigbuild" ] || scripts/install-tools.sh zig >&2
PATH=$tools/bin:$PATH:$cargo_home/bin

# No SOURCE_DATE_EPOCH: no source asks for the time, and with another one than before all C would be compiled again.
unset SOURCE_DATE_EPOCH
export LIBBPF_SYS_LIBRARY_PATH=$libraries
# Zig has headers of the C library alone.
export LIBBPF_SYS_EXTRA_CFLAGS="-idirafter /usr/include -idirafter /usr/include/$machine-linux-gnu"
# No build id: it depends on names that are changed below, and objcopy, which could remove it, would make the relocations writable.
export RUSTFLAGS="--remap-path-prefix=$root=/klatch --remap-path-prefix=$cargo_home=/cargo -Clink-arg=-Wl,--build-id=none"
# Names of routines stay, because instruments show those of the native servers. Zig would remove them with all else, so that is left
# to objcopy.
export CARGO_PROFILE_DIST_STRIP=none CARGO_PROFILE_RELEASE_STRIP=none
# Other flags than those of `make build`, so another folder.
export CARGO_TARGET_DIR=$root/target/cross
export KLATCH_PACKED_JARS=$root/target/dist-jars
[ -z "$(find java/target/*.jar scripts/pack-jars.py -newer "$KLATCH_PACKED_JARS/jars.xz" 2>&1)" ] ||
    scripts/pack-jars.py java/target "$KLATCH_PACKED_JARS"
if [ "$profile" = tests ]; then
    command -v jq >/dev/null || fail jq "apt-get install jq"
    # klatch-research makes the notes again, and is no part of the program.
    cargo-zigbuild test --release --locked --workspace --exclude klatch-research --lib --no-run --features klatch/static \
        --target "$target.$glibc" --message-format=json |
        jq --raw-output 'select(.executable? and .profile.test) | (.manifest_path | rtrimstr("/Cargo.toml")) + " " + .executable'
    exit
fi
cargo zigbuild --profile "$profile" --locked --package klatch --features static --target "$target.$glibc" >&2
linked=$CARGO_TARGET_DIR/$target/$profile/klatch
needed=$(llvm-objdump --dynamic-syms "$linked" | grep --only-matching 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1)
[ "$(printf '%s\n' "$needed" "GLIBC_$glibc" | sort --version-sort | tail -n 1)" = "GLIBC_$glibc" ] || {
    echo "cross.sh: $linked needs $needed, which is newer than the C library $glibc that the packages are for" >&2
    exit 2
}

# ThinLTO puts a hash of the folder into the names of some routines: they are numbered instead.
llvm-nm --numeric-sort "$linked" | awk '$NF ~ /\.llvm\.[0-9]+$/ && !done[$NF]++ {
    name = $NF
    sub(/[0-9]+$/, "", name)
    count[name]++
    print $NF, name count[name]
}' >"$linked.names"
mkdir -p "$CARGO_TARGET_DIR/$1"
llvm-objcopy --strip-debug --redefine-syms="$linked.names" "$linked" "$CARGO_TARGET_DIR/$1/klatch"
echo "$CARGO_TARGET_DIR/$1/klatch"
