#!/bin/sh
# Tests each of our servers with common IRC clients: irssi and WeeChat connect, join, send, query and leave without an
# error message. irssi also joins a room of a running benchmark, which reports it as a stranger. All tests run in parallel.
# usage: irc-clients.sh KLATCH FOLDER-OF-JARS
# shellcheck disable=SC2317 # the tests are called by name
set -eu

klatch=$(realpath "$1")
jars=$(realpath "$2")
scripts=$(dirname "$(realpath "$0")")
sources=$scripts/../platforms
for program in irssi weechat-headless tmux java go node; do
    command -v "$program" >/dev/null || {
        echo "irc-clients.sh needs $program; install it with scripts/setup.sh test-all" >&2
        exit 2
    }
done
root=$(mktemp -d)
tests=
trap 'for pid in $tests; do kill "$pid" 2>/dev/null || true; done; wait; rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

clean_up() {
    $tmux kill-server 2>/dev/null || true
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    for pid in $started; do wait "$pid" 2>/dev/null || true; done
}

in_own_folder() { # name, command
    name=$1
    shift
    folder=$root/$name
    mkdir "$folder"
    tmux="tmux -L klatch-$$-$name -f /dev/null"
    started=
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    "$@"
}

fail() {
    echo "irc-clients.sh: $name: $1" >&2
    [ ! -f "$2" ] || sed 's/^/  | /' "$2" >&2
    exit 1
}

await_line() { # pattern that must appear in a file within 30 s, file
    tries=300
    until grep -a -q -e "$1" "$2" 2>/dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "no line matches: $1" "$2"
        sleep 0.1
    done
}

start_server() { # command line; sets $port
    log=$folder/server
    "$@" --listen 127.0.0.1:0 --json >"$log" 2>&1 &
    started="$started $!"
    await_line '"event":"ready"' "$log"
    port=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$log")
}

irssi_send() {
    $tmux send-keys -t irssi -l "$1"
    $tmux send-keys -t irssi Enter
}

start_irssi() { # nick
    home=$folder/irssi-$1-$port
    mkdir -p "$home"
    $tmux new-session -d -s irssi -x 150 -y 200 \
        "exec irssi --home=$home --connect=127.0.0.1 --port=$port --nick=$1"
    # Everything that it prints, for no_complaint.
    $tmux pipe-pane -t irssi "exec cat >> $home/output"
}

irssi_await() { # pattern that must appear in its window within 30 s
    tries=300
    until $tmux capture-pane -p -t irssi >"$folder/window" && grep -q -e "$1" "$folder/window"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "irssi did not print: $1" "$folder/window"
        sleep 0.1
    done
}

no_complaint() { # output of a client
    # Words of error replies, and of clients that cannot parse a reply.
    if grep -a -i -E -e 'unknown command|not enough param|no such|erroneous|cannot (join|send)|ERROR|invalid' "$1" \
        >"$folder/complaints"; then
        fail "a client complained" "$folder/complaints"
    fi
}

test_irssi() {
    start_irssi ann
    irssi_await 'Come in and talk'
    # One window for everything.
    irssi_send '/set autocreate_windows off'
    irssi_send '/join #klatch-7'
    irssi_await 'Join to #klatch-7 was synced'
    irssi_send '/topic #klatch-7 coffee is ready'
    irssi_await 'coffee is ready'
    irssi_send 'hello from irssi'
    irssi_await '< *ann> hello from irssi'
    irssi_send '/names #klatch-7'
    irssi_send '/whois ann'
    irssi_await 'End of WHOIS'
    irssi_send '/who #klatch-7'
    irssi_await 'End of /WHO'
    irssi_send '/list -yes'
    irssi_await 'End of /LIST'
    irssi_send '/away lunch'
    irssi_await 'marked as being away'
    irssi_send '/away'
    irssi_send '/nick annie'
    irssi_await 'now known as annie'
    irssi_send '/part #klatch-7 bye'
    irssi_send '/quit'
    while $tmux has-session -t irssi 2>/dev/null; do sleep 0.1; done
    no_complaint "$home/output"
}

test_weechat() {
    home=$folder/weechat-$port
    log=$home/logs/irc.klatch.#klatch-7.weechatlog
    server_log=$home/logs/irc.server.klatch.weechatlog
    weechat-headless --dir "$home" \
        --run-command "/set weechat.startup.display_logo off" \
        --run-command "/set logger.file.flush_delay 0" \
        --run-command "/server add klatch 127.0.0.1/$port -notls -nicks=bob -autojoin=#klatch-7" \
        --run-command "/connect klatch" >/dev/null 2>&1 &
    weechat=$!
    started="$started $weechat"
    await_line 'bob.*has joined\|Channel #klatch-7' "$log"
    pipe=$home/weechat_fifo_$weechat
    for candidate in "$pipe" "${XDG_RUNTIME_DIR:-/nowhere}/weechat/weechat_fifo_$weechat" "$home"/*fifo*; do
        [ -p "$candidate" ] && pipe=$candidate
    done
    [ -p "$pipe" ] || fail "WeeChat opened no pipe for commands in $home" /dev/null
    weechat_send() { echo "irc.klatch.#klatch-7 *$1" >"$pipe"; }
    weechat_send 'hello from weechat'
    await_line 'hello from weechat' "$log"
    weechat_send '/topic tea is ready'
    await_line 'tea is ready' "$log"
    weechat_send '/names'
    weechat_send '/whois bob'
    await_line 'End of /WHOIS' "$server_log"
    weechat_send '/who #klatch-7'
    weechat_send '/mode #klatch-7'
    weechat_send '/nick bobby'
    await_line 'bobby' "$log"
    weechat_send '/part'
    await_line 'has left' "$log"
    weechat_send '/quit'
    wait "$weechat" || true
    cat "$log" "$server_log" >"$folder/weechat.output"
    no_complaint "$folder/weechat.output"
}

test_server() { # command line
    start_server "$@"
    test_irssi
    test_weechat
    echo "$name: irssi and WeeChat passed"
}

# A user with irssi in a room under load.
test_run() {
    "$klatch" run --platform native-epoll --pacing rate --rate 2 --count 40 --rooms 2 --warmups 0 --trials 1 \
        --out "$folder/results" >"$folder/run" 2>&1 &
    run=$!
    started="$started $run"
    await_line 'all joined' "$folder/run"
    port=$(sed -n 's/^platform .* on 127.0.0.1:\([0-9]*\)$/\1/p' "$folder/run")
    start_irssi eve
    irssi_await 'Come in and talk'
    irssi_send '/join #klatch-1'
    irssi_await '< *r1u[0-3]*> 000'
    irssi_send 'coffee, anyone?'
    irssi_await '< *eve> coffee'
    wait "$run" || fail "the run with a stranger was not valid" "$folder/run"
    grep -q 'a stranger, eve, was in room 1 and sent 1 messages' "$folder/run" || fail "the stranger was not reported" "$folder/run"
    echo "irssi joined a running benchmark, and the report names it"
}

begin() {
    (in_own_folder "$@") &
    tests="$tests $!"
}

java_for_virtual_threads() {
    # get-jdk.sh installs JDKs here.
    cache=$("$scripts/cache-folder.sh")
    for java in java "${JAVA_HOME:-/nowhere}/bin/java" /usr/lib/jvm/*/bin/java "$cache"/jdks/*/bin/java; do
        version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p') || true
        case $version in
            1.* | "" | 17 | 18 | 19 | 20) ;;
            *) echo "$java" && return ;;
        esac
    done
}

(cd "$sources/go-goroutines" && go build -buildvcs=false -o "$root/go-server" .)
begin running-benchmark test_run
begin native-threads test_server "$klatch" serve --model threads
begin native-epoll test_server "$klatch" serve --model epoll
begin native-epoll-coalesce test_server "$klatch" serve --model epoll --coalesce
begin native-uring test_server "$klatch" serve --model uring
begin native-tokio test_server "$klatch" serve --model tokio
begin java-threads test_server java -jar "$jars/klatch.jar" serve --model threads
begin java-selector test_server java -jar "$jars/klatch.jar" serve --model selector
begin java-selector-coalesce test_server java -jar "$jars/klatch.jar" serve --model selector --coalesce
begin java-netty test_server java -jar "$jars/klatch-netty.jar" serve --model netty
begin go-goroutines test_server "$root/go-server"
begin node-events test_server node "$sources/node-events/main.js"
java=$(java_for_virtual_threads)
if [ -n "$java" ]; then
    begin java-virtual test_server "$java" -jar "$jars/klatch.jar" serve --model virtual
else
    reason="irc-clients.sh, java-virtual: needs Java 21 or newer; scripts/get-jdk.sh 21 trixie"
    echo "not run: $reason"
    [ -z "${KLATCH_TEST_NOT_RUN:-}" ] || echo "$reason" >>"$KLATCH_TEST_NOT_RUN"
fi

failed=0
for pid in $tests; do wait "$pid" || failed=1; done
tests=
exit $failed
