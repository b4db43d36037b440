//! By which transports and versions of HTTP a platform carries a workload.

use std::collections::BTreeMap;

use klatch_record::{HttpVersion, Transport, Workload, WorkloadKind};

use crate::catalog::Entry;
use crate::http2::InHttp2;
use crate::platform_error::PlatformError;
use crate::setting::{KnobError, Setting};
use crate::transports::{InTransport, TRANSPORT_KNOB};

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

    /// Whether it speaks HTTP/2 by this transport.
    pub fn speaks_http2(&self, transport: Transport) -> bool {
        let carries = |one: &InHttp2| one.transports.is_empty() || one.transports.contains(&transport);
        self.http2.as_ref().is_some_and(carries)
    }

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
        let spoken = self.http2.as_ref().filter(|_| self.speaks_http2(transport));
        let name = self.name.clone();
        spoken.cloned().map(Some).ok_or(PlatformError::Http { name, version, transport })
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
