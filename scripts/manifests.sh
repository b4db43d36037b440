#!/bin/sh
# Checks the manifests of contrib/kubernetes against the schemas of three versions of Kubernetes. The check is reported as not run
# where kubernetes-validate is not installed; the set-up does not install it.
set -eu
cd "$(dirname "$0")/.."

PATH=$PWD/target/tools/kubernetes-validate/bin:$PATH
if ! command -v kubernetes-validate >/dev/null 2>&1; then
    exec scripts/not-run.sh add "manifests of Kubernetes: kubernetes-validate is not installed (scripts/install-tools.sh kubernetes-validate)"
fi
for version in 1.30 1.34 1.36; do
    kubernetes-validate --kubernetes-version "$version" --strict contrib/kubernetes/*.yaml >/dev/null
done
