//! One crowd of those that made a record. The record of a single crowd has one of it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::request_parts::RequestDigest;
use crate::{
    Build, CrowdGap, DatabaseCounts, Environment, MqttVersion, TlsSession, Usage, Warning, WorkloadKind,
};

/// A crowd with rooms of its own, which needed nothing from the others but a common start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shard {
    /// Kind of its workload, which gives its parties their name; absent for chat.
    #[serde(default, skip_serializing_if = "WorkloadKind::is_chat")]
    pub workload: WorkloadKind,
    /// The number of its first room, or other party.
    pub start: u32,
    /// How many rooms, or other parties, it had.
    pub rooms: u32,
    /// The machine it ran on; `null` if that is the one that wrote the record.
    pub host: Option<String>,
    /// The Klatch that ran it, if the program of a host did; absent if the one that wrote the record did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub klatch: Option<Build>,
    /// The server it talked to.
    pub address: String,
    /// Addresses of the server to which it connected; absent if the name of the server has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub addresses: Vec<String>,
    /// What it sent of files; absent without requests of such files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestDigest>,
    /// The command line that starts the same crowd by hand.
    pub command: Vec<String>,
    /// The gate at which it waited for the others; `null` if it had a parent, or was alone.
    pub gate: Option<Gate>,
    /// The random number with which its gate was opened, in hexadecimal: the run; absent without a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_run: Option<String>,
    /// What TLS agreed to; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsSession>,
    /// Version of MQTT that was spoken; absent for other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqtt_version: Option<MqttVersion>,
    /// Event loops that it had: at most one for each of its rooms, or other parties, whatever was asked for. Absent for crowds with
    /// threads for each user, and for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<u32>,
    /// When its gate opened; `null` if the crowd does not report it.
    pub opened: Option<Moment>,
    /// From then to its last verified delivery, seconds.
    pub elapsed_s: f64,
    /// Times in which it did not run, although it was due; absent if there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<CrowdGap>,
    /// Messages sent and deliveries verified.
    pub total: u64,
    /// What makes its part of the score worthless.
    pub reasons: Vec<String>,
    /// Caveats about its part.
    pub warnings: Vec<Warning>,
    /// What its server counted of its transactions until its end; absent where the server does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseCounts>,
    /// Its usage; `null` if it could not be measured.
    pub usage: Option<Usage>,
    /// Where it ran; `null` if that is the record's `environment`.
    pub environment: Option<Environment>,
}

/// A gate that opens when this many shards are present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gate {
    /// How many shards there are to be.
    pub shards: u32,
    /// Its name: two gates on one server have two.
    pub name: String,
}

/// The text does not describe a gate.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "a gate is SHARDS or SHARDS:NAME, with 1 to 1,000 shards and a name of 1 to 32 letters, digits and dashes, got {0}"
)]
pub struct GateError(String);

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Gate, GateError> {
        let (shards, name) = text.split_once(':').unwrap_or((text, "start"));
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let shards = shards.parse().ok().filter(|shards| (1..=1000).contains(shards));
        match shards {
            Some(shards) if (1..=32).contains(&name.len()) && name.chars().all(plain) => {
                Ok(Gate { shards, name: name.to_owned() })
            }
            _ => Err(GateError(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.shards, self.name)
    }
}

/// A moment on a machine's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// The clock: the boot whose CLOCK_MONOTONIC it is (`/proc/sys/kernel/random/boot_id`).
    pub clock: String,
    /// ns on that clock.
    pub ns: u64,
}

impl Shard {
    /// The number of its last room.
    pub fn last_room(&self) -> u32 {
        self.start.saturating_add(self.rooms.saturating_sub(1))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shard_name(self.workload, self.start, self.rooms, self.host.as_deref()))
    }
}

/// What a shard is called in messages.
pub fn shard_name(kind: WorkloadKind, start: u32, parties: u32, host: Option<&str>) -> String {
    let party = kind.party_name();
    let parties = match parties {
        0 | 1 => format!("{party} {start}"),
        _ => format!("{party}s {start} to {}", start.saturating_add(parties - 1)),
    };
    host.map_or_else(|| format!("the shard of {parties}"), |host| format!("the shard of {parties} on {host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_has_a_number_and_a_name() {
        for (text, shown) in [("3", "3:start"), ("12:night-7", "12:night-7")] {
            assert_eq!(text.parse::<Gate>().unwrap().to_string(), shown);
        }
        for wrong in ["", "0", "1001", "x", "3:", "3:a b", "-1", "3:a:b"] {
            assert_eq!(wrong.parse::<Gate>(), Err(GateError(wrong.to_owned())));
        }
    }
}
