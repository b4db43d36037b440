//! Plans: what to measure, and how.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_platforms::{
    PlatformError, PlatformRequest, Setting, VolanoMarkCrowd, add_volanomark_yield, volanomark_test,
};
use klatch_record::{
    Build, Connecting, CrowdProgram, Endpoint, HeaderValues, InstrumentName, Login, Requirement, RunOptions,
    Subprotocol, Workload,
};
use klatch_schedulers::SchedulerSpec;

use crate::remote::Remote;
use crate::target::Target;

/// What is measured, a crowd, a workload and the number of runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is measured.
    pub subject: Subject,
    /// Name of the build that is measured, for its records; `None` if it has none.
    pub label: Option<String>,
    /// Load generator to use.
    pub crowd: CrowdKind,
    /// Knobs of the crowd.
    pub crowd_settings: Vec<Setting>,
    /// Settings of the whole machine, restored after the visit.
    pub sysctls: Vec<Setting>,
    /// Scheduler to load during a visit; `None` for the kernel's own.
    pub scheduler: Option<SchedulerSpec>,
    /// Rooms, users, messages and pacing.
    pub workload: Workload,
    /// Values of header fields of its requests that the workload does not have.
    pub header_values: HeaderValues,
    /// Crowd processes among which the rooms are split; at least one for each server and host.
    pub shards: u32,
    /// Machines that run the crowd, if not this one.
    pub remote: Remote,
    /// Instruments of every run.
    pub instruments: Vec<InstrumentName>,
    /// Runs before the trials that do not count.
    pub warmups: u32,
    /// Length of these runs; `None` for that of the trials.
    pub warmup: Option<Duration>,
    /// Number of runs that count.
    pub trials: u32,
    /// Requirements by which the trials are judged; the records hold them.
    pub require: Vec<Requirement>,
    /// Folder that results are written below.
    pub out: PathBuf,
    /// Longest time without a delivery.
    pub timeout: Duration,
    /// Longest time to establish one connection.
    pub connect_timeout: Duration,
    /// Event loops of each native crowd process.
    pub crowd_loops: usize,
    /// Seed of the schedule under pacing `rate`.
    pub seed: u64,
    /// Version and commit of this Klatch.
    pub build: Build,
}

/// The server of a plan, or the readers in its place.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A platform that Klatch starts.
    Platform(PlatformPlan),
    /// An external server, which runs already.
    Target(TargetPlan),
}

/// A platform to start.
#[derive(Clone, Debug)]
pub struct PlatformPlan {
    /// The platform with its knobs. A Java crowd runs on its Java.
    pub request: PlatformRequest,
    /// Server processes among which the rooms are split.
    pub servers: u32,
    /// The address on which servers listen.
    pub listen: IpAddr,
    /// Longest time until a server is ready.
    pub ready_timeout: Duration,
    /// Subprotocol to ask for at a WebSocket; `Usual` for that of the platform.
    pub subprotocol: Subprotocol,
    /// How the crowd connects.
    pub connecting: Connecting,
}

/// An external server.
#[derive(Clone, Debug)]
pub struct TargetPlan {
    /// Its address, and how its clients reach it.
    pub target: Target,
    /// The Java of a Java crowd, if the user named one.
    pub java: Option<PathBuf>,
}

impl Plan {
    /// One trial of the default workload with the native crowd; limits and counts are the defaults of [`RunOptions`].
    pub fn new(subject: Subject, out: PathBuf, build: Build) -> Plan {
        let defaults = RunOptions::default();
        Plan {
            subject,
            label: None,
            crowd: CrowdKind::Native,
            crowd_settings: Vec::new(),
            sysctls: Vec::new(),
            scheduler: None,
            workload: Workload::default(),
            header_values: HeaderValues::default(),
            shards: defaults.shards,
            remote: Remote::default(),
            instruments: Vec::new(),
            warmups: 0,
            warmup: None,
            trials: 1,
            require: Vec::new(),
            out,
            timeout: Duration::from_secs_f64(defaults.timeout_s),
            connect_timeout: Duration::from_secs_f64(defaults.connect_timeout_s),
            crowd_loops: defaults.crowd_loops as usize,
            seed: defaults.seed,
            build,
        }
    }

    /// What its users say of themselves to the server.
    pub fn login(&self) -> Option<&Login> {
        match &self.subject {
            Subject::Platform(_) => None,
            Subject::Target(target) => target.target.login.as_ref(),
        }
    }

    /// Number of crowd processes: at least one for each server and each host.
    pub(crate) fn crowd_processes(&self) -> u32 {
        self.shards.max(self.subject.servers()).max(self.remote.hosts.len() as u32)
    }
}

impl Subject {
    /// How the crowd connects.
    pub(crate) fn connecting(&self) -> &Connecting {
        match self {
            Subject::Platform(platform) => &platform.connecting,
            Subject::Target(target) => &target.target.endpoint.connecting,
        }
    }

    /// The platform to start; `None` for an external server.
    pub fn platform(&self) -> Option<&PlatformPlan> {
        match self {
            Subject::Platform(platform) => Some(platform),
            Subject::Target(_) => None,
        }
    }

    /// The Java that the user named.
    pub(crate) fn java(&self) -> Option<&Path> {
        match self {
            Subject::Platform(platform) => platform.request.java.as_deref(),
            Subject::Target(target) => target.java.as_deref(),
        }
    }

    /// Number of server processes.
    pub(crate) fn servers(&self) -> u32 {
        self.platform().map_or(1, |platform| platform.servers)
    }
}

impl PlatformPlan {
    /// One server on loopback; the limit of its start is the default of [`RunOptions`].
    pub fn new(request: PlatformRequest) -> PlatformPlan {
        let defaults = RunOptions::default();
        PlatformPlan {
            request,
            servers: defaults.servers,
            listen: Ipv4Addr::LOCALHOST.into(),
            ready_timeout: Duration::from_secs_f64(defaults.ready_timeout_s),
            subprotocol: Subprotocol::Usual,
            connecting: Connecting::default(),
        }
    }

    /// The endpoint of a server, with the settings of the plan: how the crowd connects, and the subprotocol if it is not the usual one.
    pub(crate) fn endpoint(&self, server: &Endpoint) -> Endpoint {
        let mut endpoint = Endpoint { connecting: self.connecting.clone(), ..server.clone() };
        if let Some(websocket) = &mut endpoint.websocket
            && self.subprotocol != Subprotocol::Usual
        {
            websocket.subprotocol.clone_from(&self.subprotocol);
        }
        endpoint
    }
}

/// Makes a platform and the knobs of its crowd those of the VolanoMark test: names the default platform if none is named, and sets
/// the yields at both ends where the settings do not mention them. Returns the crowd of the test.
///
/// # Errors
/// The platform does not exist, or is none of the VolanoMark test.
pub fn make_volanomark(
    platform: &mut PlatformRequest,
    crowd_settings: &mut Vec<Setting>,
) -> Result<CrowdKind, PlatformError> {
    let (name, crowd) = volanomark_test(platform)?;
    platform.name = Some(name);
    add_volanomark_yield(&mut platform.settings);
    add_volanomark_yield(crowd_settings);
    Ok(match crowd {
        VolanoMarkCrowd::Java => CrowdKind::Java,
        VolanoMarkCrowd::NativeThreads => CrowdKind::NativeThreads,
    })
}

/// Kinds of load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrowdKind {
    /// Native, with event loops.
    Native,
    /// Native, with two threads per user as in VolanoMark.
    NativeThreads,
    /// Java, with two threads per user as in VolanoMark.
    Java,
}

impl CrowdKind {
    /// All kinds, in the order of help.
    pub const ALL: [CrowdKind; 3] = [CrowdKind::Native, CrowdKind::NativeThreads, CrowdKind::Java];

    /// Its name in records and study files.
    pub fn name(self) -> &'static str {
        CrowdProgram::from(self).name()
    }
}

impl From<CrowdKind> for CrowdProgram {
    fn from(kind: CrowdKind) -> CrowdProgram {
        match kind {
            CrowdKind::Native => CrowdProgram::Native,
            CrowdKind::NativeThreads => CrowdProgram::NativeThreads,
            CrowdKind::Java => CrowdProgram::Java,
        }
    }
}
