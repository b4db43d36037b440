#!/bin/sh
# Installs the packages to build Klatch (`run`), to test it as a contributor does (`test`), or to run all tests (`test-all`).
# On Debian, as root or with sudo, it installs the missing ones; on other systems it prints the list.
set -eu

purpose=${1:-run}
# Servers are in these folders, which a user's search path often lacks.
PATH=$PATH:/usr/sbin:/sbin
rust_min=1.89
java_min=17
packages=

need() { # program, Debian packages
    command -v "$1" >/dev/null 2>&1 || packages="$packages $2"
}

at_least() { # version, minimum
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

rust_version=$(rustc --version 2>/dev/null | cut -d ' ' -f 2 || true)
if ! at_least "${rust_version:-0}" "$rust_min" || ! command -v cargo >/dev/null 2>&1; then
    # Debian 12's rustc is too old; rustc-web is a newer one, for building its browsers.
    packages="$packages rustc-web cargo-web"
    [ "$purpose" = run ] || packages="$packages rustfmt-web rust-web-clippy"
elif [ "$purpose" != run ]; then
    need cargo-fmt rustfmt-web
    need cargo-clippy rust-web-clippy
fi
java_version=$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p' || true)
at_least "${java_version:-0}" "$java_min" || packages="$packages openjdk-17-jdk-headless"
need mvn maven
need cc gcc
need git git
# For the instruments: BPF programs, and libbpf, which is built from source.
need clang clang
need make make
need pkg-config pkg-config
for library in libelf:libelf-dev zlib:zlib1g-dev; do
    pkg-config --exists "${library%%:*}" 2>/dev/null || packages="$packages ${library##*:}"
done
if [ "$purpose" != run ]; then
    need shellcheck shellcheck
    need strace strace
    need valgrind valgrind
    need gcov gcc
    need curl curl
    need xz xz-utils
    need unshare util-linux
    # A server of another project of each kind, and what the small servers in other languages run on.
    need redis-server redis-server
    need nginx nginx-light
    need go golang-go
    need node nodejs
    # npm, which Node of other sources has, fetches them otherwise.
    [ -d /usr/share/nodejs/pg ] || need npm node-pg
    [ -d /usr/share/nodejs/ws ] || packages="$packages node-ws"
fi
if [ "$purpose" = test-all ]; then
    need tmux tmux
    need irssi irssi
    need weechat-headless weechat-headless
    # scripts/irc-clients.sh types into WeeChat through its fifo plugin.
    ls /usr/lib/*/weechat/plugins/fifo.so >/dev/null 2>&1 || packages="$packages weechat-plugins"
    # Tests open reports in it.
    need chromium chromium
    # The lab: an emulated machine with a kernel that has sched_ext.
    need qemu-system-x86_64 qemu-system-x86
    # Tests of remote crowds use network namespaces with sshd.
    need ssh openssh-client
    need sshd openssh-server
    need socat socat
    # A Java of a newer Debian beside this one's: see the end.
    need patchelf patchelf
    need ip iproute2
    # This package has no service, unlike apache2. Those of Caddy, H2O and lighttpd start one on port 80, so they are not here.
    need apache2 apache2-bin
    # Its programs are outside the search path.
    ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || packages="$packages postgresql"
    # The files of contrib/slurm run on a cluster in miniature.
    need slurmctld slurm-wlm
    need nats-server nats-server
    # HTTP/2. It has no service.
    need nghttpd nghttp2-server
    need mosquitto mosquitto
    need ngircd ngircd
    need inspircd inspircd
fi
# Debian 12's Java has no virtual threads; one test needs a Java of Debian 13. It is installed outside Klatch's search path:
# otherwise all tests of every Java would run with it too.
newer_java() {
    [ "$purpose" = test-all ] || return 0
    XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}/klatch/tests "$(dirname "$0")/get-jdk.sh" 21 trixie >&2
}
# The check of the workflows is reported as not run without it.
workflow_checker() {
    [ "$purpose" != run ] || return 0
    tools=$(dirname "$0")/../target/tools/bin
    [ -x "$tools/actionlint" ] || command -v actionlint >/dev/null 2>&1 ||
        "$(dirname "$0")/install-tools.sh" actionlint >&2 || true
}
if [ -z "$packages" ]; then
    newer_java
    workflow_checker
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Klatch needs Rust $rust_min (https://rustup.rs), a JDK $java_min, Maven, a C compiler, git," >&2
    echo "and for the instruments clang, make, pkg-config and the headers of libelf and zlib." >&2
    echo "On Debian 12 these are the packages:$packages" >&2
    exit 2
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Klatch needs packages that only root can install. Run as root:" >&2
        echo "apt-get update && apt-get install -y --no-install-recommends$packages" >&2
        exit 2
    fi
    as_root=sudo
fi
# The package of PostgreSQL would make a cluster and start it.
case "$packages" in *postgresql*)
    conf=/etc/postgresql-common/createcluster.conf
    [ -e "$conf" ] || $as_root sh -c "mkdir -p ${conf%/*} && echo 'create_main_cluster = false' >$conf"
    ;;
esac
echo "installing:$packages" >&2
$as_root apt-get update -q >&2
# Unquoted, so that each package is a word.
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends $packages >&2
newer_java
workflow_checker
