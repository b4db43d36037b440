//! The address of a server, and how its clients reach it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::{Connecting, ProtocolName, Transport};

/// A server as its clients reach it. `T` is what a client has for TLS: the authorities that it trusts, or settings made from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint<T = Authorities> {
    /// Protocol of its clients.
    pub protocol: ProtocolName,
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port, not 0.
    pub port: u16,
    /// The messages are those of a WebSocket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocket>,
    /// A TLS handshake begins each connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<T>,
    /// How connections are made; absent for the default.
    #[serde(default, skip_serializing_if = "Connecting::is_usual")]
    pub connecting: Connecting,
}

/// What a client asks for to open a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSocket {
    /// Path, beginning with `/`.
    pub path: String,
    /// Subprotocol; absent for the usual one.
    #[serde(default, skip_serializing_if = "Subprotocol::is_usual")]
    pub subprotocol: Subprotocol,
}

/// The subprotocol that a client asks for, and that the server must agree to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Subprotocol {
    /// That of lines of IRC, `text.ircv3.net`; none for other protocols.
    #[default]
    Usual,
    /// None.
    Absent,
    /// One with this name.
    Named(String),
}

/// The authorities that may have signed the certificate of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authorities {
    /// Those of the system.
    #[default]
    System,
    /// Those in this file, in PEM.
    File(PathBuf),
}

impl<T> Endpoint<T> {
    /// A server at a TCP port, without more between the protocol and TCP.
    pub fn plain(protocol: ProtocolName, host: impl Into<String>, port: u16) -> Endpoint<T> {
        Endpoint {
            protocol,
            host: host.into(),
            port,
            websocket: None,
            tls: None,
            connecting: Connecting::default(),
        }
    }

    /// What lies between the protocol and TCP.
    pub fn transport(&self) -> Transport {
        match (&self.websocket, &self.tls) {
            (None, None) => Transport::Plain,
            (Some(_), None) => Transport::Ws,
            (None, Some(_)) => Transport::Tls,
            (Some(_), Some(_)) => Transport::Wss,
        }
    }

    /// The same with other settings of TLS, where it has TLS.
    ///
    /// # Errors
    /// Those of `settings`.
    pub fn try_with_tls<U, E>(self, settings: impl FnOnce(T) -> Result<U, E>) -> Result<Endpoint<U>, E> {
        let Endpoint { protocol, host, port, websocket, tls, connecting } = self;
        Ok(Endpoint { protocol, host, port, websocket, tls: tls.map(settings).transpose()?, connecting })
    }

    /// The address with the scheme of its protocol and transport: `irc://127.0.0.1:6667`.
    pub fn url(&self) -> String {
        format!("{}://{self}", self.transport().scheme(self.protocol))
    }
}

impl<T> fmt::Display for Endpoint<T> {
    /// Host and port as one word, with brackets around an IPv6 address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint { host, port, .. } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Subprotocol {
    /// The name to ask for, if any; `usual` is that of the protocol.
    pub fn name<'a>(&'a self, usual: Option<&'a str>) -> Option<&'a str> {
        match self {
            Subprotocol::Usual => usual,
            Subprotocol::Absent => None,
            Subprotocol::Named(name) => Some(name),
        }
    }

    fn is_usual(&self) -> bool {
        *self == Subprotocol::Usual
    }

    /// The word for it on command lines and in records; `None` for the usual one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Subprotocol::Usual => None,
            Subprotocol::Absent => Some(ABSENT),
            Subprotocol::Named(name) => Some(name),
        }
    }
}

/// The word for no subprotocol.
const ABSENT: &str = "none";

impl FromStr for Subprotocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Subprotocol, String> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        match text {
            ABSENT => Ok(Subprotocol::Absent),
            name if !name.is_empty() && name.bytes().all(is_token) => Ok(Subprotocol::Named(name.to_owned())),
            other => Err(format!("a subprotocol must be a name without spaces, or {ABSENT}, got {other}")),
        }
    }
}

impl TryFrom<String> for Subprotocol {
    type Error = String;

    fn try_from(text: String) -> Result<Subprotocol, String> {
        text.parse()
    }
}

impl Serialize for Subprotocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.word().serialize(serializer)
    }
}

impl WebSocket {
    /// The root of a server, with the usual subprotocol of the protocol.
    pub fn root() -> WebSocket {
        WebSocket { path: "/".to_owned(), subprotocol: Subprotocol::Usual }
    }
}

impl Authorities {
    /// Those of the file, or of the system without one.
    pub fn of(file: Option<PathBuf>) -> Authorities {
        file.map_or(Authorities::System, Authorities::File)
    }

    /// The file; `None` for those of the system.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Authorities::System => None,
            Authorities::File(file) => Some(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subprotocol_is_a_token_or_none() {
        assert_eq!("none".parse(), Ok(Subprotocol::Absent));
        assert_eq!("mqtt".parse(), Ok(Subprotocol::Named("mqtt".to_owned())));
        for wrong in ["", "a b", "a,b"] {
            assert!(wrong.parse::<Subprotocol>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_ipv6_address_has_brackets() {
        let address = |host| Endpoint::<Authorities>::plain(ProtocolName::Irc, host, 6667).url();
        assert_eq!(address("::1"), "irc://[::1]:6667");
        assert_eq!(address("chat.example"), "irc://chat.example:6667");
    }
}
