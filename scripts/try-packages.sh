#!/usr/bin/env bash
# Tries the packages in target/dist of an architecture in a bare Debian 12 of that architecture: installs the .deb, runs the program, and
# removes it; unpacks the tarball and the container image, and runs those. An architecture that is not this machine's is emulated
# (scripts/under-arm64.sh), where making the Debian takes minutes of CPU time; it is cached. Needs root. Any failure ends it.
# usage: try-packages.sh [amd64|arm64]        by default, this machine's own architecture
set -euo pipefail
cd "$(dirname "$0")/.."
suite=bookworm

fail() {
    echo "try-packages.sh: $1" >&2
    exit 2
}

case $(uname -m) in
    x86_64) own=amd64 ;;
    aarch64) own=arm64 ;;
esac
architecture=${1:-$own}
case $architecture in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) fail "usage: try-packages.sh [amd64|arm64]" ;;
esac
[ "$(id -u)" -eq 0 ] || fail "needs root: run it with sudo"
command -v debootstrap >/dev/null || fail "needs debootstrap; install it: apt-get install debootstrap"
within=(unshare --mount --propagation private)
[ "$architecture" = "$own" ] || within=(scripts/under-arm64.sh)

# One file of each kind, of whatever version.
package() { # pattern
    compgen -G "target/dist/$1" || fail "target/dist has no $1; build it: make dist ARCHITECTURE=$architecture"
}
deb=$(package "klatch_*_$architecture.deb")
tarball=$(package "klatch-*-$machine-linux.tar.xz")
image=$(package "klatch-*-$machine.image.tar")

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
tree=$work/tree
base=$(scripts/cache-folder.sh)/bare-debian/$suite-$architecture
if [ ! -d "$base" ]; then
    echo "try-packages.sh: making $base" >&2
    mkdir -p "${base%/*}"
    rm -rf "$base.new"
    # In a user namespace nobody makes devices; debootstrap knows that of this kind of container, and takes the host's.
    "${within[@]}" env container=lxc debootstrap --arch="$architecture" --variant=minbase "$suite" "$base.new" \
        "$(scripts/debian-mirror.sh)" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        fail "debootstrap failed"
    }
    mv "$base.new" "$base"
fi
cp -a --reflink=auto "$base" "$tree"

mkdir "$tree/packages" "$tree/unpacked" "$tree/image" "$work/layout"
cp "$deb" "$tree/packages"
tar --extract --file "$tarball" --directory "$tree/unpacked" --strip-components 1 --no-same-owner
tar --extract --file "$image" --directory "$work/layout"
blob() { echo "$work/layout/blobs/sha256/${1#sha256:}"; } # digest
manifest=$(blob "$(jq --raw-output '.manifests[0].digest' "$work/layout/index.json")")
jq --raw-output '.layers[].digest' "$manifest" | while read -r layer; do
    tar --extract --file "$(blob "$layer")" --directory "$tree/image"
done

cat >"$tree/packages/try" <<'END'
set -euo pipefail
short=(--warmups 0 --trials 1 --timeout 60s --ready-timeout 60s --out /tmp/results)
try() { # command
    echo "$*"
    "$@" >/tmp/output 2>&1 || { status=$?; cat /tmp/output; echo "try-packages.sh: $*: exit status $status" >&2; exit 1; }
}
try_program() { # command that ends with the program
    try "$@" --version
    try "$@" doctor
    try "$@" run --platform native-epoll --rooms 2 --users 4 --count 20 "${short[@]}"
    try "$@" run rr --platform native-epoll --connections 4 --duration 1 "${short[@]}"
}
[ "$(dpkg --print-architecture) $(uname -m)" = "$1 $2" ]
try apt-get install --yes /packages/*.deb
try_program klatch
grep -qr "\"architecture\": *\"$2\"" /tmp/results/latest/
# What the package has of pages and completions is what the program of this architecture writes.
klatch man --out /tmp/man
for page in /tmp/man/*; do zcat "/usr/share/man/man1/${page##*/}.gz" | cmp - "$page"; done
klatch completions bash | cmp - /usr/share/bash-completion/completions/klatch
try apt-get purge --yes klatch
[ -z "$(find /usr /etc -name '*klatch*')" ]
try_program /unpacked/klatch
mkdir /image/proc /image/dev
mount --rbind /proc /image/proc
mount --rbind /dev /image/dev
# As the user of the image.
try_program env --unset=HOME chroot --userspec 65535:65535 /image /usr/bin/klatch
echo "try-packages.sh: the .deb, the tarball and the container image of $1 work"
END
# shellcheck disable=SC2016 # the shell in the namespace expands it
"${within[@]}" sh -euc 'for folder in proc sys dev; do mount --rbind "/$folder" "$1/$folder"; done
    tree=$1
    shift
    exec chroot "$tree" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        bash /packages/try "$@"' sh "$tree" "$architecture" "$machine"
