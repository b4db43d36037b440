#!/usr/bin/env bash
# Builds Kubernetes (API server, controllers, scheduler, kubelet, kubectl) from its Go modules into the user's cache, once: eight
# CPU minutes. Prints the folder. For kubernetes-cluster.sh.
set -euo pipefail
version=1.34.4
scripts=$(dirname "$(realpath "$0")")
folder=$("$scripts/cache-folder.sh")/kubernetes-$version
programs=(kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet)

if [ ! -x "$folder/kubelet" ]; then
    command -v go >/dev/null || { echo "kubernetes-build.sh needs go; install it: apt-get install golang-go" >&2; exit 2; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp "$scripts/kubernetes/main.go" "$work"
    cd "$work"
    # The repository of Kubernetes replaces some modules by folders of its own. They are published with the versions below.
    module=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
    {
        printf 'module klatch/kubernetes\n\n'
        grep --extended-regexp '^(go|godebug) ' "$module"
        printf '\nrequire k8s.io/kubernetes v%s\n\n' "$version"
        sed -n "s|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|replace \1 => \1 v0.${version#*.}|p" "$module"
    } >go.mod
    go mod tidy >&2
    CGO_ENABLED=0 go build -ldflags "-X k8s.io/component-base/version.gitVersion=v$version" -o kubernetes . >&2
    mkdir -p "$folder"
    for program in "${programs[@]}"; do ln -f -s kubernetes "$folder/$program"; done
    mv kubernetes "$folder"
fi
echo "$folder"
