//! Workload `chat`: users in rooms, and every message goes to all other users of its room.

use serde::{Deserialize, Serialize};

use super::arrivals::{ARRIVALS, Arrivals};
use super::error::within;
use super::mqtt::{MqttSettings, is_client_id};
use super::settings::{Range, Scope, Setting, field};
use super::stages::{STAGES, Stages, check_stages, stages_setting};
use super::values::{Form, Formed, NonZero, NonZeroWhole, OptionalSeconds, Seconds, Value, Word};
use super::{COUNT_MAX, RATE_MAX, SECONDS_MAX, WorkloadError};
use crate::record::is_zero;

/// The largest number of a room; with 16 users in each it has a million connections.
const ROOM_MAX: u32 = 65_535;

/// Largest number of users in a room.
const USERS_MAX: u32 = 10_000;

/// The pacings and what they mean.
const PACINGS: &[(&str, &str)] = &[
    ("turns", "One turn goes round each room (VolanoMark's)"),
    ("rounds", "Message i + window follows message i of all other users"),
    ("flood", "As fast as the connection accepts data"),
    ("rate", "A schedule fixed in advance; latency counts from the intended send time"),
];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("rooms", "N", "number of rooms", field!(Chat, rooms)).in_range(Range::Whole(1, ROOM_MAX)),
    Setting::new("users", "N", "users in each room", field!(Chat, users)).in_range(Range::Whole(2, USERS_MAX)),
    Setting::new("count", "N", "messages that each user sends", field!(Chat, chat => Count(chat)))
        .in_range(Range::Whole(1, u32::MAX))
        .scoped(Scope::End),
    Setting::new(
        "duration",
        "TIME",
        "time for which users send, in place of a number of messages",
        field!(Chat, chat => OptionalSeconds(&mut chat.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .following("none: the run ends after count messages of each user")
    .scoped(Scope::End),
    Setting::new("size", "BYTES", "size of a message's text", field!(Chat, size_bytes)).in_range(Range::Whole(36, 400)),
    Setting::new("pacing", "PACING", "rule by which users send", field!(Chat, chat => PacingName(&mut chat.pacing))),
    Setting::new(
        "window",
        "MESSAGES",
        "pacing rounds: messages that a user may be ahead of the slowest other user",
        field!(Chat, chat => Window(&mut chat.pacing)),
    )
    .in_range(Range::Whole(1, u32::MAX))
    .following("1"),
    Setting::new(
        "rate",
        "1/S",
        "pacing rate: messages a second of each user",
        field!(Chat, chat => Rate(&mut chat.pacing)),
    )
    .in_range(Range::AboveZero(RATE_MAX, "messages/s")),
    stages_setting("pacing rate: times, within each of which the rate of a user ramps to a value, in place of rate, count and duration", field!(Chat, stages)).excluding(&["rate", "count", "duration"]),
    Setting::new(
        "arrivals",
        "ARRIVALS",
        "pacing rate: how the moments of the schedule follow one another",
        field!(Chat, chat => Word { word: &mut chat.arrivals, words: ARRIVALS }),
    ),
    Setting::new(
        "pause",
        "TIME",
        "pause after each message of a user; not with pacing rate, whose schedule is fixed in advance",
        field!(Chat, chat => Seconds(&mut chat.pause_s)),
    )
    .in_range(Range::FromZero(SECONDS_MAX, "seconds")),
    Setting::new(
        "churn",
        "1/S",
        "how often each user leaves, closes its connection and joins again, its room silent meanwhile; crowd native, not with pacing rate",
        field!(Chat, chat => NonZero(&mut chat.churn_per_user_per_s)),
    )
    .in_range(Range::FromZero(1_000.0, "reconnects/s"))
    .following("0"),
    Setting::new(
        "qos",
        "LEVEL",
        "MQTT: quality of service of messages and subscriptions: 0, at most once; 1, at least once; 2, exactly once",
        field!(Chat, chat => NonZeroWhole(&mut chat.mqtt.qos)),
    )
    .in_range(Range::Whole(0, 2))
    .following("0"),
    Setting::new(
        "client_id",
        "PREFIX",
        "MQTT: beginning of client identifiers; room and user follow it, as in r1u0",
        field!(Chat, chat => Formed { text: &mut chat.mqtt.client_id, is_right: is_client_id, form: "1 to 100 printable ASCII characters" }),
    )
    .following("klatch and six characters that are others for each crowd")
    .scoped(Scope::Share),
    Setting::new("start", "N", "number of the first room, for several crowds on one server", field!(Chat, start))
        .scoped(Scope::Share),
];

/// The number of messages, which a workload with a duration does not have.
struct Count<'a>(&'a mut ChatWorkload);

impl Value for Count<'_> {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        self.0.duration_s.is_none().then(|| self.0.count.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        (&mut self.0.count).parse(setting, text)
    }

    fn number(&self) -> Option<f64> {
        Some(self.0.count.into())
    }
}

/// The name of a pacing. A window and a rate are settings of their own.
struct PacingName<'a>(&'a mut Pacing);

impl Value for PacingName<'_> {
    fn form(&self) -> Form {
        Form::Words(PACINGS)
    }

    fn print(&self) -> Option<String> {
        let name = match self.0 {
            Pacing::Turns => "turns",
            Pacing::Rounds { .. } => "rounds",
            Pacing::Flood => "flood",
            Pacing::Rate { .. } => "rate",
        };
        Some(name.to_owned())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = match text {
            "turns" => Pacing::Turns,
            "rounds" => Pacing::Rounds { window: 1 },
            "flood" => Pacing::Flood,
            "rate" => Pacing::Rate { per_user_per_s: None },
            _ => return Err(WorkloadError::not_a_word(setting, PACINGS, text)),
        };
        Ok(())
    }
}

struct Window<'a>(&'a mut Pacing);

impl Value for Window<'_> {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        self.number().map(|window| window.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        match self.0 {
            Pacing::Rounds { window } => {
                let mut window = window;
                Value::parse(&mut window, setting, text)
            }
            _ => Err(WorkloadError::Unused { setting, owner: "pacing rounds" }),
        }
    }

    fn number(&self) -> Option<f64> {
        match *self.0 {
            Pacing::Rounds { window } => Some(window.into()),
            _ => None,
        }
    }
}

struct Rate<'a>(&'a mut Pacing);

impl Value for Rate<'_> {
    fn form(&self) -> Form {
        Form::Number
    }

    fn print(&self) -> Option<String> {
        self.number().map(|rate| rate.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        match self.0 {
            Pacing::Rate { per_user_per_s } => {
                let mut rate = per_user_per_s;
                Value::parse(&mut rate, setting, text)
            }
            _ => Err(WorkloadError::Unused { setting, owner: "pacing rate" }),
        }
    }

    fn number(&self) -> Option<f64> {
        match *self.0 {
            Pacing::Rate { per_user_per_s } => per_user_per_s,
            _ => None,
        }
    }
}

/// Rooms, users, messages, and when they are sent. Definition: `docs/reference/benchmark.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChatWorkload {
    /// Number of rooms, 1..=65535.
    pub rooms: u32,
    /// Users in each room, 2..=10000.
    pub users: u32,
    /// Messages that each user sends, 1..=4294967295. Absent if the run ends by time: with a duration, or by its parent.
    #[serde(default = "without_end", skip_serializing_if = "has_no_end")]
    pub count: u32,
    /// Time for which users send, seconds. The run ends with the last delivery. Absent if it ends with a number of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
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
    /// Times and rates of each user: a schedule whose rate changes, in place of one rate. Absent without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// How the moments of the schedule follow one another. Absent if they are even.
    #[serde(default, skip_serializing_if = "Arrivals::is_even")]
    pub arrivals: Arrivals,
    /// What only MQTT has. Absent if nothing of it was set.
    #[serde(default, skip_serializing_if = "MqttSettings::is_usual")]
    pub mqtt: MqttSettings,
}

/// When a user speaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        /// Messages a second of each user. Absent with stages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_user_per_s: Option<f64>,
    },
}

fn without_end() -> u32 {
    COUNT_MAX
}

fn has_no_end(count: &u32) -> bool {
    *count == COUNT_MAX
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
            duration_s: None,
            stages: None,
            arrivals: Arrivals::Even,
            mqtt: MqttSettings::USUAL,
        }
    }
}

impl ChatWorkload {
    /// The same for a time instead of a number of messages.
    #[must_use]
    pub fn with_duration(&self, duration_s: f64) -> ChatWorkload {
        ChatWorkload { count: COUNT_MAX, duration_s: Some(duration_s), ..self.clone() }
    }

    /// Whether users stop at a moment, whatever they have sent. Under pacing `rate` each sends what is due before it.
    pub fn stops_at_a_moment(&self) -> bool {
        self.duration_s.is_some() && !matches!(self.pacing, Pacing::Rate { .. })
    }

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

    /// Most deliveries in flight; `None` where nothing bounds what a user sends ahead.
    pub(super) fn in_flight_max(&self) -> Option<f64> {
        // From one sender to one receiver. Under `turns` a user receives the last message before sending the next; under `rounds` any
        // two users are within a window of each other, in both directions.
        let of_pair = match self.pacing {
            Pacing::Turns => 1.0,
            Pacing::Rounds { window } => 2.0 * f64::from(window),
            Pacing::Flood | Pacing::Rate { .. } => return None,
        };
        let users = f64::from(self.users);
        Some(f64::from(self.rooms) * users * (users - 1.0) * of_pair)
    }

    /// Whether rooms are silent at times although nothing is in flight.
    pub fn has_silence(&self) -> bool {
        self.pause_s > 0.0 || self.has_churn()
    }

    /// Whether users reconnect during the run.
    pub fn has_churn(&self) -> bool {
        self.churn_per_user_per_s > 0.0
    }

    /// Checks that a schedule has a rate or stages, and no other pacing has any.
    fn check_schedule(&self) -> Result<(), WorkloadError> {
        match self.pacing {
            Pacing::Rate { per_user_per_s: None } if self.stages.is_none() => Err(WorkloadError::NoRate),
            Pacing::Rate { per_user_per_s } => {
                check_stages(self.stages.as_ref(), per_user_per_s, self.duration_s)
            }
            _ if self.stages.is_some() => {
                Err(WorkloadError::Unused { setting: STAGES, owner: "pacing rate" })
            }
            _ => Ok(()),
        }
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        if self.duration_s.is_some() && self.count != COUNT_MAX {
            return Err(WorkloadError::Unused { setting: "count", owner: "a run without a duration" });
        }
        self.check_schedule()?;
        if self.arrivals != Arrivals::Even && !matches!(self.pacing, Pacing::Rate { .. }) {
            return Err(WorkloadError::Unused { setting: "arrivals", owner: "pacing rate" });
        }
        within("start", 1, ROOM_MAX - (self.rooms - 1), self.start)?;
        if matches!(self.pacing, Pacing::Rate { .. }) {
            // A pause would move messages away from the schedule, and a room is silent while one of its users is away.
            for (setting, value) in [("pause", self.pause_s), ("churn", self.churn_per_user_per_s)] {
                if value != 0.0 {
                    let range = "0 under pacing rate, whose schedule is fixed in advance";
                    return Err(WorkloadError::out_of(setting, range, value));
                }
            }
        }
        Ok(())
    }
}

impl ChatWorkload {
    pub(super) fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        if let Some(stages) = &self.stages {
            (self.count, self.duration_s) = (COUNT_MAX, Some(stages.time_s()));
        }
        if is_given("duration") && !is_given("count") {
            self.count = COUNT_MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Workload, WorkloadKind};

    #[test]
    fn a_run_has_a_duration_or_a_number_of_messages() {
        let of = |given: &[(&str, &str)]| WorkloadKind::Chat.workload(given);
        let timed = of(&[("duration", "1m30s")]).unwrap();
        assert_eq!((timed.duration_s(), timed.messages_expected()), (Some(90.0), None));
        let json = serde_json::to_string(&timed).unwrap();
        assert!(json.contains("\"duration_s\":90.0") && !json.contains("count"), "{json}");
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), timed);
        assert_eq!(of(&[("count", "7")]).unwrap().duration_s(), None);
        let both = of(&[("duration", "5"), ("count", "7")]).unwrap_err().to_string();
        assert_eq!(both, "count belongs to a run without a duration");
        assert!(of(&[("duration", "0")]).unwrap_err().to_string().starts_with("duration must be above 0"));
        assert_eq!(timed.endless().duration_s(), None);
    }

    const USUAL: ChatWorkload = ChatWorkload {
        rooms: 10,
        users: 20,
        count: 100,
        size_bytes: 60,
        start: 1,
        pacing: Pacing::Turns,
        pause_s: 0.0,
        churn_per_user_per_s: 0.0,
        duration_s: None,
        stages: None,
        arrivals: Arrivals::Even,
        mqtt: MqttSettings::USUAL,
    };

    #[test]
    fn the_usual_workload_is_400_000_messages() {
        assert_eq!(Workload::Chat(USUAL.clone()).check(), Ok(()));
        assert_eq!(USUAL.sent_expected() + USUAL.received_expected(), 400_000);
    }

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let error = |workload: ChatWorkload| Workload::Chat(workload).check().unwrap_err().to_string();
        assert_eq!(error(ChatWorkload { rooms: 0, ..USUAL }), "rooms must be 1 to 65,535, got 0");
        assert_eq!(error(ChatWorkload { users: 1, ..USUAL }), "users must be 2 to 10,000, got 1");
        assert_eq!(error(ChatWorkload { count: 0, ..USUAL }), "count must be 1 to 4,294,967,295, got 0");
        assert_eq!(error(ChatWorkload { size_bytes: 35, ..USUAL }), "size must be 36 to 400, got 35");
        assert_eq!(error(ChatWorkload { start: 65_527, ..USUAL }), "start must be 1 to 65,526, got 65527");
        let pacing = Pacing::Rounds { window: 0 };
        assert_eq!(error(ChatWorkload { pacing, ..USUAL }), "window must be 1 to 4,294,967,295, got 0");
        let pacing = Pacing::Rate { per_user_per_s: Some(f64::NAN) };
        assert!(error(ChatWorkload { pacing, ..USUAL }).starts_with("rate must be above 0"));
        let pacing = Pacing::Rate { per_user_per_s: Some(1.0) };
        assert_eq!(Workload::Chat(ChatWorkload { pacing, ..USUAL }).check(), Ok(()));
        assert_eq!(
            error(ChatWorkload { pacing, pause_s: 0.5, ..USUAL }),
            "pause must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5"
        );
        assert_eq!(
            error(ChatWorkload { pacing, churn_per_user_per_s: 0.5, ..USUAL }),
            "churn must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5"
        );
        assert_eq!(
            error(ChatWorkload { churn_per_user_per_s: f64::NAN, ..USUAL }),
            "churn must be 0 to 1,000 reconnects/s, got NaN"
        );
        assert_eq!(
            error(ChatWorkload { pause_s: -1.0, ..USUAL }),
            "pause must be 0 to 86,400 seconds, got -1"
        );
    }
}
