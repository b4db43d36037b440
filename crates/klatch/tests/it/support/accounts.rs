//! Runs of the workloads that keep accounts in a database: `trade` and `orders`.

use std::path::Path;
use std::process::{Child, Stdio};

use klatch_record::{Record, Status};
use rustix::process::{Pid, Signal, kill_process};

use super::{Finished, children_of, klatch, run_of_many, run_once, until_joined, until_line};

/// A workload in so small a size that a run takes seconds.
pub(crate) struct Accounts {
    /// Its options.
    pub(crate) small: &'static [&'static str],
    /// Duration of a run, s.
    pub(crate) duration: &'static str,
}

impl Accounts {
    /// Runs it for a moment and returns exit status and record.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, Record) {
        let out = tempfile::tempdir().unwrap();
        let mut command = run_of_many(out.path(), self.small);
        let finished = Finished::run(command.args(["--duration", self.duration]).args(arguments));
        (finished.status, finished.record())
    }

    /// The records of two valid runs of one start of the server, of this duration.
    pub(crate) fn two_of_one_start(&self, duration: &str) -> [Record; 2] {
        let out = tempfile::tempdir().unwrap();
        let mut command = klatch();
        command.args(["run", "--json", "--warmups", "1", "--trials", "1", "--out"]).arg(out.path());
        let finished = Finished::run(command.args(self.small).args(["--duration", duration]));
        assert_eq!(finished.status, Some(0), "{finished:?}");
        let records: Vec<Record> =
            finished.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(records.iter().all(|record| record.verdict.status == Status::Valid), "{records:?}");
        records.try_into().unwrap_or_else(|_| panic!("{}", finished.out))
    }

    /// Starts a run that takes longer than the test, with temporary files in `temporary`, and returns it with the process of its server.
    pub(crate) fn start(&self, out: &Path, temporary: &Path, arguments: &[&str]) -> (Child, u32) {
        let mut command = run_once(out, self.small);
        command.env("TMPDIR", temporary);
        command.args(["--duration", "60"]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().unwrap();
        until_joined(&mut run);
        let children = children_of(run.id());
        let (server, _) = children.iter().find(|(_, line)| line.contains(" serve ")).unwrap();
        (run, *server)
    }

    /// The record of a run with durable commits whose server is killed. It is invalid, and the audit has found all that was confirmed.
    pub(crate) fn killed(&self, database: &str, temporary: &Path, arguments: &[&str]) -> Record {
        let out = tempfile::tempdir().unwrap();
        let arguments = [&["--database", database, "--durable"], arguments].concat();
        let (mut run, server) = self.start(out.path(), temporary, &arguments);
        // Some orders are made before the server dies: a line of progress reports them.
        until_line(&mut run, " operations");
        kill_process(Pid::from_raw(server as i32).unwrap(), Signal::KILL).unwrap();
        let finished = Finished::from(run.wait_with_output().unwrap());
        let record = finished.record();
        assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{database}");
        let audit = record.audit.as_ref().unwrap_or_else(|| panic!("{database}: {:?}", record.verdict));
        assert!(audit.broken.is_empty(), "{database}: {audit:?}");
        record
    }

    /// Checks that `klatch run` refuses these options for this reason.
    pub(crate) fn refuses(&self, arguments: &[&str], reason: &str) {
        let out = tempfile::tempdir().unwrap();
        let mut command = klatch();
        // The name of the workload.
        command.arg("run").args(&self.small[..2]).arg("--out").arg(out.path());
        let finished = Finished::run(command.args(arguments));
        assert_eq!(finished.status, Some(2), "{arguments:?}: {finished:?}");
        assert!(finished.err.contains(reason), "{arguments:?}: {}", finished.err);
    }
}
