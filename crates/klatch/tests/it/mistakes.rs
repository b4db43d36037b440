//! The table of mistakes: what a person types, and the answer, which names what was wrong and what to type. All end with status 2, at once,
//! and without a trace of the program's inside.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::Path;

use klatch_testing::{Need, needs};

use crate::support::{Finished, klatch};

/// A command line without the name of the program, and a part of the answer.
const TABLE: [(&str, &str); 142] = [
    // What excludes each other.
    ("run --rooms 10 --shards 100", "got 10: use --shards 10 or fewer, or --rooms 100"),
    ("run --servers 2 --target irc://127.0.0.1:6667", "tip: leave out --servers, or --target"),
    (
        "run --pacing rate --stages 1m:5 --rate 5",
        "klatch: rate cannot be combined with stages: leave out --rate",
    ),
    (
        "run rr --stages 1m:5 --duration 1m",
        "klatch: duration cannot be combined with stages: leave out --duration",
    ),
    (
        "run --pacing rate --stages 1m:5 --count 7",
        "klatch: count cannot be combined with stages: leave out --count",
    ),
    // Names.
    ("run --platform java-thread", "klatch: no platform is named java-thread; did you mean java-threads?"),
    ("run --platform fax", "klatch: no platform is named fax; klatch platforms lists all "),
    (
        "run --platform native-epoll@17",
        "native-epoll is not a Java platform, so it has no version 17: leave out @17",
    ),
    ("run --platform java-threads@new", "a version of Java is a number, as in java-threads@25"),
    ("run --workload chatt", "tip: a similar value exists: 'chat'"),
    ("run --pacing rat", "tip: a similar value exists: 'rate'"),
    ("run --instrument profil", "no instrument is named profil; did you mean profile?"),
    ("run --instrument perf", "no instrument is named perf; there are usage, profile, "),
    ("run --scheduler goodnes", "there is no scheduler goodnes; did you mean goodness?"),
    (
        "run --scheduler cfs",
        "there is no scheduler cfs; it is the kernel's own, which runs unless another is named",
    ),
    ("run --scheduler mine", "there is no scheduler mine; there are fifo, goodness, "),
    ("run --scheduler lavd", "a program that loads one is named by its path, or as scx_lavd"),
    (
        "run --platform native-epoll,native-urng",
        "klatch: no platform is named native-urng; did you mean native-uring?",
    ),
    ("run --platform native-epoll,./mine.toml", "klatch: there is no file ./mine.toml"),
    ("run --require p98<=5ms", "there is no metric p98; there are throughput, conforming_lines, "),
    (
        "run rr --workload chat",
        "klatch run rr has the workload rr: leave out --workload chat, or use klatch run chat",
    ),
    (
        "run rr --rooms 5",
        "rooms belongs to the workload chat, not to rr: leave it out, or use klatch run chat",
    ),
    ("run --platform ./mine.toml", "klatch: there is no file ./mine.toml"),
    (
        "duet results/a results/b",
        "no platform is named results/a; klatch platforms lists all, and klatch compare ",
    ),
    ("compare java-threads redis", "klatch duet java-threads redis measures both"),
    (
        "compare results/a results/b",
        "cannot read results/a: No such file or directory (os error 2): klatch browse lists",
    ),
    ("study xyz --name knee", "tip: the name stands by itself: klatch study threads-2000"),
    (
        "study knee --only nothing",
        "no cell of knee has nothing in its name; klatch study knee --dry-run lists the cells",
    ),
    ("help runtime", "tip: klatch help runtimes"),
    ("bench", "tip: klatch run"),
    ("hosts", "tip: --hosts is an option of klatch run"),
    ("simulate run --set room=4", "the workload chat has no setting room; did you mean rooms?"),
    ("simulate run --set rooms=many", "rooms must be 1 to 2,000, got many"),
    ("run --scheduler o1:yeld=2", "the scheduler o1 has no knob yeld; did you mean yield?"),
    ("run --crowd jav", "tip: a similar value exists: 'java'"),
    ("run --transport tsl", "transport must be one of plain, ws, tls, wss, got tsl"),
    (
        "study thread-2000",
        "no study is called thread-2000, and there is no such file; did you mean threads-2000?",
    ),
    ("study xyz", "klatch study lists all "),
    ("conformance native-epol", "did you mean native-epoll?"),
    ("simulate run --scheduler goodnes", "did you mean goodness?"),
    ("simulate run --work chatt", "did you mean chat?"),
    ("lab exec --kernel 9.9 run", "there is no kernel 9.9 here; there are "),
    // The name before the time, which is too short for three starts.
    (
        "duet native-epol native-epoll --duration 5s",
        "no platform is named native-epol; did you mean native-epoll?",
    ),
    ("duet native-epoll:lops=2 native-epoll", "native-epoll has no knob lops; did you mean loops?"),
    // Numbers and units.
    ("run --rooms 0", "rooms must be 1 to 65,535, got 0"),
    ("run --users 1", "users must be 2 to 10,000, got 1"),
    ("run --size 20", "size must be 36 to 400, got 20"),
    ("run --rooms many", "rooms must be a whole number, got many"),
    ("run --trials 0", "trial count must be 1 to 1,000, got 0"),
    ("run --trials many", "'many' for '--trials <N>': must be a whole number, 0 or more"),
    ("run --warmups -1", "'-1' for '--warmups <N>': must be 0 to "),
    ("run --timeout 0", "'0' for '--timeout <TIME>': must be above 0 and at most a week"),
    ("run --timeout soon", "'soon' for '--timeout <TIME>': must be a time such as 30s, 5m, 1h30m or 250ms"),
    (
        "run --pacing rate",
        "pacing rate needs a rate or stages: add --rate, in messages/s of each user, as in --rate 2",
    ),
    ("run --stages 1m:5", "stages belongs to pacing rate: add --pacing rate"),
    ("run web --stages 1m:5", "stages belongs to the workload chat or rr or trade, not to web"),
    ("run rr --stages 1m", "pairs of a time and a rate, as in 1m:100,3m:500,30s:0, got 1m"),
    ("run rr --stages 0s:0", "of times that are together above 0 and at most 86,400 seconds, got 0s:0"),
    ("run rr --stages 1m:0", "stages must be pairs of a time and a rate, of which one is not 0, got 1m:0"),
    ("run rr --stages 1m:-5", "stages must be pairs of a time and a rate of 0 to 1,000,000 1/s, got 1m:-5"),
    ("run rr --stages 1m:2000000", "a rate of 0 to 1,000,000 1/s, got 1m:2000000"),
    ("run --rate 5", "rate belongs to pacing rate: add --pacing rate"),
    ("duet native-epoll native-threads --duration 5d", "must be a time such as 30s, 5m, 1h30m or 250ms"),
    ("duet native-epoll native-threads --duration 5s", "raise --duration, or lower --starts or --warmup"),
    ("duet native-epoll native-threads --starts 0", "must be 1 to 1,000"),
    ("duet a b --fail-if-slower two", "must be 0 to 100 %, got two"),
    ("crowd --port 99999", "'99999' for '--port <PORT>': must be 1 to 65,535"),
    ("lab exec --cpus 0 run", "'0' for '--cpus <N>': must be 1 to 64"),
    ("lab exec --memory 5 run", "must be 256 to 65,536"),
    ("plan --target irc://x:6667 --shards 0", "'0' for '--shards <N>': must be 1 to 1,000"),
    ("serve --loops 0", "loops must be 1 to 1024, got 0"),
    // Knobs: refused before anything starts, so that no usage of an inner program is seen.
    ("run --platform native-epoll --knob lops=2", "native-epoll has no knob lops; did you mean loops?"),
    ("run --platform native-epoll --knob loops=0", "klatch: knob loops must be 1 to 1,024, got 0"),
    ("run --platform native-epoll --knob loops=abc", "klatch: knob loops must be 1 to 1,024, got abc"),
    (
        "run --platform native-epoll --knob transport=x",
        "knob transport must be one of plain, tls, ws, wss, got x",
    ),
    ("run --platform redis --knob loops=2", "redis has no knob loops; it has io-threads, "),
    // Options of something else.
    ("run --gc zgc", "tip: gc is a knob of platforms: --knob gc=zgc"),
    (
        "duet native-epoll irc://127.0.0.1:6667 --exact",
        "an exact count starts both servers in the lab, and irc://127.0.0.1:6667 runs elsewhere: name platforms on both sides, or leave out --exact",
    ),
    (
        "duet native-pread native-mmap --workload files --exact",
        "the lab cannot count files, which needs a disk: leave out --exact",
    ),
    (
        "duet jetty jetty:threads=2 --workload trade --exact",
        "the lab cannot count trade, which needs a database: leave out --exact",
    ),
    ("duet a b --gc zgc", "tip: gc is a knob of platforms: klatch duet PLATFORM:gc=zgc"),
    ("duet a b --instrument usage", "tip: --instrument is an option of klatch run"),
    ("duet a b --trials 4", "tip: --trials is an option of klatch run"),
    ("floor --platform nginx", "tip: --platform is an option of klatch run and calibrate"),
    ("simulate run --cpus 8", "tip: --machine '8 cpus'"),
    ("run --instruments usage", "tip: here it is --instrument"),
    ("run --time 30s", "tip: here it is --duration"),
    ("run --jdk 21", "tip: a version of Java follows the platform: --platform java-threads@21"),
    ("run -v", "tip: the record has everything: klatch report results/latest"),
    ("run --quiet", "tip: progress is on standard error: 2>/dev/null"),
    ("serve --port 6667", "tip: here it is --listen"),
    ("study knee --set rooms=5", "tip: settings of a study are in its file"),
    ("lab exec --counter -- run", "--counter is no option of klatch lab exec; did you mean --counters?"),
    (
        "lab exec -- run --scheduler scx_mine --platform native-epoll",
        "put --scheduler before the command, as in klatch lab exec --scheduler 'scx_mine' -- run",
    ),
    ("lab exec -- klatch run --platfrm redis", "a similar argument exists: '--platform'"),
    (
        "run --connections 10",
        "connections belongs to the workload rr, not to chat: leave it out, or add --workload rr",
    ),
    (
        "run --workload web --rooms 5",
        "rooms belongs to the workload chat, not to web: leave it out, or add --workload chat",
    ),
    (
        "run --qos 1",
        "quality of service and client identifiers belong to MQTT: leave out --qos and --client-id, or name a broker",
    ),
    ("run --target redis://127.0.0.1:1 --client-id lab-", "client identifiers belong to MQTT: leave out"),
    ("run --platform mosquitto --qos 3", "qos must be 0 to 2, got 3"),
    ("run --platform mosquitto --client-id a\tb", "client_id must be 1 to 100 printable ASCII characters"),
    ("crowd --qos 2", "quality of service and client identifiers need a server of MQTT, not of irc"),
    ("run --window 3", "window belongs to pacing rounds: add --pacing rounds"),
    (
        "run --platform nginx",
        "nginx does not carry the workload chat; it carries rr, web: add --workload rr or web",
    ),
    ("run --target irc://127.0.0.1:1 --platform redis", "cannot be used with '--platform <PLATFORM>'"),
    // Addresses.
    (
        "run --target http://127.0.0.1:1",
        "it carries rr, web, trade, orders: add --workload rr, web, trade or orders",
    ),
    ("run --target 127.0.0.1:6667", "did you mean irc://127.0.0.1:6667?"),
    ("run --target irc://127.0.0.1", "irc://127.0.0.1 has no port, as in irc://127.0.0.1:6667"),
    ("run --target irc://127.0.0.1:99999", "a port is 1 to 65,535, got 99999"),
    (
        "run web --target http://127.0.0.1:1",
        "no server at 127.0.0.1:1: cannot connect: Connection refused (os error 111): start it",
    ),
    ("run web --target https://127.0.0.1:1", "no server at 127.0.0.1:1: cannot connect"),
    (
        "run rr --target http://127.0.0.1:1 --method PUT",
        "there is none: name a target with a path, as in --target http://127.0.0.1:8080/, or add --url",
    ),
    ("conformance localhost:6667", "no platform is named localhost:6667; did you mean irc://localhost:6667?"),
    ("duet localhost:6667 native-epoll", "did you mean irc://localhost:6667?"),
    ("run --target htp://127.0.0.1:80", "there is no protocol htp; did you mean http?"),
    ("crowd --port 1", "; klatch serve starts one"),
    // Words in the wrong place, and words that are missing.
    ("run native-epoll", "tip: a platform is named by --platform native-epoll"),
    ("threads-2000", "tip: klatch study threads-2000"),
    ("lab run", "tip: klatch lab exec run"),
    ("duet native-epoll", "tip: as in klatch duet native-epoll native-threads"),
    (
        "duet redis nats mosquitto",
        "tip: a duet has two sides; klatch run --platform redis,nats,mosquitto compares several",
    ),
    ("sched run goodness make -j4", "tip: klatch sched run goodness -- make -j4"),
    ("lab exec", "tip: as in klatch lab exec run"),
    ("compare", "tip: as in klatch compare "),
    // Files.
    ("report", "there is no results/latest here: name a folder, or make results with klatch run"),
    ("report empty", "empty holds no record; name a folder that `klatch run` or `klatch study` has left"),
    ("report unknown-key.toml", "unknown-key.toml is no result of Klatch: "),
    ("report nothing", "cannot read nothing: No such file or directory (os error 2): klatch browse lists"),
    ("study empty", "empty is no study, which is a file like mine.toml"),
    ("trace show unknown-key.toml", "this is no trace; klatch trace record makes one"),
    ("study unknown-key.toml", "unknown-key.toml:2:1: unknown field plattforms; did you mean platforms?"),
    ("study unknown-setting.toml", "unknown-setting.toml:4:8: no workload has roms; did you mean rooms?"),
    ("study unknown-instrument.toml", "unknown variant profil; did you mean profile?"),
    (
        "study top-level.toml",
        "top-level.toml:3:1: rooms is a setting of the workload: write it below [workload]",
    ),
    ("study two-kinds.toml", "two-kinds.toml:3:1: unknown field show; "),
    ("study kernal.toml", "kernal.toml:3:14: there is no scheduler kernal; did you mean kernel?"),
    (
        "report foreign.json",
        "foreign.json is no result of Klatch: it is neither a record nor the result of a study: name a folder",
    ),
    ("compare foreign.json empty", "foreign.json is no record: "),
    ("history empty", "klatch run and klatch duet leave them in results, or in their --out"),
    ("lab compare empty empty", "klatch lab exec --counters --out FOLDER -- COMMAND writes it"),
    (
        "run --platform catalog/mine.toml",
        "cannot start no-such-server: No such file or directory (os error 2): install it, or correct the first word",
    ),
    ("run --out /proc/results", "cannot write results to /proc/results: "),
];

/// What nobody should see who did not write it.
const INSIDE: [&str; 8] =
    ["panicked", "Error {", "..=", "invalid digit", "standard error: error", "docs/", "research/", ".md"];

fn write_files(folder: &Path) {
    std::fs::create_dir(folder.join("empty")).unwrap();
    std::fs::create_dir(folder.join("catalog")).unwrap();
    for (name, text) in [
        ("top-level.toml", "question = 'q'\nplatforms = ['native-epoll']\nrooms = [1, 2]\n"),
        ("two-kinds.toml", "question = 'q'\nplatforms = ['native-epoll']\nshow = ['/score']\n"),
        ("kernal.toml", "question = 'q'\nplatforms = ['native-epoll']\nschedulers = ['kernal']\n"),
        ("foreign.json", "{ \"a\": 1 }\n"),
        (
            "catalog/mine.toml",
            "name = 'mine'\nsummary = 'm'\nclass = 'open'\nprotocol = 'irc'\ncommand = ['no-such-server', '{port}']\nready = 'accepts'\n",
        ),
        ("unknown-key.toml", "question = 'q'\nplattforms = ['native-epoll']\n"),
        ("unknown-setting.toml", "question = 'q'\nplatforms = ['native-epoll']\n[workload]\nroms = 3\n"),
        (
            "unknown-instrument.toml",
            "question = 'q'\nplatforms = ['native-epoll']\ninstruments = ['profil']\n",
        ),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

fn check(folder: &Path, line: &str, answer: &str) -> Option<String> {
    let ended = Finished::run(klatch().args(line.split(' ')).current_dir(folder));
    let inside: Vec<&&str> = INSIDE.iter().filter(|word| ended.err.contains(**word)).collect();
    let is_right = ended.status == Some(2) && ended.out.is_empty() && ended.err.contains(answer);
    (!is_right || !inside.is_empty())
        .then(|| format!("klatch {line}: not {answer:?}, or {inside:?}: {ended:?}"))
}

#[test]
fn every_mistake_is_answered_with_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let wrong: Vec<String> =
        TABLE.iter().filter_map(|(line, answer)| check(folder.path(), line, answer)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_scheduler_that_this_kernel_cannot_load_is_answered_with_the_command_of_the_lab() {
    needs!(Need::NoSchedExt);
    let folder = tempfile::tempdir().unwrap();
    let line = "run --platform native-epoll --scheduler o1";
    assert_eq!(check(folder.path(), line, &format!("or run it in the lab: klatch lab exec {line}")), None);
}

#[test]
fn without_qemu_an_exact_count_is_refused_before_the_duet() {
    let folder = tempfile::tempdir().unwrap();
    let mut duet = klatch();
    duet.args(["duet", "native-epoll", "native-epoll:loops=2", "--exact"]).current_dir(folder.path());
    let ended = Finished::run(duet.env("PATH", folder.path()));
    assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.err.contains("apt-get install qemu-system-x86"), "{ended:?}");
    assert!(!folder.path().join("results").exists(), "something was measured");
}

#[test]
fn knobs_of_java_are_refused_before_its_machine_starts() {
    let folder = tempfile::tempdir().unwrap();
    for (line, answer) in [
        (
            "run --platform java-threads --knob heap=lots",
            "knob heap must be a size such as 64m or 1g, got lots",
        ),
        ("run --platform java-threads --knob heap", "got on, as a knob without a value is"),
        ("run --platform java-threads --knob heap=10", "knob heap must be a size such as 64m or 1g, got 10"),
        ("run --platform java-threads --knob gc=zcg", "knob gc must be one of g1, "),
        ("run --platform java-threads --knob gc=ZGC", "zgc, got ZGC; did you mean zgc?"),
        ("run --platform java-threads@99", "klatch help runtimes describes how to install several"),
    ] {
        assert_eq!(check(folder.path(), line, answer), None);
    }
}

#[test]
fn what_a_message_names_is_printed() {
    for topic in ["runtimes", "simulator", "glossary"] {
        let printed = Finished::run(klatch().args(["help", topic]));
        assert!(printed.status == Some(0) && printed.out.lines().count() > 10, "{printed:?}");
    }
}

/// The address of a server that says this to every client and hangs up, or never answers.
fn serve(answer: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for mut client in listener.incoming().flatten() {
            let Some(answer) = answer else {
                silent.push(client);
                continue;
            };
            let _ = client.write_all(answer.as_bytes());
            let _ = client.shutdown(Shutdown::Write);
            // Bytes that nobody has read would reset the connection, and lose the answer.
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    address
}

#[test]
fn a_target_of_another_protocol_is_named_with_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let run = |address: &str, options: &[&str]| {
        let url = format!("irc://{address}");
        let line = ["run", "--target", &url, "--rooms", "1", "--users", "2"];
        let ended = Finished::run(klatch().args(line).args(options).current_dir(folder.path()));
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.out.contains(&format!("next: klatch conformance {url}\n")), "{ended:?}");
        ended
    };
    for (answer, protocol) in [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "http"),
        ("-ERR unknown command\r\n", "redis"),
        ("-ERR 'Unknown Protocol Operation'\r\n", "nats"),
    ] {
        let address = serve(Some(answer));
        let ended = run(&address, &[]);
        let tip = format!(
            "tip: the server at {address} speaks {protocol}, not irc; use --target {protocol}://{address}"
        );
        assert!(ended.out.contains(&tip), "{ended:?}");
    }
    let address = serve(Some("SSH-2.0-x\r\n"));
    let ended = run(&address, &[]);
    assert!(ended.out.contains("speaks ssh, not irc; Klatch does not measure that"), "{ended:?}");
    let ended = run(&serve(None), &["--timeout", "3s"]);
    assert!(ended.err.contains("warm-up 1: joining: 0 of 2 users"), "{ended:?}");
    assert!(ended.out.contains("the server accepts and does not answer"), "{ended:?}");
}
