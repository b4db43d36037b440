//! What a server adds to the records of the crowds that measured it, if no parent started both.

use serde::{Deserialize, Serialize};

use crate::{Build, Class, Environment, Usage};

/// The schema name that every server's part carries in [`ServerPart::schema`].
pub const SERVER_SCHEMA_NAME: &str = "klatch-server/1";

/// A native server that watched the gate of its crowds, as `klatch serve --out` writes it and `klatch merge` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerPart {
    /// The schema of this JSON, always `klatch-server/1`.
    pub schema: String,
    /// The program that served.
    pub klatch: Build,
    /// The random number with which the last gate was opened, in hexadecimal.
    pub gate_run: String,
    /// The class of the server; `null` if its workload has none.
    pub class: Option<Class>,
    /// The exact command line.
    pub command: Vec<String>,
    /// What it used from the opening of the gate until it stopped.
    pub usage: Usage,
    /// The machine it ran on.
    pub environment: Environment,
}
