#!/bin/sh
# Checks the workflows of .github with actionlint. The check is reported as not run where actionlint is not installed; the
# set-up does not install it, because it is not a Debian package.
set -eu
cd "$(dirname "$0")/.."

if ! command -v actionlint >/dev/null 2>&1; then
    exec scripts/not-run.sh add "workflows: actionlint is not installed (go install github.com/rhysd/actionlint/cmd/actionlint@latest)"
fi
actionlint .github/workflows/*.yml
