#!/bin/sh
# Which of three slower commits among 40 does `klatch history` find? A repository of an echo server is made, in which three commits are
# slower by about 2, 5 and 20 %. Every commit is built and compared with the first one by a duet, and the results stay in a folder that the
# branch `results` would hold in CI.
#
# Usage: planted-commits.sh FOLDER [SECONDS-PER-DUET]
# Needs klatch, git, jq and cc on the path; by hand, as it takes 40 duets of 20 s.
set -eu

folder=${1:?usage: planted-commits.sh FOLDER [SECONDS-PER-DUET]}
seconds=${2:-20}
sources=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
repository=$folder/echo
results=$folder/results
workload="--workload rr --connections 16"

# A duet of two builds: label and label, then more options.
compare() {
  a=$1 b=$2
  shift 2
  # shellcheck disable=SC2086
  klatch duet echo echo --catalog-a "$folder/builds/$a" --catalog-b "$folder/builds/$b" --name-a "$a" --name-b "$b" \
    $workload --slice 25ms --json "$@"
}

# Builds what the working tree holds, under a label.
build() {
  mkdir -p "$folder/builds/$1"
  cc -O2 -o "$folder/builds/$1/echo" "$repository/echo.c"
  cat >"$folder/builds/$1/echo.toml" <<EOF
name = "echo"
summary = "an echo server, build $1"
class = "open"
protocol = "echo"
command = ["$folder/builds/$1/echo", "{address}"]
ready = "accepts"
[workloads.rr]
EOF
}

work() {
  printf '#define WORK %s\n' "$1" >"$repository/work.h"
}

rm -rf "$repository" "$folder/builds"
git init --quiet "$repository"
cp "$sources/echo.c" "$repository"

# What a round of the hash costs, as a share of the server's CPU time.
least=2000
work $least
build low
work $((2 * least))
build high
ratio=$(compare low high --duration "$((3 * seconds))s" --out "$folder/scale" |
  jq '.metrics[] | select(.metric == "server_cpu_us_per_message") | .ratio.estimate')
echo "doubling the work of $least rounds: x $ratio"

rounds=$least
commit=1
while [ $commit -le 40 ]; do
  # In per mille of the first commit's CPU time.
  case $commit in
    11) slower=20 ;;
    21) slower=51 ;;
    31) slower=214 ;;
    *) slower=0 ;;
  esac
  rounds=$(echo "$rounds $least $slower $ratio" | jq -s '.[0] + .[1] * .[2] / 1000 / (.[3] - 1) | round')
  work "$rounds"
  echo "/* commit $commit */" >>"$repository/echo.c"
  git -C "$repository" add .
  git -C "$repository" -c user.name=x -c user.email=x@example.org commit --quiet -m "commit $commit"
  label=$(printf 'c%02d-%s' $commit "$(git -C "$repository" rev-parse --short=7 HEAD)")
  build "$label"
  if [ $commit -eq 1 ]; then
    base=$label
  else
    compare "$base" "$label" --duration "${seconds}s" --out "$results" >"$folder/last.json"
    jq -r --arg name "$label" '.metrics[] | select(.metric == "server_cpu_us_per_message") | "\($name): x \(.ratio.estimate)"' \
      "$folder/last.json"
  fi
  commit=$((commit + 1))
done
klatch history "$results"
