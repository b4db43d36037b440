//! Errors of a plan.

use std::path::PathBuf;

use klatch_host::privileges::FolderError;
use klatch_instruments::InstrumentError;
use klatch_platforms::{
    CapacityError, DatabaseError, JavaError, PlatformError, ProcessError, ServerError, SysctlError,
};
use klatch_record::{
    LatencyError, MergeError, ProtocolName, RequestError, SaveError, Transport, WorkloadError, WorkloadKind,
    error_chain,
};
use klatch_schedulers::SchedulerError;
use thiserror::Error;

use crate::conflict::Conflict;

/// Why a plan ended early. The records of finished runs stay on disk.
#[derive(Debug, Error)]
pub enum RunError {
    /// A number of the workload is out of range.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A part of the requests cannot be used.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The counters of the lab failed.
    #[error("cannot count the operations of the run: {0}")]
    Counts(#[from] InstrumentError),
    /// The scheduler of the plan cannot be loaded.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// The program that loads the scheduler cannot be read.
    #[error("cannot read the program of the scheduler, {path}", path = path.display())]
    SchedulerFile {
        /// The program.
        path: PathBuf,
        /// The error of the system call.
        source: std::io::Error,
    },
    /// Another user could replace the program that loads the scheduler.
    #[error("the program of the scheduler cannot be used")]
    SchedulerPlace(#[from] FolderError),
    /// A sysctl of the plan cannot be set.
    #[error(transparent)]
    Sysctl(#[from] SysctlError),
    /// The run failed, and so did restoring the machine's settings after it.
    #[error(
        "{}; then the settings of the machine could not be restored: {}",
        error_chain(run),
        error_chain(restore)
    )]
    RunAndRestore {
        /// Why the run failed; it decides [`RunError::ends_a_study`].
        run: Box<RunError>,
        /// Why the settings could not be restored. The next start of Klatch tries again.
        restore: SysctlError,
    },
    /// The plan needs more than a limit of this machine allows.
    #[error(transparent)]
    Needs(#[from] CapacityError),
    /// The database of the workload cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No temporary folder is available.
    #[error("cannot make a folder for the ledgers: {0}")]
    Ledgers(std::io::Error),
    /// The platform is unknown, not installed or misconfigured.
    #[error(transparent)]
    Platform(Box<PlatformError>),
    /// No Java was detected that can run the Java crowd.
    #[error("the Java crowd {0}")]
    CrowdJava(JavaError),
    /// The Java crowd is a chat crowd.
    #[error("the Java crowd carries the workload chat, not {workload}")]
    CrowdWorkload {
        /// The workload of the request.
        workload: WorkloadKind,
    },
    /// A protocol cannot carry the workload.
    #[error("the protocol {protocol} does not carry the workload {workload}; it carries {carried}", carried = protocol.workloads().join(", "))]
    Protocol {
        /// Protocol of the server.
        protocol: ProtocolName,
        /// The workload of the request.
        workload: WorkloadKind,
    },
    /// A transport cannot carry the workload.
    #[error("the transport {transport} does not carry the workload {workload} with the protocol {protocol}")]
    Transport {
        /// Transport of the server.
        transport: Transport,
        /// Protocol of the server.
        protocol: ProtocolName,
        /// The workload of the request.
        workload: WorkloadKind,
    },
    /// The Java crowd speaks IRC only.
    #[error("the Java crowd speaks IRC, and this server speaks {protocol}")]
    CrowdProtocol {
        /// Protocol of the server.
        protocol: ProtocolName,
    },
    /// A server could not be started.
    #[error(transparent)]
    Server(Box<ServerError>),
    /// The training run of a platform failed.
    #[error("the training run of {name} for {setting}: {reason}")]
    Training {
        /// Name of the platform.
        name: String,
        /// The setting that needs it, as `name=value`.
        setting: String,
        /// Why the run failed, or its archive is missing.
        reason: String,
    },
    /// A crowd process could not be started.
    #[error("the crowd: {0}")]
    Crowd(#[from] ProcessError),
    /// A path of the job of a crowd is not in UTF-8.
    #[error("cannot write the job of the crowd: {0}")]
    Job(serde_json::Error),
    /// A crowd ended before the gate opened.
    #[error("the crowd ({name}) ended without a result; on standard error: {stderr}")]
    CrowdDied {
        /// The rooms and host of the crowd.
        name: String,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// A crowd did not obey `pause`.
    #[error(
        "the crowd did not pause within {limit_s} s: its program may be older than this klatch; build both again"
    )]
    NoPause {
        /// Longest time for a pause, s.
        limit_s: f64,
    },
    /// No crowd printed a line for too long.
    #[error("the crowd reported nothing for {silent_s} s and was stopped")]
    CrowdSilent {
        /// How long it printed nothing.
        silent_s: f64,
    },
    /// The name of a target's host cannot be resolved.
    #[error("cannot find host {host}: {source}")]
    UnknownHost {
        /// The host of the target.
        host: String,
        /// The error that the resolver returned.
        source: std::io::Error,
    },
    /// The crowd could not connect to the server.
    #[error("no server at {address}: {detail}")]
    NoServer {
        /// Host and port of the server.
        address: String,
        /// Why the connection failed.
        detail: String,
    },
    /// The folder for results cannot be created or written.
    #[error("cannot write results to {out}: {source}", out = out.display())]
    Folder {
        /// The folder of the plan.
        out: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// A record could not be written.
    #[error("{0}")]
    Save(#[from] SaveError),
    /// The latencies in a crowd's result fit no histogram.
    #[error("the crowd's result has invalid latencies: {0}")]
    Latency(#[from] LatencyError),
    /// There are more shards than parties.
    #[error(
        "{party} count must be {shards} or more, as there are {shards} shards (one a server and one a host at least), got {parties}"
    )]
    TooFewParties {
        /// Crowd processes, as required by shards, servers and hosts.
        shards: u32,
        /// Rooms or other parties of the workload.
        parties: u32,
        /// Name of one party.
        party: &'static str,
    },
    /// Two parts of the plan exclude each other.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The results of the shards are not of one run.
    #[error("cannot merge the records of the shards: {0}")]
    Merge(#[from] MergeError),
    /// The loopback could not be probed before the start of a server.
    #[error("cannot measure the cost of the loopback: {0}")]
    LoopbackProbe(std::io::Error),
    /// Klatch was interrupted by a signal.
    #[error("interrupted")]
    Interrupted,
}

/// The result of a run after the settings of the machine were restored. If both failed, the error holds both.
///
/// # Errors
/// The error of the run, or that of restoring the settings.
pub fn after_restore<T>(run: Result<T, RunError>, restored: Result<(), SysctlError>) -> Result<T, RunError> {
    match (run, restored) {
        (run, Ok(())) => run,
        (Ok(_), Err(restore)) => Err(restore.into()),
        (Err(run), Err(restore)) => Err(RunError::RunAndRestore { run: run.into(), restore }),
    }
}

impl From<PlatformError> for RunError {
    fn from(error: PlatformError) -> RunError {
        RunError::Platform(error.into())
    }
}

impl From<ServerError> for RunError {
    fn from(error: ServerError) -> RunError {
        RunError::Server(error.into())
    }
}

impl RunError {
    /// Whether this error would also fail the next cell of a study, so that the study ends.
    pub fn ends_a_study(&self) -> bool {
        use ProcessError::Interrupted;
        match self {
            RunError::RunAndRestore { run, .. } => run.ends_a_study(),
            RunError::Server(error) => {
                matches!(**error, ServerError::Process { source: Interrupted, .. })
            }
            RunError::Save(_)
            | RunError::Folder { .. }
            | RunError::LoopbackProbe(_)
            | RunError::Interrupted
            | RunError::Crowd(Interrupted) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_restored() -> Result<(), SysctlError> {
        let source = std::io::Error::from_raw_os_error(1);
        let (name, file) = ("thp".to_owned(), "/sys/thp".to_owned());
        Err(SysctlError::File { name, what: "write", file, source, hint: "" })
    }

    #[test]
    fn a_failed_restore_does_not_replace_the_error_of_the_run() {
        let died = RunError::CrowdDied { name: "room 1".into(), stderr: "no memory".into() };
        let error = after_restore::<()>(Err(died), not_restored()).unwrap_err();
        assert_eq!(
            error_chain(&error),
            "the crowd (room 1) ended without a result; on standard error: no memory; then the settings of the machine \
             could not be restored: thp: cannot write /sys/thp: Operation not permitted (os error 1)"
        );
        assert!(!error.ends_a_study());
        assert!(after_restore::<()>(Err(RunError::Interrupted), not_restored()).unwrap_err().ends_a_study());
    }

    #[test]
    fn a_failed_restore_alone_is_an_error() {
        let error = after_restore(Ok(()), not_restored()).unwrap_err();
        assert!(error_chain(&error).starts_with("thp: cannot write /sys/thp: "), "{error}");
        assert!(after_restore(Ok(()), Ok(())).is_ok());
    }
}
