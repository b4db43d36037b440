#!/bin/sh
# Checks the workflows of .github with actionlint. The check is reported as not run where actionlint is not installed; the
# set-up does not install it, because it is not a Debian package.
set -eu
cd "$(dirname "$0")/.."

if ! command -v actionlint >/dev/null 2>&1; then
    text="workflows: actionlint is not installed (go install github.com/rhysd/actionlint/cmd/actionlint@latest)"
    echo "not run: $text" >&2
    if [ -n "${KLATCH_TEST_NOT_RUN:-}" ]; then echo "$text" >>"$KLATCH_TEST_NOT_RUN"; fi
    exit 0
fi
actionlint .github/workflows/*.yml
