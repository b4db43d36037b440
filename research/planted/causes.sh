#!/bin/sh
# Does `klatch duet --explain` name a planted cause among the first three rows of a list? For each cause the rows that are shown are printed,
# largest first, for the server's CPU time by area, system call and routine, and for what the server does per message.
#
# Usage: causes.sh FOLDER [SECONDS-PER-DUET] [CAUSE…]
# Needs klatch, jq, cc and javac on the path, root, and a machine with little else to do; by hand.
set -eu

folder=${1:?usage: causes.sh FOLDER [SECONDS-PER-DUET] [CAUSE…]}
seconds=${2:-120}
shift
[ $# -eq 0 ] || shift
sources=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/catalog"
folder=$(cd "$folder" && pwd)

# A file of this platform: what starts it, what it is.
catalog() {
  cat >"$folder/catalog/$1.toml" <<EOF
name = "$1"
summary = "an echo server: $3"
class = "open"
protocol = "echo"
command = [$2, "{address}"$4]
ready = "accepts"
[workloads.rr]
$5
EOF
}

# An echo server with these options of the compiler, as a platform of this name.
platform() {
  name=$1
  shift
  cc -O2 -g -fno-omit-frame-pointer "$@" -o "$folder/catalog/$name" "$sources/echo.c"
  catalog "$name" "\"$folder/catalog/$name\"" "$*" "" ""
}

# The echo server in Java that allocates so many bytes a request, with this collector.
java_platform() {
  catalog "$1" '"{java}", "{java_options}", "-Xmx64m", "-Xmn4m", "'"$3"'", "-cp", "'"$folder/catalog"'", "Echo"' "$2 bytes a request, $3" ", \"$2\"" "[java]
version_min = 17"
}

# A duet of two sides, with more options; prints what explains it.
explain() {
  cause=$1 a=$2 b=$3
  shift 3
  if ! klatch duet "$a" "$b" --catalog-a "$folder/catalog" --catalog-b "$folder/catalog" --duration "${seconds}s" --explain \
    --out "$folder/$cause" --json "$@" >"$folder/$cause.json"; then
    echo "## $cause: no comparison"
    return
  fi
  echo "## $cause: $a, $b; load $(cut -d' ' -f1 /proc/loadavg)"
  jq -r '
    def shown: map(select(.is_shown)) | .[:3];
    def rows: shown | map("\(.name) \(.difference_us * 1000 | round) ns") | join("; ");
    (.metrics[] | select(.metric == "server_cpu_us_per_message") | "server CPU: x \(.ratio.estimate) (\(.ratio.low) to \(.ratio.high))"),
    (if .explanation == null then "not explained: \(.unexplained)" else
      (.explanation.time.server | "areas: \(.areas | rows)", "calls: \(.calls | rows)", "routines: \(.routines | rows)"),
      "counts: \(.explanation.counts | shown | map("\(.name) \(.a) to \(.b)") | join("; "))"
    end)' "$folder/$cause.json"
}

small="--workload rr --connections 16"
one() {
  # shellcheck disable=SC2086
  case $1 in
    none-echo*) explain "$1" plain plain --name-a one --name-b other $small ;;
    none-chat*) explain "$1" native-epoll native-epoll --name-a one --name-b other --rooms 5 ;;
    none-java*) explain "$1" java-threads java-threads --name-a one --name-b other --rooms 5 ;;
    call) explain call plain call $small ;;
    text) explain text plain text $small ;;
    yield) explain yield plain yield $small ;;
    buffer) explain buffer plain buffer --workload rr --connections 16 --size 60000 ;;
    nagle) explain nagle native-epoll native-epoll:nodelay=off --rooms 5 ;;
    tls) explain tls native-epoll native-epoll:transport=tls --rooms 5 ;;
    lock) explain lock outside locked $small ;;
    gc) explain gc allocates g1 $small ;;
    collections) explain collections allocates allocates-twice $small ;;
    java-yield) explain java-yield java-threads java-threads:yield=on --rooms 5 ;;
    *) echo "no such cause: $1" >&2 && exit 2 ;;
  esac
}

platform plain
platform call -DCALL
platform text -DTEXT
platform yield -DYIELD
platform buffer -DBUFFER=4096
platform outside -DTHREADS -DWORK=5000
platform locked -DTHREADS -DWORK=5000 -DLOCKED
javac -d "$folder/catalog" "$sources/Echo.java"
java_platform allocates 10240 -XX:+UseSerialGC
java_platform allocates-twice 20480 -XX:+UseSerialGC
java_platform g1 10240 -XX:+UseG1GC
[ $# -gt 0 ] || set -- none-echo call text yield buffer lock nagle tls gc collections java-yield
for cause; do
  one "$cause"
done
