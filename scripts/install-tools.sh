#!/bin/sh
# Installs tools of development that are not Debian packages, each in the version below, which is checked: crates by the
# registry's checksums and --locked, Go modules by Go's checksum database, Python packages by the hashes in scripts/requirements,
# archives by the checksum beside the version. Crates go to cargo's folder, all else to target/tools. With --debug, crates are built
# faster and run slower.
# usage: install-tools.sh [--debug] TOOL…
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/target/tools

profile=
if [ "${1:-}" = --debug ]; then
    profile=--debug
    export CARGO_PROFILE_DEV_DEBUG=0
    shift
fi
[ $# -gt 0 ] || {
    echo "usage: install-tools.sh [--debug] TOOL…" >&2
    exit 2
}

crate() { # crate@version, options
    # shellcheck disable=SC2086 # no word where there is no option
    cargo install --quiet --locked $profile "$@"
}

python() { # name
    python3 -m venv "$tools/$1" || {
        echo "install-tools.sh: python3 makes no virtual environment; install that part: apt-get install python3-venv" >&2
        exit 2
    }
    "$tools/$1/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        --requirement "scripts/requirements/$1.txt"
}

rust() { # name, version, checksum of the archive
    archive=rust-$2-x86_64-unknown-linux-gnu
    work=$(mktemp -d)
    curl --fail --silent --show-error --output "$work/rust.tar.xz" "https://static.rust-lang.org/dist/$archive.tar.xz"
    echo "$3  $work/rust.tar.xz" | sha256sum --check --quiet
    tar --extract --xz --directory "$work" --file "$work/rust.tar.xz"
    "$work/$archive/install.sh" --prefix="$tools/$1" --disable-ldconfig \
        --components=rustc,rust-std-x86_64-unknown-linux-gnu,cargo,rustfmt-preview,clippy-preview >/dev/null
    rm -r "$work"
}

for tool; do
    case $tool in
        # The last version that the Go of Debian 12 compiles.
        actionlint) GOBIN=$tools/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 ;;
        cargo-about) crate cargo-about@0.9.3 --features cli ;;
        cargo-cyclonedx) crate cargo-cyclonedx@0.5.9 ;;
        cargo-deb) crate cargo-deb@3.8.0 ;;
        cargo-deny) crate cargo-deny@0.20.2 ;;
        cargo-generate-rpm) crate cargo-generate-rpm@0.21.1 ;;
        kubernetes-validate) python kubernetes-validate ;;
        mdbook) crate mdbook@0.5.4 --no-default-features --features search ;;
        # What the job lint of CI uses: another version has other lints and another format.
        rust) rust rust 1.95.0 2e0338f18ecbaa4a0f631b9e80e8b8e26bb6fe77dd5454fba8a70cf96c1e84a1 ;;
        # The oldest that builds Klatch, rust-version in Cargo.toml.
        rust-oldest) rust rust-oldest 1.89.0 c4f2796b10ee886001f0799bc40caea38746403a33c379d77878c4f4683f9b51 ;;
        # Zig, with cargo's wrapper of it.
        zig) python zig ;;
        *)
            echo "install-tools.sh: there is no tool $tool" >&2
            exit 2
            ;;
    esac
done
