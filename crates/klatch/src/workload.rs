//! The options of the workload, the same for every command.

use clap::{Args, ValueEnum};
use klatch_record::{ChatWorkload, Pacing, RrWorkload, Workload, WorkloadKind};

/// Help heading of these options.
const WORKLOAD: &str = "Workload";

/// The workload of a run.
#[derive(Args)]
pub(crate) struct WorkloadArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// chat: messages that each user sends [default: 100]
    #[arg(long, help_heading = WORKLOAD)]
    count: Option<u32>,
    /// rr: time for which requests are sent [default: 2]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true)]
    duration: Option<f64>,
}

/// The workload of a run that ends when its parent ends it.
#[derive(Args)]
pub(crate) struct EndlessWorkloadArgs {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args)]
struct CommonArgs {
    /// What the crowd does: chat (users in rooms), rr (requests, and a reply to each)
    #[arg(long, help_heading = WORKLOAD, default_value_t = WorkloadKind::Chat, value_name = "WORKLOAD")]
    workload: WorkloadKind,
    /// chat: number of rooms of the crowd [default: 10]
    #[arg(long, help_heading = WORKLOAD)]
    rooms: Option<u32>,
    /// chat: users in each room [default: 20]
    #[arg(long, help_heading = WORKLOAD)]
    users: Option<u32>,
    /// rr: number of connections [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    connections: Option<u32>,
    /// rr: requests of a connection in flight [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "REQUESTS")]
    depth: Option<u32>,
    /// Size of a message's text [chat, default: 60], or of a request and of its reply [rr, default: 4]
    #[arg(long, help_heading = WORKLOAD, value_name = "BYTES")]
    size: Option<u32>,
    /// chat: rule by which users send [default: turns]
    #[arg(long, help_heading = WORKLOAD, value_enum)]
    pacing: Option<PacingName>,
    /// chat, pacing `rounds`: messages that a user may be ahead of the slowest other user [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "MESSAGES")]
    window: Option<u32>,
    /// chat, pacing `rate`: messages per second of each user. rr: requests per second of each connection, on a schedule fixed in
    /// advance [default: a request follows a reply]
    #[arg(long, help_heading = WORKLOAD, value_name = "1/S", required_if_eq("pacing", "rate"))]
    rate: Option<f64>,
    /// chat: pause after each message of a user; not with pacing `rate`, whose schedule is fixed in advance [default: 0]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true)]
    pause: Option<f64>,
    /// Number of the first room or connection, for several crowds on one server
    #[arg(long, help_heading = WORKLOAD, default_value_t = 1, value_name = "NUMBER")]
    start: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PacingName {
    /// One turn goes round each room (VolanoMark's)
    Turns,
    /// Message i + window follows message i of all other users
    Rounds,
    /// As fast as the connection accepts data
    Flood,
    /// A schedule fixed in advance; latency counts from the intended send time
    Rate,
}

impl WorkloadArgs {
    /// The workload.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the workload or its pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        let foreign = match self.common.workload {
            WorkloadKind::Chat => self.duration.map(|_| ("duration", WorkloadKind::Rr)),
            WorkloadKind::Rr => self.count.map(|_| ("count", WorkloadKind::Chat)),
        };
        refuse(foreign, self.common.workload)?;
        self.common.workload(self.count, self.duration)
    }
}

impl EndlessWorkloadArgs {
    /// The workload, which ends at once by itself.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the workload or its pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        self.common.workload(Some(1), None)
    }
}

impl CommonArgs {
    fn workload(&self, count: Option<u32>, duration_s: Option<f64>) -> anyhow::Result<Workload> {
        let foreign =
            self.particular().into_iter().find(|(_, given, owner)| *given && *owner != self.workload);
        refuse(foreign.map(|(name, _, owner)| (name, owner)), self.workload)?;
        let workload = match self.workload {
            WorkloadKind::Chat => Workload::Chat(self.chat(count)?),
            WorkloadKind::Rr => Workload::Rr(self.rr(duration_s)),
        };
        workload.check()?;
        Ok(workload)
    }

    /// The options that only one kind of workload has: name, whether it is given, and that kind.
    fn particular(&self) -> [(&'static str, bool, WorkloadKind); 7] {
        let (chat, rr) = (WorkloadKind::Chat, WorkloadKind::Rr);
        [
            ("rooms", self.rooms.is_some(), chat),
            ("users", self.users.is_some(), chat),
            ("pacing", self.pacing.is_some(), chat),
            ("window", self.window.is_some(), chat),
            ("pause", self.pause.is_some(), chat),
            ("connections", self.connections.is_some(), rr),
            ("depth", self.depth.is_some(), rr),
        ]
    }

    fn chat(&self, count: Option<u32>) -> anyhow::Result<ChatWorkload> {
        let pacing = self.pacing.unwrap_or(PacingName::Turns);
        let is_rounds = pacing == PacingName::Rounds;
        anyhow::ensure!(self.window.is_none() || is_rounds, "--window belongs to --pacing rounds");
        anyhow::ensure!(self.rate.is_none() || pacing == PacingName::Rate, "--rate belongs to --pacing rate");
        Ok(ChatWorkload {
            rooms: self.rooms.unwrap_or(10),
            users: self.users.unwrap_or(20),
            count: count.unwrap_or(100),
            size_bytes: self.size.unwrap_or(60),
            start: self.start,
            pacing: match pacing {
                PacingName::Turns => Pacing::Turns,
                PacingName::Rounds => Pacing::Rounds { window: self.window.unwrap_or(1) },
                PacingName::Flood => Pacing::Flood,
                PacingName::Rate => Pacing::Rate { per_user_per_s: self.rate.unwrap_or_default() },
            },
            pause_s: self.pause.unwrap_or(0.0),
        })
    }

    fn rr(&self, duration_s: Option<f64>) -> RrWorkload {
        let usual = RrWorkload::default();
        RrWorkload {
            connections: self.connections.unwrap_or(usual.connections),
            size_bytes: self.size.unwrap_or(usual.size_bytes),
            depth: self.depth.unwrap_or(usual.depth),
            duration_s: duration_s.unwrap_or(usual.duration_s),
            start: self.start,
            rate_per_connection_per_s: self.rate,
        }
    }
}

/// Refuses an option of another workload.
fn refuse(foreign: Option<(&str, WorkloadKind)>, workload: WorkloadKind) -> anyhow::Result<()> {
    match foreign {
        Some((name, owner)) => anyhow::bail!("--{name} belongs to --workload {owner}, not to {workload}"),
        None => Ok(()),
    }
}
