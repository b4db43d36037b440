#!/usr/bin/env bash
# Puts the program, with the system's libraries that it needs, into a container image from scratch.
#
#   scripts/image.sh PROGRAM VERSION amd64|arm64 ARCHIVE
#
# The archive is of the Open Container Initiative's form, which podman, docker and containerd load. Equal programs and
# libraries give equal bytes. Libraries of another architecture are those that scripts/cross.sh asks for. Called by dist.sh, which says
# what is missing.
set -euo pipefail
program=$(realpath "$1") version=$2 architecture=$3 archive=$(realpath "$4")
case $architecture in
    amd64) libraries=/lib/x86_64-linux-gnu ;;
    arm64) libraries=/lib/aarch64-linux-gnu ;;
esac
: "${SOURCE_DATE_EPOCH:?is the time of all files in the image, in seconds}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Its own storage, so that the user's has nothing of this.
buildah() { command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

mkdir -p "$work/files/usr/bin" "$work/files/tmp" "$work/layout"
cp "$program" "$work/files/usr/bin/klatch"
# The loader, at the path that the program asks for, and the libraries that the program and its libraries need.
add_libraries_of() { # file
    llvm-readelf --needed-libs "$1" | sed -n 's/^ *\(lib.*\)/\1/p' | while read -r name; do
        [ ! -e "$work/files$libraries/$name" ] || continue
        install -D --mode=755 "$libraries/$name" "$work/files$libraries/$name"
        add_libraries_of "$libraries/$name"
    done
}
loader=$(llvm-readelf --program-headers "$program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
install -D --mode=755 "$loader" "$work/files$loader"
add_libraries_of "$program"
chmod 755 "$work/files" "$work/files/usr/bin/klatch"
chmod 1777 "$work/files/tmp"

container=$(buildah from scratch)
buildah copy --quiet "$container" "$work/files" / >/dev/null
# Nobody in particular. A run in the container writes its records to the working folder.
buildah config --os linux --arch "$architecture" --entrypoint '["/usr/bin/klatch"]' --cmd '' --user 65535:65535 --workingdir /tmp \
    --label org.opencontainers.image.title=klatch --label "org.opencontainers.image.version=$version" \
    --label org.opencontainers.image.licenses=Apache-2.0 "$container"
image=$(buildah commit --quiet --timestamp "$SOURCE_DATE_EPOCH" "$container" "localhost/klatch:$version")
buildah push --quiet "$image" "oci:$work/layout:localhost/klatch:$version"
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$work/layout" --file "$archive" .
