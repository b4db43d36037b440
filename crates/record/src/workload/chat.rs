//! Workload `chat`: users in rooms, and every message goes to all other users of its room.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WorkloadError, out_of, within};
use crate::record::is_zero;

/// The largest number of a room; with 16 users in each it has a million connections.
const ROOM_MAX: u32 = 65_535;

/// Rooms, users, messages, and when they are sent. Definition: `docs/reference/benchmark.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatWorkload {
    /// Number of rooms, 1..=65535.
    pub rooms: u32,
    /// Users in each room, 2..=10000.
    pub users: u32,
    /// Messages that each user sends, 1..=4294967295.
    pub count: u32,
    /// Bytes of a message's text, 36..=400.
    pub size_bytes: u32,
    /// Number of the first room, so that several crowds can share a server.
    pub start: u32,
    /// When a user speaks.
    pub pacing: Pacing,
    /// Least time between two messages of a user, seconds (VolanoMark's `-pause`); 0 under pacing `rate`.
    pub pause_s: f64,
    /// How often each user closes its connection and joins again, 1/s, 0..=1000; 0 under pacing `rate`. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub churn_per_user_per_s: f64,
}

/// When a user speaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Pacing {
    /// One turn goes round each room (VolanoMark's).
    Turns,
    /// Message i + window follows message i of all the others.
    Rounds {
        /// How many messages a user may be ahead of the slowest of the others, at least 1.
        window: u32,
    },
    /// As fast as the connection takes it.
    Flood,
    /// A schedule fixed in advance (open loop).
    Rate {
        /// Messages a second of each user.
        per_user_per_s: f64,
    },
}

impl Default for ChatWorkload {
    /// Ten rooms of twenty users who take turns with a hundred messages of 60 bytes each.
    fn default() -> ChatWorkload {
        ChatWorkload {
            rooms: 10,
            users: 20,
            count: 100,
            size_bytes: 60,
            start: 1,
            pacing: Pacing::Turns,
            pause_s: 0.0,
            churn_per_user_per_s: 0.0,
        }
    }
}

impl ChatWorkload {
    /// Number of messages sent in a complete run.
    pub fn sent_expected(&self) -> u64 {
        (u64::from(self.rooms) * u64::from(self.users)).saturating_mul(self.count.into())
    }

    /// Deliveries received when all goes well.
    pub fn received_expected(&self) -> u64 {
        self.sent_expected().saturating_mul(self.users.saturating_sub(1).into())
    }

    /// Connections, one a user.
    pub fn connections(&self) -> u64 {
        u64::from(self.rooms) * u64::from(self.users)
    }

    /// Whether rooms are silent at times although nothing is in flight.
    pub fn has_silence(&self) -> bool {
        self.pause_s > 0.0 || self.has_churn()
    }

    /// Whether users reconnect during the run.
    pub fn has_churn(&self) -> bool {
        self.churn_per_user_per_s > 0.0
    }

    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("room count", 1, ROOM_MAX, self.rooms)?;
        within("user count", 2, 10_000, self.users)?;
        within("message count", 1, u32::MAX, self.count)?;
        within("message size", 36, 400, self.size_bytes)?;
        within("first room", 1, ROOM_MAX - (self.rooms - 1), self.start)?;
        match self.pacing {
            Pacing::Rounds { window } => within("window", 1, u32::MAX, window)?,
            Pacing::Rate { per_user_per_s: rate } => {
                let possible = rate > 0.0 && rate <= 1e6;
                possible.then_some(()).ok_or(out_of(
                    "rate",
                    "above 0 and at most 1000000 messages/s",
                    rate,
                ))?;
            }
            Pacing::Turns | Pacing::Flood => {}
        }
        if matches!(self.pacing, Pacing::Rate { .. }) && self.pause_s != 0.0 {
            // A pause would move messages away from the schedule, which is fixed in advance.
            return Err(out_of(
                "pause",
                "0 under pacing rate, whose schedule is fixed in advance",
                self.pause_s,
            ));
        }
        if matches!(self.pacing, Pacing::Rate { .. }) && self.churn_per_user_per_s != 0.0 {
            // A room is silent while one of its users is away.
            return Err(out_of(
                "churn",
                "0 under pacing rate, whose schedule is fixed in advance",
                self.churn_per_user_per_s,
            ));
        }
        let possible = (0.0..=1_000.0).contains(&self.churn_per_user_per_s);
        possible.then_some(()).ok_or(out_of("churn", "0..=1000 reconnects/s", self.churn_per_user_per_s))?;
        let possible = (0.0..=86_400.0).contains(&self.pause_s);
        possible.then_some(()).ok_or(out_of("pause", "0..=86400 seconds", self.pause_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSIC: ChatWorkload = ChatWorkload {
        rooms: 10,
        users: 20,
        count: 100,
        size_bytes: 60,
        start: 1,
        pacing: Pacing::Turns,
        pause_s: 0.0,
        churn_per_user_per_s: 0.0,
    };

    #[test]
    fn the_classic_workload_is_400_000_messages() {
        assert_eq!(CLASSIC.check(), Ok(()));
        assert_eq!(CLASSIC.sent_expected() + CLASSIC.received_expected(), 400_000);
    }

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let error = |workload: ChatWorkload| workload.check().unwrap_err().to_string();
        assert_eq!(error(ChatWorkload { rooms: 0, ..CLASSIC }), "room count must be 1..=65535, got 0");
        assert_eq!(error(ChatWorkload { users: 1, ..CLASSIC }), "user count must be 2..=10000, got 1");
        assert_eq!(
            error(ChatWorkload { count: 0, ..CLASSIC }),
            "message count must be 1..=4294967295, got 0"
        );
        assert_eq!(
            error(ChatWorkload { size_bytes: 35, ..CLASSIC }),
            "message size must be 36..=400, got 35"
        );
        assert_eq!(
            error(ChatWorkload { start: 65_527, ..CLASSIC }),
            "first room must be 1..=65526, got 65527"
        );
        let pacing = Pacing::Rounds { window: 0 };
        assert_eq!(error(ChatWorkload { pacing, ..CLASSIC }), "window must be 1..=4294967295, got 0");
        let pacing = Pacing::Rate { per_user_per_s: f64::NAN };
        assert!(error(ChatWorkload { pacing, ..CLASSIC }).starts_with("rate must be above 0"));
        let pacing = Pacing::Rate { per_user_per_s: 1.0 };
        assert_eq!(ChatWorkload { pacing, ..CLASSIC }.check(), Ok(()));
        assert_eq!(
            error(ChatWorkload { pacing, pause_s: 0.5, ..CLASSIC }),
            "pause must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5"
        );
        assert_eq!(
            error(ChatWorkload { pacing, churn_per_user_per_s: 0.5, ..CLASSIC }),
            "churn must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5"
        );
        assert_eq!(
            error(ChatWorkload { churn_per_user_per_s: f64::NAN, ..CLASSIC }),
            "churn must be 0..=1000 reconnects/s, got NaN"
        );
        assert_eq!(
            error(ChatWorkload { pause_s: -1.0, ..CLASSIC }),
            "pause must be 0..=86400 seconds, got -1"
        );
    }
}
