#!/bin/sh
# Installs a Java runtime of another Debian suite in the user's cache, where `klatch` searches for it. The system is not
# changed: a separate apt configuration downloads the packages and verifies them with Debian's keys. The mirror is
# $DEBIAN_MIRROR, or the one in apt's configuration. A newer C library is included; patchelf makes the runtime use it.
# usage: get-jdk.sh VERSION [SUITE]        for example: get-jdk.sh 25      get-jdk.sh 28 sid
set -eu
# Other users must not be able to write to programs that klatch runs.
umask 077

version=${1:?usage: get-jdk.sh VERSION [SUITE]}
suite=${2:-sid}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
cache=$("$(dirname "$0")/cache-folder.sh")
target=$cache/jdks/jdk-$version
if [ -x "$target/bin/java" ] && [ -f "$target/klatch.sha256" ]; then
    echo "Java $version is already at $target"
    exit 0
fi
for need in apt-get:apt dpkg-deb:dpkg patchelf:patchelf; do
    command -v "${need%%:*}" >/dev/null || {
        echo "get-jdk.sh needs ${need%%:*}; install it: apt-get install ${need##*:}" >&2
        exit 2
    }
done
[ -r "$keys" ] || {
    echo "get-jdk.sh needs Debian's keys; install them: apt-get install debian-archive-keyring" >&2
    exit 2
}
mirror=$("$(dirname "$0")/debian-mirror.sh")
architecture=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root"
: >"$work/status"
echo "deb [signed-by=$keys] $mirror $suite main" >"$work/sources.list"
cat >"$work/apt.conf" <<CONF
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "$(id -un)";
CONF
export APT_CONFIG="$work/apt.conf"
timeout 600 apt-get update -q >&2
cd "$work"
timeout 1800 apt-get download -q "openjdk-$version-jre-headless" libc6 libstdc++6 libgcc-s1 zlib1g >&2 || {
    echo "Debian $suite has no openjdk-$version-jre-headless, or it did not come within 30 minutes;" \
        "to name another suite: get-jdk.sh $version SUITE" >&2
    exit 2
}
for package in ./*.deb; do dpkg-deb --extract "$package" root; done

java=$(find root/usr/lib/jvm -path '*/bin/java' -type f | head -n 1)
home=$(dirname "$(dirname "$java")")
mkdir -p "$(dirname "$target")" "$work/new/libc"
cp -a "$home/." "$work/new"
# Debian's packages have their configuration behind links into /etc.
find "$work/new" -type l -lname '/etc/*' | while read -r link; do
    real=root$(readlink "$link")
    rm "$link"
    if [ -e "$real" ]; then cp -a "$real" "$link"; fi
done
triplet=$(find root -name 'libc.so.6' -printf '%h\n' | head -n 1)
find "$triplet" root/usr/lib -maxdepth 2 -name '*.so*' -path "*$(basename "$triplet")*" -exec cp -a -n {} "$work/new/libc" \;
loader=$(find root -name 'ld-linux*.so*' ! -type l | head -n 1)
cp -n "$loader" "$work/new/libc/" 2>/dev/null || true
# The helper starts the child process that writes an ahead-of-time cache.
for program in bin/java lib/jspawnhelper; do
    patchelf --set-interpreter "$target/libc/$(basename "$loader")" --force-rpath --set-rpath "$target/libc:\$ORIGIN/../lib" \
        "$work/new/$program"
done
chmod -R go-w "$work/new"
find "$work/new" -xtype l -delete
# klatch runs it only while its files match this list.
(cd "$work/new" && find . -type f ! -name klatch.sha256 -exec sha256sum {} + >"$work/sums" && mv "$work/sums" klatch.sha256)
rm -rf "$target"
mv "$work/new" "$target"
"$target/bin/java" -version 2>&1 | head -n 1
echo "Java $version for $architecture is at $target"
