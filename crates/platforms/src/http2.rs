//! HTTP/2 of a platform.

use std::collections::BTreeMap;

use klatch_record::Transport;
use serde::Deserialize;

/// How a platform speaks HTTP/2 with clients of requests for URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InHttp2 {
    /// The arguments that select it; they stand after those of the workload.
    pub arguments: Vec<String>,
    /// Texts that replace `{insert:NAME}` in the configuration files of the platform, after those of the transport.
    pub insert: BTreeMap<String, String>,
    /// The transports by which it speaks HTTP/2; empty for all.
    pub transports: Vec<Transport>,
}
