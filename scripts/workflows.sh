#!/bin/sh
# Checks the workflows of .github and those of contrib with actionlint. The check is reported as not run where actionlint is not installed: make
# setup-test installs it where it can.
set -eu
cd "$(dirname "$0")/.."

PATH=$PWD/target/tools/bin:$PATH
if ! command -v actionlint >/dev/null 2>&1; then
    exec scripts/not-run.sh add "workflows: actionlint is not installed (scripts/install-tools.sh actionlint)"
fi
actionlint .github/workflows/*.yml contrib/github/*.yml
