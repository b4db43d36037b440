//! Describes the platform of a session for its records.

use klatch_platforms::{ResolvedPlatform, Setting};
use klatch_record::{Class, Platform};

use crate::carrier::Carrier;

/// What was started, as its platform's description needs it.
pub(crate) struct Started {
    pub(crate) address: String,
    pub(crate) class: Option<Class>,
    pub(crate) command: Option<Vec<String>>,
    /// Number of processes that were started.
    pub(crate) servers: u32,
    /// Seconds until the first was ready.
    pub(crate) start_s: Option<f64>,
}

pub(crate) fn describe_platform(
    platform: Option<&ResolvedPlatform>,
    carrier: &Carrier,
    started: Started,
) -> Platform {
    let Started { address, class, command, servers, start_s } = started;
    Platform {
        name: platform.map_or_else(
            || format!("{}://{address}", carrier.transport.scheme(carrier.protocol)),
            |platform| platform.name.clone(),
        ),
        class,
        protocol: carrier.protocol,
        transport: carrier.transport,
        knobs: platform
            .map(|platform| platform.settings.iter().map(name_and_value).collect())
            .unwrap_or_default(),
        version: platform
            .and_then(|platform| platform.program.as_ref())
            .and_then(|program| program.version.clone()),
        address,
        servers,
        start_s,
        chosen_because: platform.and_then(|platform| platform.because.clone()),
        command,
        runtime: platform
            .and_then(|platform| Some(platform.java.as_ref()?.runtime(&platform.knobs.java_options))),
        database: None,
    }
}

pub(crate) fn name_and_value(setting: &Setting) -> (String, String) {
    (setting.name.clone(), setting.value.clone())
}
