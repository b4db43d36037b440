//! The options of the workload, the same for every command.

use clap::{Args, ValueEnum};
use klatch_record::{Pacing, Workload};

/// Help heading of these options.
const WORKLOAD: &str = "Workload";

#[derive(Args)]
pub(crate) struct WorkloadArgs {
    /// Number of rooms of the crowd
    #[arg(long, help_heading = WORKLOAD, default_value_t = 10)]
    rooms: u32,
    /// Users in each room
    #[arg(long, help_heading = WORKLOAD, default_value_t = 20)]
    users: u32,
    /// Messages that each user sends
    #[arg(long, help_heading = WORKLOAD, default_value_t = 100)]
    count: u32,
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
        let is_rounds = self.pacing == PacingName::Rounds;
        anyhow::ensure!(self.window.is_none() || is_rounds, "--window belongs to --pacing rounds");
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
