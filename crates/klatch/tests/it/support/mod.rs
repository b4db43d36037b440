//! Shared by the tests of the program: running it, and servers to run it against.

pub(crate) mod accounts;
pub(crate) mod hostile;
pub(crate) mod http2_server;
pub(crate) mod network;
pub(crate) mod planted;
pub(crate) mod proxy;
pub(crate) mod tls_front;
pub(crate) mod websocket_front;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use klatch_record::{DuetMetric, RatioEstimate, Record};

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program under test, with a state folder of its own.
pub(crate) fn klatch() -> Command {
    klatch_testing::let_interrupts_through();
    let mut command = Command::new(env!("CARGO_BIN_EXE_klatch"));
    // Leave the user's calibration alone.
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// `klatch run` with one trial and no warm-up, results in `out`, records as JSON.
pub(crate) fn run_once(out: &Path, arguments: &[&str]) -> Command {
    let mut command = klatch();
    command.args(["run", "--warmups", "0", "--trials", "1", "--json", "--out"]).arg(out).args(arguments);
    command
}

/// As [`run_once`], with JVMs that compile with C1 alone. A short run then takes less CPU time, and does the same.
pub(crate) fn run_of_many(out: &Path, arguments: &[&str]) -> Command {
    let mut command = run_once(out, arguments);
    command.env("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
    command
}

/// Exit status and output of a finished `klatch`.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Finished {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("klatch writes text");
        Finished { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Finished {
    pub(crate) fn run(command: &mut Command) -> Finished {
        command.output().expect("klatch can be started").into()
    }

    /// The only record that it printed.
    pub(crate) fn record(&self) -> Record {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no record ({error}): {self:?}"))
    }

    /// A wrong combination of options is refused with this answer, in few lines and without the secret `s3cret`.
    pub(crate) fn assert_refused(&self, options: &[&str], answer: &str) {
        let lines = self.err.lines().filter(|line| !line.starts_with("tip: ") && !line.is_empty());
        assert_eq!(self.status, Some(2), "{options:?}: {self:?}");
        assert!(self.err.contains(answer) && !self.err.contains("s3cret"), "{options:?}: {}", self.err);
        assert!(lines.count() <= 4, "{options:?}: {}", self.err);
    }
}

/// A platform of each language and of each kind of other servers. `make test` runs these, and `make test-all` all.
const REPRESENTATIVES: [&str; 13] = [
    "go-goroutines",
    "java-files",
    "java-selector",
    "java-threads",
    "jetty",
    "native-epoll",
    "native-pread",
    "native-threads",
    "native-tokio",
    "native-uring",
    "nginx",
    "node-events",
    "redis",
];

/// Whether the tests of all platforms include this one.
pub(crate) fn is_tested(platform: &str) -> bool {
    klatch_testing::tests_all() || REPRESENTATIVES.contains(&platform)
}

/// The variants of each platform that can run here. Without `KLATCH_TEST_ALL`, the newest variants of [`REPRESENTATIVES`]. With it, a
/// platform that CI does not require may have none, which is reported.
pub(crate) fn listed() -> Vec<(serde_json::Value, Vec<String>)> {
    listed_by(klatch())
}

/// The same, as this command lists them. Its environment decides which Javas it finds.
fn listed_by(mut klatch: Command) -> Vec<(serde_json::Value, Vec<String>)> {
    // Ergo is not in Debian 12, and its Java is too old for virtual threads. The packages of the last three start a service.
    const MAY_BE_ABSENT: [&str; 6] = ["ergo", "java-virtual", "helidon", "caddy", "h2o", "lighttpd"];
    let finished = Finished::run(klatch.args(["platforms", "--json"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let platforms = finished.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let name_of = |way: &serde_json::Value| way["name"].as_str().unwrap().to_owned();
    let tests_all = klatch_testing::tests_all();
    let is_tested = |platform: &serde_json::Value| platform["name"].as_str().is_some_and(is_tested);
    let with_ways = |platform: serde_json::Value| {
        let (name, why) = (platform["name"].as_str().unwrap(), &platform["not_here"]);
        let mut ways: Vec<String> = platform["here"].as_array().unwrap().iter().map(name_of).collect();
        if ways.is_empty() {
            assert!(
                !tests_all || MAY_BE_ABSENT.contains(&name),
                "{name} is not here: {why}; scripts/setup.sh test-all installs all"
            );
            klatch_testing::not_run(name, why.as_str().unwrap_or_default());
        }
        if !tests_all {
            ways = ways.split_off(ways.len().saturating_sub(1));
        }
        (platform, ways)
    };
    platforms.filter(is_tested).map(with_ways).collect()
}

/// The variants of the platforms that carry this workload in its usual form: that of `rr` has no URL.
pub(crate) fn carrying(workload: &str) -> Vec<Vec<String>> {
    carrying_by(klatch(), workload)
}

/// The same, as this command lists them.
pub(crate) fn carrying_by(klatch: Command, workload: &str) -> Vec<Vec<String>> {
    let carries = |platform: &serde_json::Value| {
        let has = platform["workloads"].as_array().is_some_and(|all| all.contains(&workload.into()));
        has && !(workload == "rr" && needs_url(platform))
    };
    listed_by(klatch).into_iter().filter(|(platform, _)| carries(platform)).map(|(_, ways)| ways).collect()
}

/// The databases under the servers of `trade` and `orders`. `make test` needs no PostgreSQL.
pub(crate) fn databases() -> &'static [&'static str] {
    if klatch_testing::tests_all() { &["h2", "postgresql"] } else { &["h2"] }
}

/// Whether a listed platform carries workload `rr` for URLs alone.
pub(crate) fn needs_url(platform: &serde_json::Value) -> bool {
    platform["needs_url"].as_bool().unwrap()
}

/// The least number of platforms that a test must reach: of all, or of the representatives.
pub(crate) fn least(all: usize, representatives: usize) -> usize {
    if klatch_testing::tests_all() { all } else { representatives }
}

/// Of a table whose rows are much alike, every `one_in`-th row, and all of them under `make test-all`.
pub(crate) fn sample<T>(rows: impl IntoIterator<Item = T>, one_in: usize) -> Vec<T> {
    rows.into_iter().step_by(if klatch_testing::tests_all() { 1 } else { one_in }).collect()
}

/// Calls `check` for each item, for two at a time: a run waits for most of its time.
pub(crate) fn two_at_a_time<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(item);
                }
            });
        }
    });
}

/// A native server on a free port, killed when dropped.
pub(crate) struct NativeServer {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl NativeServer {
    pub(crate) fn start() -> NativeServer {
        NativeServer::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> NativeServer {
        let mut command = klatch();
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).args(options).stdout(Stdio::piped());
        let mut child = command.spawn().expect("klatch can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).expect("a ready line");
        let port = ready["port"].as_u64().unwrap() as u16;
        NativeServer { child, address: ([127, 0, 0, 1], port).into() }
    }
}

impl Drop for NativeServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the crowd reports that all users have joined.
pub(crate) fn until_joined(run: &mut Child) {
    until_line(run, "all joined");
}

/// Waits for a line with these words on standard error.
pub(crate) fn until_line(child: &mut Child, words: &str) {
    let mut before = Vec::new();
    for line in BufReader::new(child.stderr.as_mut().unwrap()).lines().map_while(Result::ok) {
        if line.contains(words) {
            return;
        }
        before.push(line);
    }
    panic!("it ended before {words:?}: {}", before.join("\n"));
}

/// Child processes of `pid`, with their command lines.
pub(crate) fn children_of(pid: u32) -> Vec<(u32, String)> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let child = |child: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        let parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{child}/cmdline")).ok()?;
        (parent == pid).then(|| (child, String::from_utf8_lossy(&line).replace('\0', " ")))
    };
    pids.filter_map(child).collect()
}

/// Waits until a process that is not a child of the test has ended; `None` after ten seconds.
pub(crate) fn gone(pid: u32) -> Option<()> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let Ok(handle) = pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()) else { return Some(()) };
    let mut waiting = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec { tv_sec: 10, tv_nsec: 0 };
    rustix::event::poll(&mut waiting, Some(&patience)).ok().filter(|&ready| ready > 0).map(|_| ())
}

/// The same command below `unshare` with these options, after a script that may change what it sees.
pub(crate) fn unshared(options: &[&str], script: &str, command: &Command) -> Command {
    let mut unshared = Command::new("unshare");
    unshared.args(options).args(["sh", "-c", &format!("set -e; {script}\nexec \"$@\""), "sh"]);
    unshared.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unshared.env(name, value),
            None => unshared.env_remove(name),
        };
    }
    unshared
}

/// The ratio of a metric of a duet. Other programs disturb pairs of slices, and too few can be left for an interval: then it is reported
/// as not run for `part`, and `None`.
pub(crate) fn decided(part: &str, metric: &DuetMetric) -> Option<RatioEstimate> {
    if let Some(why) = &metric.absent {
        let is_disturbed = why.contains("values are needed") || why.contains("no pair of slices counts");
        assert!(is_disturbed, "{metric:?}");
        klatch_testing::not_run(part, &format!("undecided on this busy machine: {why}"));
    }
    metric.ratio
}
