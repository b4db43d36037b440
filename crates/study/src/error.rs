//! What can keep a plan from being carried out.

use std::path::PathBuf;

use klatch_platforms::{JavaError, NeedError, PlatformError, ProcessError, ServerError, SysctlError};
use klatch_record::{LatencyError, MergeError, SaveError, WorkloadError};
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
    #[error("the crowd said nothing for {silent_s} s and was stopped")]
    CrowdSilent {
        /// For so long.
        silent_s: u64,
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
    /// The folder of a study.
    #[error(transparent)]
    Store(#[from] StoreError),
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
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// A study's folder that cannot be gone on with.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Something in it cannot be read.
    #[error("cannot read {path}: {cause}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// It was begun with another file.
    #[error("{path} is not what the study says now; resume it with that file, or begin anew", path = path.display())]
    Changed {
        /// The study as it was begun.
        path: PathBuf,
    },
    /// Somebody else is at it.
    #[error("another klatch is carrying out the study in {folder}", folder = folder.display())]
    Busy {
        /// Where.
        folder: PathBuf,
    },
}

impl RunError {
    /// Whether a study cannot go on after this, as it would with another cell.
    pub(crate) fn ends_a_study(&self) -> bool {
        use ProcessError::Interrupted as Stopped;
        matches!(
            self,
            RunError::Save(_)
                | RunError::Store(_)
                | RunError::Folder { .. }
                | RunError::Interrupted
                | RunError::Crowd(Stopped)
                | RunError::Server(ServerError::Process { source: Stopped, .. })
        )
    }
}
