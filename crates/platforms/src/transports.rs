//! How a platform carries its workloads by each transport that it has.

use std::collections::BTreeMap;

use klatch_record::{ProtocolName, Subprotocol, Transport, WorkloadKind};
use serde::Deserialize;

use crate::configuration_file::ConfigurationFile;

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
    pub(crate) fn carries(
        &self,
        transport: Transport,
        protocol: ProtocolName,
        workload: WorkloadKind,
    ) -> bool {
        let is_declared = self.workloads.is_empty() || self.workloads.contains(&workload);
        is_declared && transport.carries(protocol, workload)
    }
}
