#!/bin/sh
# People's clients against each of our servers: irssi and WeeChat connect, join, talk, ask, and leave without one complaint;
# and irssi walks into a room of a running benchmark, whose verdict tells of it. All at the same time.
# usage: irc-clients.sh KLATCH FOLDER-OF-JARS
# shellcheck disable=SC2317 # the visits are called by name
set -eu

klatch=$(realpath "$1")
jars=$(realpath "$2")
sources=$(dirname "$(realpath "$0")")/../platforms
for program in irssi weechat-headless tmux java go node; do
    command -v "$program" >/dev/null || {
        echo "irc-clients.sh needs $program; install it with scripts/setup.sh test" >&2
        exit 2
    }
done
root=$(mktemp -d)
visits=
trap 'for pid in $visits; do kill "$pid" 2>/dev/null || true; done; wait; rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

clean_up() {
    $tmux kill-server 2>/dev/null || true
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    for pid in $started; do wait "$pid" 2>/dev/null || true; done
}

at_a_place_of_its_own() { # a name, and what to do there
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

until_seen() { # a pattern, and the file in which it must appear within 30 s
    tries=300
    until grep -a -q -e "$1" "$2" 2>/dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "never saw: $1" "$2"
        sleep 0.1
    done
}

start_server() { # its command line: leaves its port in $port
    log=$folder/server
    "$@" --listen 127.0.0.1:0 --json >"$log" 2>&1 &
    started="$started $!"
    until_seen '"event":"ready"' "$log"
    port=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$log")
}

irssi_says() {
    $tmux send-keys -t irssi -l "$1"
    $tmux send-keys -t irssi Enter
}

start_irssi() { # the nick
    home=$folder/irssi-$1-$port
    mkdir -p "$home"
    $tmux new-session -d -s irssi -x 150 -y 200 \
        "exec irssi --home=$home --connect=127.0.0.1 --port=$port --nick=$1"
    # All that it ever shows, for the search for complaints.
    $tmux pipe-pane -t irssi "exec cat >> $home/shown"
}

irssi_shows() { # a pattern that must appear in its window within 30 s
    tries=300
    until $tmux capture-pane -p -t irssi >"$folder/window" && grep -q -e "$1" "$folder/window"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "irssi never showed: $1" "$folder/window"
        sleep 0.1
    done
}

no_complaint() { # what was shown
    # Words of error replies and of clients that do not understand one.
    if grep -a -i -E -e 'unknown command|not enough param|no such|erroneous|cannot (join|send)|ERROR|invalid' "$1" \
        >"$folder/complaints"; then
        fail "a client complained" "$folder/complaints"
    fi
}

irssi_visits() {
    start_irssi ann
    irssi_shows 'Come in and talk'
    # One window shows all.
    irssi_says '/set autocreate_windows off'
    irssi_says '/join #klatch-7'
    irssi_shows 'Join to #klatch-7 was synced'
    irssi_says '/topic #klatch-7 coffee is ready'
    irssi_shows 'coffee is ready'
    irssi_says 'hello from irssi'
    irssi_shows '< *ann> hello from irssi'
    irssi_says '/names #klatch-7'
    irssi_says '/whois ann'
    irssi_shows 'End of WHOIS'
    irssi_says '/who #klatch-7'
    irssi_shows 'End of /WHO'
    irssi_says '/list -yes'
    irssi_shows 'End of /LIST'
    irssi_says '/away lunch'
    irssi_shows 'marked as being away'
    irssi_says '/away'
    irssi_says '/nick annie'
    irssi_shows 'now known as annie'
    irssi_says '/part #klatch-7 bye'
    irssi_says '/quit'
    while $tmux has-session -t irssi 2>/dev/null; do sleep 0.1; done
    no_complaint "$home/shown"
}

weechat_visits() {
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
    until_seen 'bob.*has joined\|Channel #klatch-7' "$log"
    pipe=$home/weechat_fifo_$weechat
    for found in "$pipe" "${XDG_RUNTIME_DIR:-/nowhere}/weechat/weechat_fifo_$weechat" "$home"/*fifo*; do
        [ -p "$found" ] && pipe=$found
    done
    [ -p "$pipe" ] || fail "WeeChat opened no pipe for commands in $home" /dev/null
    say() { echo "irc.klatch.#klatch-7 *$1" >"$pipe"; }
    say 'hello from weechat'
    until_seen 'hello from weechat' "$log"
    say '/topic tea is ready'
    until_seen 'tea is ready' "$log"
    say '/names'
    say '/whois bob'
    until_seen 'End of /WHOIS' "$server_log"
    say '/who #klatch-7'
    say '/mode #klatch-7'
    say '/nick bobby'
    until_seen 'bobby' "$log"
    say '/part'
    until_seen 'has left' "$log"
    say '/quit'
    wait "$weechat" || true
    cat "$log" "$server_log" >"$folder/weechat.shown"
    no_complaint "$folder/weechat.shown"
}

visit() { # the command line of a server
    start_server "$@"
    irssi_visits
    weechat_visits
    echo "irssi and WeeChat visited $name"
}

# A person in a room under load: the recipe of the README.
visit_a_run() {
    "$klatch" run --platform native-epoll --pacing rate --rate 2 --count 40 --rooms 2 --warmup 0 --trials 1 \
        --out "$folder/results" >"$folder/run" 2>&1 &
    run=$!
    started="$started $run"
    until_seen 'all joined' "$folder/run"
    port=$(sed -n 's/^platform .* on 127.0.0.1:\([0-9]*\)$/\1/p' "$folder/run")
    start_irssi eve
    irssi_shows 'Come in and talk'
    irssi_says '/join #klatch-1'
    irssi_shows '< *r1u[0-3]*> 000'
    irssi_says 'coffee, anyone?'
    irssi_shows '< *eve> coffee'
    wait "$run" || fail "the run with a stranger was not valid" "$folder/run"
    grep -q 'a stranger, eve, was in room 1 and said 1 messages' "$folder/run" || fail "nobody told of the stranger" "$folder/run"
    echo "irssi visited a running benchmark, and its verdict tells so"
}

begin() {
    (at_a_place_of_its_own "$@") &
    visits="$visits $!"
}

java_for_virtual_threads() {
    # Where get-jdk.sh puts them.
    cache=${XDG_CACHE_HOME:-}
    if [ -z "$cache" ]; then
        if [ "$(id -u)" -eq 0 ]; then cache=/var/lib; else cache=$HOME/.cache; fi
    fi
    for java in java "${JAVA_HOME:-/nowhere}/bin/java" /usr/lib/jvm/*/bin/java "$cache"/klatch/jdks/*/bin/java; do
        version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p') || true
        case $version in
            1.* | "" | 17 | 18 | 19 | 20) ;;
            *) echo "$java" && return ;;
        esac
    done
}

(cd "$sources/go-goroutines" && go build -buildvcs=false -o "$root/go-server" .)
begin running-benchmark visit_a_run
begin native-threads visit "$klatch" serve --model threads
begin native-epoll visit "$klatch" serve --model epoll
begin native-epoll-coalesce visit "$klatch" serve --model epoll --coalesce
begin native-uring visit "$klatch" serve --model uring
begin native-tokio visit "$klatch" serve --model tokio
begin java-threads visit java -jar "$jars/klatch.jar" serve --model threads
begin java-selector visit java -jar "$jars/klatch.jar" serve --model selector
begin java-selector-coalesce visit java -jar "$jars/klatch.jar" serve --model selector --coalesce
begin java-netty visit java -jar "$jars/klatch-netty.jar" serve --model netty
begin go-goroutines visit "$root/go-server"
begin node-events visit node "$sources/node-events/main.js"
java=$(java_for_virtual_threads)
if [ -n "$java" ]; then
    begin java-virtual visit "$java" -jar "$jars/klatch.jar" serve --model virtual
else
    reason="irc-clients.sh, java-virtual: needs Java 21 or newer; scripts/get-jdk.sh 21 trixie"
    echo "not run: $reason"
    [ -z "${KLATCH_TEST_NOT_RUN:-}" ] || echo "$reason" >>"$KLATCH_TEST_NOT_RUN"
fi

failed=0
for pid in $visits; do wait "$pid" || failed=1; done
visits=
exit $failed
