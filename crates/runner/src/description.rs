//! Describes the platform of a session for its records.

use std::collections::BTreeMap;

use klatch_platforms::{ResolvedPlatform, Setting};
use klatch_record::{Class, Endpoint, Platform, Runtime, VmInForce};

/// What was started of a platform.
pub(crate) struct Instance {
    pub(crate) address: String,
    pub(crate) class: Option<Class>,
    pub(crate) command: Vec<String>,
    /// Variables that its file sets, without secrets.
    pub(crate) variables: BTreeMap<String, String>,
    /// Number of processes that were started.
    pub(crate) servers: u32,
    /// Seconds until the first was ready.
    pub(crate) start_s: Option<f64>,
    /// The mechanism with which the first waits for its connections, if it names one.
    pub(crate) io: Option<String>,
    /// What the virtual machine of the first says of itself.
    pub(crate) vm: Option<VmInForce>,
}

pub(crate) fn describe_platform(platform: &ResolvedPlatform, instance: Instance) -> Platform {
    let Instance { address, class, command, variables, servers, start_s, io, vm } = instance;
    let runtime = platform.java.as_ref().map(|java| java.runtime(&platform.knobs.java_options));
    Platform {
        name: platform.name.clone(),
        class,
        protocol: platform.protocol(),
        transport: platform.transport,
        knobs: platform.settings.iter().map(name_and_value).collect(),
        version: platform.program.as_ref().and_then(|program| program.version.clone()),
        address,
        servers,
        start_s,
        chosen_because: platform.because.clone(),
        command: Some(command),
        environment: variables,
        io,
        runtime: runtime.map(|runtime| Runtime { in_force: vm, ..runtime }),
        database: None,
    }
}

/// An external server, of which only the endpoint is known.
pub(crate) fn describe_external(endpoint: &Endpoint) -> Platform {
    Platform {
        name: endpoint.url(),
        class: None,
        protocol: endpoint.protocol,
        transport: endpoint.transport(),
        knobs: [].into(),
        version: None,
        address: endpoint.to_string(),
        servers: 1,
        start_s: None,
        chosen_because: None,
        command: None,
        environment: [].into(),
        io: None,
        runtime: None,
        database: None,
    }
}

pub(crate) fn name_and_value(setting: &Setting) -> (String, String) {
    (setting.name.clone(), setting.value.clone())
}
