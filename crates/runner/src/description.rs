//! Describes the platform of a session for its records.

use klatch_platforms::{ResolvedPlatform, Server, Setting};
use klatch_record::{Class, Platform, ProtocolName, Transport};

/// What was started, as its platform's description needs it.
pub(crate) struct Started {
    pub(crate) address: String,
    pub(crate) class: Option<Class>,
    pub(crate) command: Vec<String>,
    /// Number of processes that were started.
    pub(crate) servers: u32,
    /// Seconds until the first was ready.
    pub(crate) start_s: Option<f64>,
}

impl Started {
    /// Of servers, of which there is at least one.
    pub(crate) fn of(servers: &[Server]) -> Started {
        let addresses: Vec<String> = servers.iter().map(|server| server.address.to_string()).collect();
        let first = &servers[0];
        Started {
            address: addresses.join(", "),
            class: first.class,
            command: first.command.clone(),
            servers: servers.len() as u32,
            start_s: Some(first.start_time.as_secs_f64()),
        }
    }
}

pub(crate) fn describe_platform(platform: &ResolvedPlatform, started: Started) -> Platform {
    let Started { address, class, command, servers, start_s } = started;
    Platform {
        name: platform.name.clone(),
        class,
        knobs: platform.settings.iter().map(name_and_value).collect(),
        version: platform.program.as_ref().and_then(|program| program.version.clone()),
        servers,
        start_s,
        chosen_because: platform.because.clone(),
        command: Some(command),
        runtime: platform.java.as_ref().map(|java| java.runtime(&platform.knobs.java_options)),
        ..describe_external(platform.protocol(), platform.transport, address)
    }
}

/// An external server, of which no more is known than its address (`host:port`), and how its clients reach it.
pub(crate) fn describe_external(protocol: ProtocolName, transport: Transport, address: String) -> Platform {
    Platform {
        name: format!("{}://{address}", transport.scheme(protocol)),
        class: None,
        protocol,
        transport,
        knobs: [].into(),
        version: None,
        address,
        servers: 1,
        start_s: None,
        chosen_because: None,
        command: None,
        runtime: None,
        database: None,
    }
}

pub(crate) fn name_and_value(setting: &Setting) -> (String, String) {
    (setting.name.clone(), setting.value.clone())
}
