//! The options that tell what a crowd does, the same for every command.

use clap::{Args, ValueEnum};
use klatch_record::{Pacing, Workload};

#[derive(Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// Rooms
    #[arg(long, default_value_t = 10)]
    rooms: u32,
    /// Users in each room
    #[arg(long, default_value_t = 20)]
    users: u32,
    /// Messages that each user says
    #[arg(long, default_value_t = 100)]
    count: u32,
    /// Bytes of a message's text
    #[arg(long, default_value_t = 60, value_name = "BYTES")]
    size: u32,
    /// Number of the first room, so that several crowds can share a server
    #[arg(long, default_value_t = 1, value_name = "ROOM")]
    start: u32,
    /// When a user speaks
    #[arg(long, value_enum, default_value_t = PacingName::Turns)]
    pacing: PacingName,
    /// Pacing `rounds`: messages that a user may be ahead of the slowest of the others [default: 1]
    #[arg(long, value_name = "MESSAGES")]
    window: Option<u32>,
    /// Pacing `rate`: messages a second of each user
    #[arg(long, value_name = "MESSAGES/S", required_if_eq("pacing", "rate"))]
    rate: Option<f64>,
    /// Least time between two messages of a user; not with pacing `rate`, whose schedule is fixed in advance
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pause: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PacingName {
    /// One turn goes round each room (VolanoMark's)
    Turns,
    /// Message i + window follows message i of all the others
    Rounds,
    /// As fast as the connection takes it
    Flood,
    /// A schedule fixed in advance; latency counts from the scheduled moment
    Rate,
}

impl WorkloadArgs {
    /// The workload, every number within its range.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        let of_rounds = self.pacing == PacingName::Rounds;
        anyhow::ensure!(self.window.is_none() || of_rounds, "--window belongs to --pacing rounds");
        anyhow::ensure!(
            self.rate.is_none() || self.pacing == PacingName::Rate,
            "--rate belongs to --pacing rate"
        );
        let workload = Workload {
            rooms: self.rooms,
            users: self.users,
            count: self.count,
            size_bytes: self.size,
            start: self.start,
            pacing: match self.pacing {
                PacingName::Turns => Pacing::Turns,
                PacingName::Rounds => Pacing::Rounds { window: self.window.unwrap_or(1) },
                PacingName::Flood => Pacing::Flood,
                PacingName::Rate => Pacing::Rate { per_user_per_s: self.rate.unwrap_or_default() },
            },
            pause_s: self.pause,
        };
        workload.check()?;
        Ok(workload)
    }
}
