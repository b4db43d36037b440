//! What lies between a protocol and TCP.

use serde::{Deserialize, Serialize};

use crate::record::is_zero;
use crate::{ProtocolName, WorkloadKind};

/// What lies between the bytes of a protocol and the TCP connection.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Nothing: the bytes are those of TCP.
    #[default]
    Plain,
    /// WebSocket (RFC 6455) without extensions.
    Ws,
    /// TLS 1.3, or 1.2 with an external server, with certificates that are checked.
    Tls,
    /// WebSocket, and TLS around it.
    Wss,
}

impl Transport {
    /// All transports, in the order in which help lists them.
    pub const ALL: [Transport; 4] = crate::variants();

    /// Its name on the command line and in the catalog.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The scheme of a server's address: `irc`, `ircs` for TLS, `ws` for IRC over WebSocket, `nats+ws`.
    pub fn scheme(self, protocol: ProtocolName) -> String {
        match (self, protocol) {
            (Transport::Plain, _) => protocol.name().to_owned(),
            (Transport::Ws, ProtocolName::Irc) => "ws".to_owned(),
            (Transport::Ws, _) => format!("{}+ws", protocol.name()),
            (Transport::Tls, _) => format!("{}s", protocol.name()),
            (Transport::Wss, ProtocolName::Irc) => "wss".to_owned(),
            (Transport::Wss, _) => format!("{}+wss", protocol.name()),
        }
    }

    /// Whether it begins with a TLS handshake.
    pub fn has_tls(self) -> bool {
        matches!(self, Transport::Tls | Transport::Wss)
    }

    /// Whether it carries a workload in this protocol: chat by all transports, requests and sites by TLS too.
    pub fn carries(self, protocol: ProtocolName, workload: WorkloadKind) -> bool {
        match workload {
            WorkloadKind::Chat => true,
            // Clients of PostgreSQL ask for TLS in its own protocol first.
            WorkloadKind::Rr | WorkloadKind::Web if self == Transport::Tls => {
                protocol != ProtocolName::Postgres
            }
            _ => self.is_plain(),
        }
    }

    /// Whether messages are those of a WebSocket.
    pub fn has_websocket(self) -> bool {
        matches!(self, Transport::Ws | Transport::Wss)
    }

    /// Whether it is the default; then records do not name it.
    pub fn is_plain(&self) -> bool {
        *self == Transport::Plain
    }
}

/// What the connections of a run agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TlsSession {
    /// Version of the protocol: `TLSv1.3`, or `TLSv1.2`.
    pub version: String,
    /// Cipher suite, as IANA names it: `TLS_AES_128_GCM_SHA256`.
    pub cipher: String,
    /// Connections that resumed the session of an earlier one, of those that were open at the end. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumed: u64,
    /// Connections whose records the kernel made on the crowd's side (kTLS), of those that were open at the end. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_kernel: u64,
}

impl TlsSession {
    /// This and another connection, or those of another part of the crowd.
    #[must_use]
    pub fn with(self, other: TlsSession) -> TlsSession {
        let (resumed, in_kernel) = (self.resumed + other.resumed, self.in_kernel + other.in_kernel);
        TlsSession { resumed, in_kernel, ..self }
    }
}

impl std::str::FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Transport, String> {
        crate::named::named("transport", text)
    }
}
