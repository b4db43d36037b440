//! What can keep a plan from being carried out.

use std::path::PathBuf;

use klatch_platforms::{JavaError, NeedError, PlatformError, ProcessError, ServerError, SysctlError};
use klatch_record::{LatencyError, MergeError, SaveError, WorkloadError, error_chain};
use klatch_schedulers::SchedulerError;
use thiserror::Error;

/// Why a plan could not be carried out to its end. Records of finished runs stay.
#[derive(Debug, Error)]
pub enum RunError {
    /// A number is out of range.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The scheduler cannot be loaded.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// The machine cannot be set so.
    #[error(transparent)]
    Sysctl(#[from] SysctlError),
    /// The run failed, and so did restoring the machine's settings after it.
    #[error(
        "{}; then the settings of the machine could not be restored: {}",
        error_chain(run),
        error_chain(restore)
    )]
    RunAndRestore {
        /// Why the run failed; [`RunError::ends_a_study`] follows it.
        run: Box<RunError>,
        /// Why the settings could not be restored; the next Klatch tries again.
        restore: SysctlError,
    },
    /// The machine cannot carry it.
    #[error(transparent)]
    Needs(#[from] NeedError),
    /// The platform cannot run here.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The Java crowd has no Java.
    #[error("the Java crowd {0}")]
    CrowdJava(JavaError),
    /// The Java crowd speaks IRC only.
    #[error("the Java crowd speaks IRC, and this server speaks {wire}; use --crowd native")]
    CrowdWire {
        /// What the server speaks.
        wire: &'static str,
    },
    /// The server cannot be had.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The crowd cannot be started.
    #[error("the crowd: {0}")]
    Crowd(#[from] ProcessError),
    /// A crowd ended before the gate was open.
    #[error("the crowd ({name}) ended without a result; it said: {words}")]
    CrowdDied {
        /// Which.
        name: String,
        /// Its standard error.
        words: String,
    },
    /// The crowd hangs.
    #[error("the crowd reported nothing for {silent_s} s and was stopped")]
    CrowdSilent {
        /// For so long, seconds.
        silent_s: f64,
    },
    /// Nobody answers at the address.
    #[error("no server at {address}: {detail}")]
    NoServer {
        /// Where.
        address: String,
        /// What happened.
        detail: String,
    },
    /// Results cannot be kept.
    #[error("cannot keep results in {out}: {source}; name another folder with --out", out = out.display())]
    Folder {
        /// The folder.
        out: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A record cannot be written.
    #[error("{0}")]
    Save(#[from] SaveError),
    /// Latencies that no histogram holds.
    #[error("the crowd's result is odd: {0}")]
    Latency(#[from] LatencyError),
    /// There is a shard without a room.
    #[error(
        "room count must be {shards} or more, as there are {shards} shards (one a server and one a host at least), got {rooms}"
    )]
    TooFewRooms {
        /// Shards.
        shards: u32,
        /// Rooms.
        rooms: u32,
    },
    /// What the plan wants does not go together.
    #[error("{0}")]
    Together(&'static str),
    /// Records of shards do not fit together.
    #[error("cannot merge the records of the shards: {0}")]
    Merge(#[from] MergeError),
    /// The loopback could not be probed before the start of a server.
    #[error("cannot measure the cost of the loopback: {0}")]
    LoopbackProbe(std::io::Error),
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// What a run gave, once the settings of the machine were restored. Neither failure hides the other.
pub(crate) fn after_restore<T>(
    run: Result<T, RunError>,
    restored: Result<(), SysctlError>,
) -> Result<T, RunError> {
    match (run, restored) {
        (run, Ok(())) => run,
        (Ok(_), Err(restore)) => Err(restore.into()),
        (Err(run), Err(restore)) => Err(RunError::RunAndRestore { run: run.into(), restore }),
    }
}

impl RunError {
    /// Whether a study cannot go on after this, as it would with another cell.
    pub fn ends_a_study(&self) -> bool {
        use ProcessError::Interrupted as Stopped;
        if let RunError::RunAndRestore { run, .. } = self {
            return run.ends_a_study();
        }
        matches!(
            self,
            RunError::Save(_)
                | RunError::Folder { .. }
                | RunError::LoopbackProbe(_)
                | RunError::Interrupted
                | RunError::Crowd(Stopped)
                | RunError::Server(ServerError::Process { source: Stopped, .. })
        )
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
        let died = RunError::CrowdDied { name: "room 1".into(), words: "no memory".into() };
        let error = after_restore::<()>(Err(died), not_restored()).unwrap_err();
        assert_eq!(
            error_chain(&error),
            "the crowd (room 1) ended without a result; it said: no memory; then the settings of the machine \
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
