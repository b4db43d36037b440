//! The options of a run that no other field of its record holds.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::{Connecting, InstrumentName};

/// What `klatch run` was asked for, as far as no other field of the record holds it: platform, knobs, crowd, workload and sysctls
/// have fields of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunOptions {
    /// Address of the external server, with scheme and path; absent if Klatch started one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// File with the authorities that may have signed the certificate of the target; absent for those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// How the crowd connects; absent for the default.
    #[serde(default, skip_serializing_if = "Connecting::is_usual")]
    pub connecting: Connecting,
    /// Folder with platform files in addition to Klatch's; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// The build that was measured, as named by whoever started the run; absent if it was not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Subprotocol of the WebSocket, or `none`; absent for the default of the platform and its protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subprotocol: Option<String>,
    /// Scheduler to load, with its knobs; absent for none. The one in force is `environment.scheduler`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Instruments of every run.
    pub instruments: Vec<InstrumentName>,
    /// Server processes.
    pub servers: u32,
    /// Crowd processes; at least one per server and host is started.
    pub shards: u32,
    /// Address on which servers listen.
    pub listen: String,
    /// Machines of the crowd; absent if it ran on this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteOptions>,
    /// Event loops of each native crowd process, at most one for each of its parties; `shards` have those that ran.
    pub crowd_loops: u32,
    /// Seed of schedules and random choices of the crowd.
    pub seed: u64,
    /// Warm-up runs before the trials, after the same start of the server.
    pub warmups: u32,
    /// Length of the warm-up run, s; absent if warm-up runs are as long as trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_s: Option<f64>,
    /// Trials after the same start of the server.
    pub trials: u32,
    /// Requirements by which the trials are judged together; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub require: Vec<String>,
    /// Longest time until a server is ready, s.
    pub ready_timeout_s: f64,
    /// Longest time without a delivery, s.
    pub timeout_s: f64,
    /// Longest time to establish one connection, s.
    pub connect_timeout_s: f64,
}

/// Machines that ran the crowd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoteOptions {
    /// Names of the hosts, which take turns.
    pub hosts: Vec<String>,
    /// How a command is run on a host: a name or a template of `klatch run --reach`.
    pub reach: String,
    /// Path of Klatch on the hosts.
    pub program: String,
}

impl Default for RunOptions {
    /// Those of `klatch run` without options, which takes its defaults from here.
    fn default() -> RunOptions {
        RunOptions {
            target: None,
            ca: None,
            connecting: Connecting::default(),
            catalog: None,
            label: None,
            subprotocol: None,
            scheduler: None,
            instruments: Vec::new(),
            servers: 1,
            shards: 1,
            listen: Ipv4Addr::LOCALHOST.to_string(),
            remote: None,
            crowd_loops: 1,
            seed: 1,
            warmups: 1,
            warmup_s: None,
            trials: 3,
            require: Vec::new(),
            ready_timeout_s: 60.0,
            timeout_s: 60.0,
            connect_timeout_s: 10.0,
        }
    }
}
