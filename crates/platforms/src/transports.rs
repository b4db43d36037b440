//! How a platform carries chat by each transport that it has.

use std::collections::BTreeMap;

use klatch_record::{Subprotocol, Transport};
use serde::Deserialize;

use crate::configuration_file::ConfigurationFile;
use crate::setting::Setting;

/// Name of the knob that selects a transport.
pub const TRANSPORT_KNOB: &str = "transport";

/// How a platform carries chat by one transport.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InTransport {
    /// The arguments that select it; they stand among those of the knobs. Placeholders, beside those of the command: `{certificate}` and
    /// `{key}`, the files of `tls` and `wss`.
    pub arguments: Vec<String>,
    /// The configuration files, if they are not those of the platform.
    pub files: Vec<ConfigurationFile>,
    /// Of `ws`: the path of the WebSocket; default: `/`.
    pub path: Option<String>,
    /// Of `ws`: the subprotocol to ask for, or `none`; default: `text.ircv3.net` for IRC, else none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub subprotocol: Subprotocol,
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
