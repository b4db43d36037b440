//! Addresses of external servers, as users write them.

use std::str::FromStr;

use klatch_record::{
    Authorities, Endpoint, Login, ProtocolName, Transport, WebSocket, WorkloadKind, similar_to,
    without_logins,
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

/// An external server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its address, and how its clients reach it.
    pub endpoint: Endpoint,
    /// Path on an HTTP server, with a query: the URL of requests, or the context root of a web application; `None` if the address has none.
    pub path: Option<String>,
    /// What its clients say of themselves; `None` if the address has no `@`.
    pub login: Option<Login>,
}

/// A text that is not the address of a server.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TargetError {
    /// It has no scheme, which names the protocol.
    #[error("{0} does not say which protocol the server speaks: did you mean irc://{0}? There are {schemes}", schemes = schemes())]
    NoScheme(String),
    /// No protocol has this scheme.
    #[error("there is no protocol {0}; {instead}", instead = instead_of_scheme(.0))]
    Scheme(String),
    /// It has no port.
    #[error("{0} has no port, as in irc://127.0.0.1:6667")]
    NoPort(String),
    /// Its port is no number of a port.
    #[error("a port is 1 to 65,535, got {0}")]
    Port(String),
    /// Its protocol has no login.
    #[error(
        "clients log in with irc, redis, nats, mqtt and postgres, not with {0}: leave out user and password"
    )]
    Login(ProtocolName),
    /// User or password cannot be sent.
    #[error(
        "user and password are text in UTF-8 without control characters; %XX stands for a character such as @ or /"
    )]
    LoginText,
    /// It has something else that an address does not have.
    #[error(
        "a target has the form irc://host:port, with a path for WebSocket and HTTP alone, got {0}; there are {schemes}",
        schemes = schemes()
    )]
    Form(String),
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let wrong = || TargetError::Form(without_logins(text));
        let (scheme, address) =
            text.split_once("://").ok_or_else(|| TargetError::NoScheme(without_logins(text)))?;
        let (protocol, transport) =
            parse_scheme(scheme).ok_or_else(|| TargetError::Scheme(scheme.to_owned()))?;
        let is_http = protocol == ProtocolName::Http;
        let host_ends = address.find('/').unwrap_or(address.len());
        let (login, address) = match address[..host_ends].rfind('@') {
            Some(at) => (Some(parse_login(&address[..at])?), &address[at + 1..]),
            // Only a path may contain it.
            None if address.contains('@') && !transport.has_websocket() && !is_http => {
                return Err(TargetError::LoginText);
            }
            None => (None, address),
        };
        if login.is_some() && !protocol.has_login() {
            return Err(TargetError::Login(protocol));
        }
        let (address, given) = match address.find('/') {
            Some(at) if transport.has_websocket() || is_http => (&address[..at], Some(&address[at..])),
            _ => (address, None),
        };
        let path = given.unwrap_or("/");
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        let usual_port = if transport.has_tls() { "443" } else { "80" };
        // The colons of an IPv6 address stand in brackets.
        let (host, port) = match address.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some(parts) => parts,
            None if is_http => (address, usual_port),
            None => return Err(TargetError::NoPort(without_logins(text))),
        };
        // An IPv6 address stands in brackets.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err(wrong());
        }
        let number = port.parse().ok().filter(|&port| port > 0);
        let port = number.ok_or_else(|| TargetError::Port(port.to_owned()))?;
        let websocket = WebSocket { path: path.to_owned(), ..WebSocket::root() };
        let endpoint = Endpoint {
            websocket: transport.has_websocket().then_some(websocket),
            tls: transport.has_tls().then_some(Authorities::System),
            ..Endpoint::plain(protocol, host, port)
        };
        Ok(Target { endpoint, path: given.filter(|_| is_http).map(str::to_owned), login })
    }
}

impl Target {
    /// Context root of a web application on an HTTP server, without a slash at its end; `None` for the whole server.
    pub fn context_root(&self) -> Option<&str> {
        self.path.as_deref().map(|path| path.trim_end_matches('/')).filter(|root| !root.is_empty())
    }

    /// The address with its scheme, user and path, as users write it; without the password.
    pub fn url(&self) -> String {
        let path = self.endpoint.websocket.as_ref().map(|websocket| websocket.path.as_str());
        let path = path.filter(|path| *path != "/").or(self.path.as_deref());
        let url = self.endpoint.url() + path.unwrap_or_default();
        let Some(login) = &self.login else { return url };
        let user = utf8_percent_encode(login.user.as_deref().unwrap_or_default(), NON_ALPHANUMERIC);
        url.replacen("://", &format!("://{user}@"), 1)
    }
}

/// The part of an address before its `@`: a user, a password after a colon, or both.
fn parse_login(text: &str) -> Result<Login, TargetError> {
    let (user, password) = text.split_once(':').map_or((text, None), |(user, word)| (user, Some(word)));
    let decoded = |part: &str| {
        let text = percent_decode_str(part).decode_utf8().map_err(|_| TargetError::LoginText)?;
        if text.chars().any(char::is_control) { Err(TargetError::LoginText) } else { Ok(text.into_owned()) }
    };
    let user = Some(user).filter(|user| !user.is_empty()).map(decoded).transpose()?;
    Ok(Login { user, password: password.map(decoded).transpose()? })
}

/// The protocol and the transport of an address, as [`Transport::scheme`] writes them.
fn parse_scheme(scheme: &str) -> Option<(ProtocolName, Transport)> {
    targets().find(|(protocol, transport)| transport.scheme(*protocol) == scheme)
}

/// The schemes that targets have, in words.
fn schemes() -> String {
    let plain: Vec<String> = targets()
        .filter(|(_, transport)| transport.is_plain())
        .map(|(protocol, transport)| transport.scheme(protocol))
        .collect();
    format!("{}, with an s at the end for TLS, and ws and wss for IRC over WebSocket", plain.join(", "))
}

fn instead_of_scheme(got: &str) -> String {
    let all: Vec<String> = targets().map(|(protocol, transport)| transport.scheme(protocol)).collect();
    similar_to(got, &all)
        .map_or_else(|| format!("there are {}", schemes()), |name| format!("did you mean {name}?"))
}

/// What servers speak, and how: files have no server that listens.
fn targets() -> impl Iterator<Item = (ProtocolName, Transport)> {
    let protocols = || ProtocolName::ALL.into_iter().filter(|protocol| *protocol != ProtocolName::File);
    let every = protocols()
        .flat_map(|protocol| Transport::ALL.into_iter().map(move |transport| (protocol, transport)));
    every.filter(|(protocol, transport)| {
        let carried = |kind: &WorkloadKind| protocol.carries(*kind) && transport.carries(*protocol, *kind);
        WorkloadKind::ALL.iter().any(carried) || transport.is_plain()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_stands_before_the_host_and_its_password_is_not_written() {
        let login = |url: &str| url.parse::<Target>().unwrap().login;
        let of = |user: Option<&str>, password: Option<&str>| {
            Some(Login { user: user.map(str::to_owned), password: password.map(str::to_owned) })
        };
        assert_eq!(login("redis://alice:p%40ss@h:1"), of(Some("alice"), Some("p@ss")));
        assert_eq!(login("nats://:token@[::1]:1"), of(None, Some("token")));
        assert_eq!(login("mqtt://alice@h:1"), of(Some("alice"), None));
        assert_eq!((login("irc://@h:1"), login("irc://h:1")), (of(None, None), None));
        assert_eq!(login("ws://u:p@h:1/a@b"), of(Some("u"), Some("p")));
        assert_eq!("ws://h:1/a@b".parse::<Target>().unwrap().login, None);
        let url = |text: &str| text.parse::<Target>().unwrap().url();
        assert_eq!(url("rediss://al ice:secret@h:1"), "rediss://al%20ice@h:1");
        assert_eq!(url(&url("wss://a%3Ab:secret@h:1/p")), "wss://a%3Ab@h:1/p");
        for (wrong, answer) in [
            ("http://u:p@h:1", "leave out user and password"),
            ("redis://u:p%0d@h:1", "without control characters"),
            ("redis://u:secret@h", "has no port"),
            ("redis://u:secret/1@h:1", "%XX stands for a character such as @ or /"),
        ] {
            let error = wrong.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(answer) && !error.contains("secret"), "{wrong}: {error}");
        }
    }

    #[test]
    fn targets_have_a_host_and_a_port() {
        let nats: Target = "nats://chat.example:4222".parse().unwrap();
        assert_eq!(nats.endpoint, Endpoint::plain(ProtocolName::Nats, "chat.example", 4222));
        let at = |text: &str| {
            let Endpoint { protocol, websocket, tls, .. } = text.parse::<Target>().unwrap().endpoint;
            (protocol, websocket.map(|websocket| websocket.path), tls)
        };
        assert_eq!(at("ws://[::1]:80/irc?a=b"), (ProtocolName::Irc, Some("/irc?a=b".to_owned()), None));
        assert_eq!(at("nats+ws://x:80"), (ProtocolName::Nats, Some("/".to_owned()), None));
        assert_eq!(at("ircs://x:1"), (ProtocolName::Irc, None, Some(Authorities::System)));
        for url in
            ["nats://chat.example:4222", "wss://[::1]:80/irc?a=b", "http://x:9080/daytrader", "https://x:1/"]
        {
            assert_eq!(url.parse::<Target>().unwrap().url(), url);
        }
        for (short, url) in [
            ("https://x/a?b=c:d", "https://x:443/a?b=c:d"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
        ] {
            assert_eq!(short.parse::<Target>().unwrap().url(), url);
        }
        assert_eq!(at("https://x"), (ProtocolName::Http, None, Some(Authorities::System)));
        let path = |text: &str| text.parse::<Target>().unwrap().path;
        assert_eq!(
            (path("http://x/"), path("http://x"), path("ws://x:1/irc")),
            (Some("/".to_owned()), None, None)
        );
        let root = |text: &str| text.parse::<Target>().unwrap().context_root().map(str::to_owned);
        assert_eq!(root("http://x:9080/daytrader/"), Some("/daytrader".to_owned()));
        assert_eq!(
            (root("http://x:9080/"), root("http://x:9080"), root("ws://x:80/irc")),
            (None, None, None)
        );
        let v6 = "irc://[::1]:6667".parse::<Target>().unwrap().endpoint;
        assert_eq!((v6.host.as_str(), v6.to_string().as_str()), ("::1", "[::1]:6667"));
        for (wrong, answer) in [
            ("", " does not say which protocol"),
            ("chat.example:6667", "did you mean irc://chat.example:6667?"),
            ("irc://chat.example", "irc://chat.example has no port, as in irc://127.0.0.1:6667"),
            ("irc://:6667", "a target has the form irc://host:port"),
            ("irc://x:0", "a port is 1 to 65,535, got 0"),
            ("irc://x:99999", "a port is 1 to 65,535, got 99999"),
            ("irc://x:1/path", "a port is 1 to 65,535, got 1/path"),
            ("fax://x:1", "there is no protocol fax; there are irc, redis"),
            ("postgress://x:1", "there is no protocol postgress; did you mean postgres?"),
            ("htp://x:1", "there is no protocol htp; did you mean http?"),
            ("file://x:1", "there is no protocol file; there are"),
            ("ws://x:1/a b", "a target has the form irc://host:port"),
            ("http+ws://x:1", "there is no protocol http+ws"),
        ] {
            let error = wrong.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(answer), "{wrong}: {error}");
        }
    }
}
