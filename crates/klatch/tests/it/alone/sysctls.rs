//! Settings of the machine are restored however the run ends. Each test has a network namespace of its own and changes only
//! settings of that namespace.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::Finished;
use klatch_record::Record;
use klatch_testing::{Need, needs};
use rustix::process::{Pid, Signal, kill_process};

const NAME: &str = "net.ipv4.ip_local_port_range";
const FILE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const BEFORE: &str = "40000 41000";
const RUN: &str =
    "run --platform native-epoll --rooms 1 --users 3 --trials 1 --warmups 0 --json --allow-sysctl";

/// A shell in a network namespace with loopback. It has the variables `$KLATCH` and `$OUT`.
struct Namespace {
    shell: Child,
    lines: BufReader<std::process::ChildStdout>,
    _out: tempfile::TempDir,
}

impl Namespace {
    fn new() -> Namespace {
        let out = tempfile::tempdir().unwrap();
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "--net", "--mount", "bash"])
            .env("KLATCH", env!("CARGO_BIN_EXE_klatch"))
            .env("RUN", RUN);
        command.env("OUT", out.path());
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap());
        let mut namespace = Namespace { shell, lines, _out: out };
        // Klatch saves earlier values in /run, which belongs to the root of this namespace.
        namespace.does(&format!(
            "mount -t tmpfs -o mode=755 none /run; ip link set lo up; echo {BEFORE} > {FILE}"
        ));
        namespace
    }

    /// Standard output of a script.
    fn does(&mut self, script: &str) -> String {
        use std::io::Write;
        let input = self.shell.stdin.as_mut().unwrap();
        writeln!(input, "{script}\necho; echo done-with-it").unwrap();
        let mut text = String::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the shell has ended: {text}");
            if line == "done-with-it\n" {
                return text.trim().to_owned();
            }
            text.push_str(&line);
        }
    }

    fn value(&mut self) -> String {
        self.does(&format!("cat {FILE}")).replace('\t', " ")
    }

    /// Starts a long run and returns the process of its klatch once the value is set.
    fn long_run(&mut self) -> Pid {
        let set = format!("--sysctl '{NAME}=50000 50999'");
        // Wait for the value itself, not for the crowd's progress. A shell ignores SIGINT in background jobs, and so would klatch.
        let pid = self.does(&format!(
            "env --default-signal=INT $KLATCH {RUN} --out $OUT --count 1000 --pause 1 {set} > $OUT/finished 2>&1 & echo $!\n\
             until grep -q '^50000.50999$' {FILE}; do kill -0 $! || {{ cat $OUT/finished; break; }}; done"
        ));
        let pid = pid.parse().unwrap_or_else(|_| panic!("klatch has ended without setting the value: {pid}"));
        Pid::from_raw(pid).unwrap()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn a_sysctl_is_set_for_the_run_and_restored() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let mut namespace = Namespace::new();
    let set = format!("--sysctl '{NAME}=50000 50009'");
    let text = namespace.does(&format!("$KLATCH {RUN} --out $OUT --count 5 {set}"));
    let record: Record = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(record.environment.sysctls[NAME], "50000 50009");
    assert_eq!(namespace.value(), BEFORE);
    let shown = namespace.does(&format!("$KLATCH ${{RUN/--json/}} --out $OUT --count 5 {set} | sed -n 1p"));
    assert_eq!(shown, format!("machine   {NAME}=50000 50009; restored afterwards"));
    // Proof that the value applied: these ports cannot carry eleven connections.
    let text = namespace.does(&format!("$KLATCH {RUN} --out $OUT --users 11 {set} 2>&1"));
    assert!(text.contains("the crowd needs 11 local ports, and the number of ports"), "{text}");
    assert_eq!(namespace.value(), BEFORE);
}

#[test]
fn a_sysctl_is_restored_after_ctrl_c() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let mut namespace = Namespace::new();
    let pid = namespace.long_run();
    kill_process(pid, Signal::INT).unwrap();
    let finished = namespace.does("wait; cat $OUT/finished");
    assert!(finished.contains("klatch: interrupted before a run was finished; "), "{finished}");
    assert_eq!(namespace.value(), BEFORE);
    assert_eq!(namespace.does("$KLATCH schema 2>&1 > $OUT/schema"), "", "nothing is left over");
}

#[test]
fn the_next_klatch_restores_a_sysctl_after_a_kill() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let mut namespace = Namespace::new();
    let pid = namespace.long_run();
    let other = namespace.does(&format!("$KLATCH {RUN} --out $OUT --sysctl '{NAME}=51000 51999' 2>&1"));
    let taken = format!("klatch: another klatch (process {}) has set {NAME}; ", pid.as_raw_nonzero());
    assert!(other.starts_with(&taken), "{other}");
    kill_process(pid, Signal::KILL).unwrap();
    namespace.does("wait");
    assert_eq!(namespace.value(), "50000 50999", "nobody could put it back");
    let finished = namespace.does("$KLATCH schema 2>&1 > $OUT/schema");
    let expected = format!("klatch: a killed klatch left {NAME}=50000 50999; it is restored to {BEFORE}");
    assert_eq!(finished.replace('\t', " "), expected);
    assert_eq!(namespace.value(), BEFORE);
    assert_eq!(namespace.does("$KLATCH schema 2>&1 > $OUT/schema"), "", "it is reported once");
}

#[test]
fn a_value_changed_by_someone_else_is_not_restored() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let mut namespace = Namespace::new();
    let pid = namespace.long_run();
    kill_process(pid, Signal::KILL).unwrap();
    namespace.does(&format!("wait; echo 42000 43000 > {FILE}"));
    let finished = namespace.does("$KLATCH schema 2>&1 > $OUT/schema").replace('\t', " ");
    assert!(
        finished.ends_with("it is 42000 43000 now and is not changed (it was 40000 41000)"),
        "{finished}"
    );
    assert_eq!(namespace.value(), "42000 43000");
}

#[test]
fn a_refused_value_leaves_all_settings_unchanged() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let mut namespace = Namespace::new();
    let set = format!("--sysctl net.ipv4.ip_default_ttl=77 --sysctl '{NAME}=50999 50000'");
    let text = namespace.does(&format!("$KLATCH {RUN} --out $OUT {set} 2>&1"));
    assert!(text.contains(&format!("klatch: {NAME}: cannot write such a value to ")), "{text}");
    assert_eq!(namespace.does("cat /proc/sys/net/ipv4/ip_default_ttl"), "64");
    assert_eq!(namespace.value(), BEFORE);
}

#[test]
fn no_sysctl_is_set_without_permission() {
    let finished =
        Finished::run(crate::support::klatch().args(["run", "--sysctl", "vm.overcommit_ratio=50"]));
    assert_eq!(finished.status, Some(2));
    assert!(finished.err.contains("--allow-sysctl"), "{finished:?}");
}
