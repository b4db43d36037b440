#!/bin/sh
# Runs a command where programs for arm64 run too, under QEMU's user-mode emulation. The kernel is told so in a user namespace of the
# command's own, so nothing of the host changes, and the command is root there and nowhere else. If root calls it, the other users
# are there too, so that packages can be installed in a tree for arm64.
# usage: under-arm64.sh COMMAND [ARGUMENT…]        for example: under-arm64.sh target/cross/arm64/klatch doctor
set -eu
command -v qemu-aarch64-static >/dev/null || {
    echo "under-arm64.sh: qemu-aarch64-static is missing; install it: apt-get install qemu-user-static" >&2
    exit 2
}
# The first bytes of a program for 64-bit Arm, and which of their bits count. F: the interpreter is opened now, so it works in other
# roots too.
export MAGIC='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
export MASK='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
# shellcheck disable=SC2016 # the shell in the namespace expands it
enter='
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null || {
        echo "under-arm64.sh: this kernel has no binfmt_misc in user namespaces; it needs Linux 6.7 or newer" >&2
        exit 2
    }
    printf "%s" ":klatch-arm64:M::$MAGIC:$MASK:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
    exec "$@"'
[ "$(id -u)" -eq 0 ] || exec unshare --user --map-root-user --mount --propagation private sh -euc "$enter" sh "$@"

# unshare by itself maps one user.
pipes=$(mktemp -d)
mkfifo "$pipes/unshared" "$pipes/mapped"
{
    read -r process <"$pipes/unshared"
    for ids in uid gid; do echo "0 0 65536" >"/proc/$process/${ids}_map"; done
    echo >"$pipes/mapped"
    rm -r "$pipes"
} &
# shellcheck disable=SC2016 # the shell in the namespace expands it
exec unshare --user --mount --propagation private sh -euc '
    echo $$ >"$1/unshared"
    read -r _ <"$1/mapped"
    shift
    exec "$@"' sh "$pipes" sh -euc "$enter" sh "$@"
