#!/bin/sh
# Which of three slower commits among 40 does `klatch history` find? A repository of an echo server is made, in which three commits are
# slower by about 2, 5 and 20 %. Every commit is built, and compared with the first one by a duet or run once in the lab. The results stay in
# a folder that the branch `results` would hold in CI.
#
# Usage: commits.sh FOLDER [SECONDS-PER-DUET | lab]
# Needs klatch, git, jq and cc on the path, for the lab QEMU; by hand, as it takes 40 duets of 20 s, or 40 boots.
set -eu

folder=${1:?usage: commits.sh FOLDER [SECONDS-PER-DUET | lab]}
way=${2:-20}
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

# One run of a build in the lab, whose clock counts instructions.
count() {
  klatch lab exec --file "$folder/builds/$1/echo" --file "$folder/builds/$1/echo.toml" --out "$results/$1" -- \
    run rr --platform echo --catalog "$folder/builds/$1" --label "$1" --connections 16 \
    --duration 250ms --warmup 100ms --trials 1 >"$folder/last.txt" 2>&1
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
ratio=$(compare low high --duration 60s --out "$folder/scale" |
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
  if [ "$way" = lab ]; then
    count "$label"
  elif [ $commit -eq 1 ]; then
    base=$label
  else
    compare "$base" "$label" --duration "${way}s" --out "$results" >"$folder/last.json"
    jq -r --arg name "$label" '.metrics[] | select(.metric == "server_cpu_us_per_message") | "\($name): x \(.ratio.estimate)"' \
      "$folder/last.json"
  fi
  commit=$((commit + 1))
done
if [ "$way" = lab ]; then klatch history --order path "$results"; else klatch history "$results"; fi
