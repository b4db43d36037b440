//! The protocol of a server's clients, and how it is carried.

use std::path::PathBuf;

use klatch_record::{ProtocolName, Transport, Workload};

use crate::plan::{Plan, Target, TargetPlan};
use crate::resolved::ResolvedSubject;

/// What a crowd speaks to a server.
#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    pub(crate) protocol: ProtocolName,
    pub(crate) transport: Transport,
    pub(crate) path: String,
    /// As on the crowd's command line: a name, or `none`; `None` for the crowd's default.
    pub(crate) subprotocol: Option<String>,
    /// File with the authorities that may have signed the certificate.
    pub(crate) ca: Option<PathBuf>,
}

/// A server that is ready, and its part of the workload.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Number of its first party.
    pub start: u32,
    /// Number of its parties.
    pub parties: u32,
    /// Host name or address.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// Protocol of its clients.
    pub protocol: ProtocolName,
    /// What lies between the protocol and TCP.
    pub transport: Transport,
    /// Path of a WebSocket, beginning with `/`.
    pub path: String,
    /// Subprotocol of a WebSocket, or `none`; `None` for the protocol's usual one.
    pub subprotocol: Option<String>,
    /// File with the authorities that may have signed its certificate; `None` for those of the system.
    pub ca: Option<PathBuf>,
}

impl Endpoint {
    pub(crate) fn new(workload: &Workload, (host, port): (&str, u16), carrier: &Carrier) -> Endpoint {
        let Carrier { protocol, transport, path, subprotocol, ca } = carrier.clone();
        let (start, parties, host) = (workload.start(), workload.parties(), host.to_owned());
        Endpoint { start, parties, host, port, protocol, transport, path, subprotocol, ca }
    }
}

impl Carrier {
    /// Of the platform that the plan starts, whose authority is `ca`, or of its target.
    pub(crate) fn new(plan: &Plan, subject: &ResolvedSubject<'_>, ca: Option<PathBuf>) -> Carrier {
        match subject {
            ResolvedSubject::Platform(_, platform) => Carrier {
                protocol: platform.protocol(),
                transport: platform.transport,
                path: platform.in_transport.path.clone().unwrap_or_else(|| "/".to_owned()),
                subprotocol: plan.subprotocol.clone().or_else(|| platform.in_transport.subprotocol.clone()),
                ca,
            },
            ResolvedSubject::Target(TargetPlan { target, ca, .. }) => {
                Carrier { ca: ca.clone(), ..Carrier::of_target(target, plan.subprotocol.clone()) }
            }
        }
    }

    pub(crate) fn of_target(target: &Target, subprotocol: Option<String>) -> Carrier {
        let Target { protocol, transport, path, .. } = target.clone();
        Carrier { protocol, transport, path, subprotocol, ca: None }
    }

    /// The options of a crowd, without its protocol. There are none for plain TCP.
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self.transport {
            Transport::Plain => Vec::new(),
            transport => {
                let mut words = option("transport", transport).to_vec();
                words.extend((self.path != "/").then(|| option("path", &self.path)).into_iter().flatten());
                if transport.has_websocket() {
                    words.extend(self.subprotocol.iter().flat_map(|name| option("subprotocol", name)));
                }
                words.extend(self.ca.iter().flat_map(|file| option("ca", file.display())));
                words
            }
        }
    }
}

/// An option of a crowd with its value.
pub(crate) fn option(name: &str, value: impl ToString) -> [String; 2] {
    [format!("--{name}"), value.to_string()]
}
