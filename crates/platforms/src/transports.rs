//! The transports of a platform.

use std::collections::BTreeMap;

use klatch_record::{ProtocolName, Subprotocol, Transport, WorkloadKind};
use serde::Deserialize;

use crate::catalog::Entry;
use crate::configuration_file::ConfigurationFile;
use crate::setting::{KnobError, Setting};

/// Name of the knob that selects a transport.
pub const TRANSPORT_KNOB: &str = "transport";

/// How a platform carries its workloads by one transport.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InTransport {
    /// The arguments that select it; they stand among those of the knobs. Placeholders, beside those of the command: `{certificate}` and
    /// `{key}`, the files of `tls` and `wss`.
    pub arguments: Vec<String>,
    /// The configuration files, if they are not those of the platform.
    pub files: Vec<ConfigurationFile>,
    /// Texts that replace `{insert:NAME}` in the configuration files of the platform.
    pub insert: BTreeMap<String, String>,
    /// The workloads that it carries; empty for all of the platform that can have this transport.
    pub workloads: Vec<WorkloadKind>,
    /// Of `ws`: the path of the WebSocket; default: `/`.
    pub path: Option<String>,
    /// Of `ws`: the subprotocol to ask for, or `none`; default: `text.ircv3.net` for IRC, else none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub subprotocol: Subprotocol,
}

impl InTransport {
    /// Whether the platform carries a workload, whose protocol this is, by this `transport`.
    fn carries(&self, transport: Transport, protocol: ProtocolName, workload: WorkloadKind) -> bool {
        let is_declared = self.workloads.is_empty() || self.workloads.contains(&workload);
        is_declared && transport.carries(protocol, workload)
    }
}

impl Entry {
    /// The transports by which it carries a workload. Without a table it is `plain`.
    pub fn transports_of(&self, workload: WorkloadKind) -> BTreeMap<Transport, InTransport> {
        let of_workload = self.workloads.get(&workload).and_then(|one| one.protocol);
        let protocol = of_workload.unwrap_or(self.protocol);
        if self.transports.is_empty() {
            return [(Transport::Plain, InTransport::default())].into();
        }
        let carrying =
            |(transport, one): &(&Transport, &InTransport)| one.carries(**transport, protocol, workload);
        let own = self.transports.iter().filter(carrying);
        own.map(|(transport, one)| (*transport, one.clone())).collect()
    }
}

/// Rejects a transport by which the platform does not carry the workload.
///
/// # Errors
/// The settings select one of those.
pub(crate) fn check_selected(
    platform: &str,
    workload: WorkloadKind,
    transports: &BTreeMap<Transport, InTransport>,
    settings: &[Setting],
) -> Result<(), KnobError> {
    let values = settings.iter().filter(|setting| setting.name == TRANSPORT_KNOB);
    let mut selected = values.filter_map(|setting| setting.value.parse().ok());
    let Some(transport) = selected.find(|one| !transports.contains_key(one)) else { return Ok(()) };
    let available: Vec<&str> = transports.keys().map(|one| one.name()).collect();
    Err(KnobError::Transport {
        platform: platform.to_owned(),
        workload,
        transport,
        available: available.join(", "),
    })
}

/// The transport that the settings select, and how the platform carries it. Without such a setting it is the first of the platform.
pub(crate) fn selected(
    transports: &BTreeMap<Transport, InTransport>,
    settings: &[Setting],
) -> (Transport, InTransport) {
    let setting = settings.iter().find(|setting| setting.name == TRANSPORT_KNOB);
    let named = setting.and_then(|setting| setting.value.parse().ok());
    let kind = named.or_else(|| transports.keys().next().copied()).unwrap_or_default();
    (kind, transports.get(&kind).cloned().unwrap_or_default())
}
