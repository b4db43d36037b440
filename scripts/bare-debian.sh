#!/usr/bin/env bash
# Runs a command in a minimal Debian 12, on a clone of this tree, to test on a machine without extra packages.
#
# The tree is debootstrap's smallest variant with make, git and CA certificates. It is entered in a new mount namespace with
# pivot_root, because programs in a chroot cannot create user namespaces. Network, kernel, /proc, /sys and /dev are the
# host's. The resolver, the package mirror, the configuration of package clients and the trusted certificates are copied
# from the host. The base tree is cached; delete it there to build it again. Each run works on its own copy.
# usage: bare-debian.sh COMMAND [ARGUMENT…]        for example: bare-debian.sh make test
set -euo pipefail

suite=bookworm
cache=${XDG_CACHE_HOME:-$HOME/.cache}/klatch/bare-debian
scripts=$(dirname "$(realpath "$0")")
source=$(dirname "$scripts")

fail() {
    echo "bare-debian.sh: $1" >&2
    exit 2
}

copy_if_present() { # file of the host, path in the tree
    [ -f "$1" ] || return 0
    mkdir -p "$(dirname "$tree$2")"
    cp -L "$1" "$tree$2"
}

make_base() {
    rm -rf "$base.new"
    mkdir -p "$cache"
    echo "bare-debian.sh: making $base from $mirror" >&2
    debootstrap --variant=minbase --include=make,git,ca-certificates "$suite" "$base.new" "$mirror" >"$base.log" 2>&1 || {
        tail -n 20 "$base.log" >&2
        fail "debootstrap failed; its output is in $base.log"
    }
    rm -rf "$base.new"/var/cache/apt/archives/*.deb
    mv "$base.new" "$base"
}

write_package_sources() {
    local security keys=/usr/share/keyrings/debian-archive-keyring.gpg
    security=$("$scripts/debian-mirror.sh" "$suite-security")
    rm -f "$tree/etc/apt/sources.list"
    {
        printf 'Types: deb\nURIs: %s\nSuites: %s %s-updates\nComponents: main\nSigned-By: %s\n' \
            "$mirror" "$suite" "$suite" "$keys"
        [ -z "$security" ] || printf '\nTypes: deb\nURIs: %s\nSuites: %s-security\nComponents: main\nSigned-By: %s\n' \
            "$security" "$suite" "$keys"
    } >"$tree/etc/apt/sources.list.d/debian.sources"
    # Proxies, time-outs and the like, without the host's hooks, which call programs that the tree lacks.
    if command -v apt-config >/dev/null; then
        apt-config dump | grep '^Acquire::' | grep -v '^Acquire::\(IndexTargets\|cdrom\|Changelogs\)' >"$tree/etc/apt/apt.conf.d/50host" || true
    fi
    # Packages must not start daemons, because the network is the host's.
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod +x "$tree/usr/sbin/policy-rc.d"
}

# Certificates that the host trusts and a minimal Debian does not. Installing Java builds its store from the same files.
copy_certificates() {
    local bundle
    for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
        [ -f "$bundle" ] || continue
        awk -v folder="$tree/usr/local/share/ca-certificates" '
            /BEGIN CERTIFICATE/ { text = "" }
            { text = text $0 "\n" }
            /END CERTIFICATE/ {
                if (NR == FNR) trusted[text] = 1
                else if (!(text in trusted)) { file = folder "/host-" ++count ".crt"; printf "%s", text >file; close(file) }
            }' "$tree/etc/ssl/certs/ca-certificates.crt" "$bundle"
        chroot "$tree" update-ca-certificates >/dev/null 2>&1 || fail "update-ca-certificates failed in $tree"
        return 0
    done
}

copy_client_configuration() {
    local file
    copy_if_present /etc/resolv.conf /etc/resolv.conf
    copy_if_present /etc/hosts /etc/hosts
    for file in /etc/pip.conf /etc/npmrc; do copy_if_present "$file" "$file"; done
    for file in .m2/settings.xml .npmrc .config/pip/pip.conf .config/go/env .cargo/config.toml; do
        copy_if_present "$HOME/$file" "/root/$file"
    done
    if [ -n "${CARGO_HOME:-}" ]; then copy_if_present "$CARGO_HOME/config.toml" /root/.cargo/config.toml; fi
}

# The environment variables that configure package clients, as NAME=VALUE, each ended by a null byte.
client_variables() {
    local name names
    names='^([a-z]+_proxy|[A-Z]+_PROXY|GO(PROXY|NOPROXY|SUMDB|NOSUMDB|PRIVATE)|CARGO_(HTTP|NET|REGISTRY|REGISTRIES|SOURCE)_.*'
    names+='|PIP_(INDEX_URL|EXTRA_INDEX_URL|PROXY)|npm_config_.*|NPM_CONFIG_.*|MAVEN_(OPTS|ARGS)|DEBIAN_MIRROR)$'
    compgen -e | grep -E "$names" | while read -r name; do printf '%s=%s\0' "$name" "${!name}"; done || true
}

# The script in the new mount namespace: it makes the tree the root and unmounts the host's file systems.
# shellcheck disable=SC2016 # the shell in the namespace expands it
enter='
    set -eu
    cd "$1"
    shift
    readlink /proc/self/ns/mnt >mount-namespace
    mount --bind . .
    cd "$PWD"
    for folder in proc sys dev; do mount --rbind "/$folder" "$folder"; done
    mount -t tmpfs -o mode=755 tmpfs run
    mkdir run/lock
    mkdir host
    pivot_root . host
    umount -l /host
    rmdir /host
    cd /root/klatch
    exec env -i "$@"'

# Kills processes that the command left running, which hold the namespace and its mounts, and removes the tree.
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
    local namespace process
    namespace=$(cat "$tree/mount-namespace" 2>/dev/null || true)
    if [ -n "$namespace" ]; then
        for process in /proc/[0-9]*; do
            if [ "$(readlink "$process/ns/mnt" 2>/dev/null)" = "$namespace" ]; then
                kill -KILL "${process#/proc/}" 2>/dev/null || true
            fi
        done
    fi
    rm -rf --one-file-system "$tree"
}

# Removes the trees of earlier runs that were killed. A run holds a lock on its tree, and so do the processes it leaves behind.
remove_abandoned_trees() {
    local abandoned hold
    for abandoned in "$cache"/run-*; do
        [ -d "$abandoned" ] || continue
        exec {hold}<"$abandoned"
        if flock --nonblock "$hold"; then rm -rf --one-file-system "$abandoned"; fi
        exec {hold}<&-
    done
}

[ $# -gt 0 ] || fail "usage: bare-debian.sh COMMAND [ARGUMENT…]"
[ "$(id -u)" -eq 0 ] || fail "needs root: run it with sudo"
for program in debootstrap:debootstrap unshare:util-linux git:git; do
    command -v "${program%%:*}" >/dev/null || fail "needs ${program%%:*}; install it: apt-get install ${program##*:}"
done
mirror=$("$scripts/debian-mirror.sh")
base=$cache/$suite
mkdir -p "$cache"
exec {lock}>"$cache/lock"
flock "$lock"
[ -d "$base" ] || make_base
remove_abandoned_trees
tree=$(mktemp -d "$cache/run-XXXXXX")
exec {tree_lock}<"$tree"
flock "$tree_lock"
trap clean_up EXIT
cp -a --reflink=auto "$base/." "$tree"
exec {lock}>&-

write_package_sources
copy_client_configuration
copy_certificates
git clone --quiet --no-hardlinks "$source" "$tree/root/klatch"
[ -z "$(git -C "$source" status --porcelain)" ] || echo "bare-debian.sh: uncommitted changes are not in the clone" >&2
mapfile -d '' -t variables < <(client_variables)
variables+=(HOME=/root USER=root LANG=C.UTF-8 "TERM=${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)

begin=$SECONDS
# In the background, because bash runs no trap during a foreground command. env restores the default signal handling:
# background commands otherwise ignore the interrupts of a terminal.
env --default-signal=INT,QUIT unshare --mount --propagation private \
    sh -c "$enter" enter "$tree" "${variables[@]}" "$@" <&0 &
command=$!
trap 'wait "$command" || true; exit 130' INT
trap 'kill -TERM "$command"; wait "$command" || true; exit 143' TERM
status=0
wait "$command" || status=$?
elapsed=$((SECONDS - begin))
echo "bare-debian.sh: $*: exit status $status after $((elapsed / 60)) min $((elapsed % 60)) s" >&2
exit "$status"
