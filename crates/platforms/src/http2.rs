//! HTTP/2 of a platform.

use std::collections::BTreeMap;

use klatch_record::{HttpVersion, Transport, Workload};
use serde::Deserialize;

use crate::catalog::Entry;
use crate::platform_error::PlatformError;

/// How a platform speaks HTTP/2 with clients of requests for URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InHttp2 {
    /// Texts that replace `{insert:NAME}` in the configuration files of the platform, after those of the transport.
    pub insert: BTreeMap<String, String>,
    /// The transports by which it speaks HTTP/2; empty for all.
    pub transports: Vec<Transport>,
}

impl Entry {
    /// How it speaks HTTP/2, if the workload asks for it.
    ///
    /// # Errors
    /// It does not, by this transport.
    pub(crate) fn http2_of(
        &self,
        workload: &Workload,
        transport: Transport,
    ) -> Result<Option<InHttp2>, PlatformError> {
        let version = match workload {
            Workload::Rr(rr) if rr.http == HttpVersion::Http2 => rr.http,
            _ => return Ok(None),
        };
        let carries = |one: &&InHttp2| one.transports.is_empty() || one.transports.contains(&transport);
        let spoken = self.http2.as_ref().filter(carries);
        let name = self.name.clone();
        spoken.cloned().map(Some).ok_or(PlatformError::Http { name, version, transport })
    }
}
