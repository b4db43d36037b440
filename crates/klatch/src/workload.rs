//! The options of the workload, the same for every command.

use clap::{Args, ValueEnum};
use klatch_record::{Pacing, Workload};

/// Help heading of these options.
const WORKLOAD: &str = "Workload";

/// The workload of a run.
#[derive(Args)]
pub(crate) struct WorkloadArgs {
    #[command(flatten)]
    members: MemberArgs,
    /// Messages that each user sends
    #[arg(long, help_heading = WORKLOAD, default_value_t = 100)]
    count: u32,
    #[command(flatten)]
    messages: MessageArgs,
}

/// The workload of a run that ends when its parent ends it.
#[derive(Args)]
pub(crate) struct EndlessWorkloadArgs {
    #[command(flatten)]
    members: MemberArgs,
    #[command(flatten)]
    messages: MessageArgs,
}

#[derive(Args)]
struct MemberArgs {
    /// Number of rooms of the crowd
    #[arg(long, help_heading = WORKLOAD, default_value_t = 10)]
    rooms: u32,
    /// Users in each room
    #[arg(long, help_heading = WORKLOAD, default_value_t = 20)]
    users: u32,
}

#[derive(Args)]
struct MessageArgs {
    /// Size of a message's text
    #[arg(long, help_heading = WORKLOAD, default_value_t = 60, value_name = "BYTES")]
    size: u32,
    /// Rule by which users send
    #[arg(long, help_heading = WORKLOAD, value_enum, default_value_t = PacingName::Turns)]
    pacing: PacingName,
    /// Pacing `rounds`: messages that a user may be ahead of the slowest other user [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "MESSAGES")]
    window: Option<u32>,
    /// Pacing `rate`: messages per second of each user
    #[arg(long, help_heading = WORKLOAD, value_name = "MESSAGES/S", required_if_eq("pacing", "rate"))]
    rate: Option<f64>,
    /// Pause after each message of a user; not with pacing `rate`, whose schedule is fixed in advance
    #[arg(long, help_heading = WORKLOAD, default_value_t = 0.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pause: f64,
    /// Number of the first room, for several crowds on one server
    #[arg(long, help_heading = WORKLOAD, default_value_t = 1, value_name = "ROOM")]
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
    /// A number is out of range, or an option does not fit the pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        workload(&self.members, self.count, &self.messages)
    }
}

impl EndlessWorkloadArgs {
    /// The workload, with a count of 1.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        workload(&self.members, 1, &self.messages)
    }
}

fn workload(members: &MemberArgs, count: u32, messages: &MessageArgs) -> anyhow::Result<Workload> {
    let is_rounds = messages.pacing == PacingName::Rounds;
    anyhow::ensure!(messages.window.is_none() || is_rounds, "--window belongs to --pacing rounds");
    anyhow::ensure!(
        messages.rate.is_none() || messages.pacing == PacingName::Rate,
        "--rate belongs to --pacing rate"
    );
    let workload = Workload {
        rooms: members.rooms,
        users: members.users,
        count,
        size_bytes: messages.size,
        start: messages.start,
        pacing: match messages.pacing {
            PacingName::Turns => Pacing::Turns,
            PacingName::Rounds => Pacing::Rounds { window: messages.window.unwrap_or(1) },
            PacingName::Flood => Pacing::Flood,
            PacingName::Rate => Pacing::Rate { per_user_per_s: messages.rate.unwrap_or_default() },
        },
        pause_s: messages.pause,
    };
    workload.check()?;
    Ok(workload)
}
