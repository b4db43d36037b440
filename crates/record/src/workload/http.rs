//! The versions of HTTP in which requests for URLs are made.

use serde::{Deserialize, Serialize};

use super::request::{HeaderField, HeaderValue};

/// Names and meanings.
pub(super) const HTTP_VERSIONS: &[(&str, &str)] = &[
    ("1.1", "HTTP/1.1: replies in the order of the requests"),
    (
        "2",
        "HTTP/2: over TLS where the server chooses it by ALPN, in plain without being asked (prior knowledge)",
    ),
];

/// Fields about the connection, which HTTP/2 has in frames: RFC 9113, section 8.2.2.
const OF_CONNECTION: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "upgrade"];

/// A version of HTTP.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HttpVersion {
    /// HTTP/1.1: replies in the order of the requests.
    #[default]
    #[serde(rename = "1.1")]
    #[strum(serialize = "1.1")]
    Http1,
    /// HTTP/2: a stream for each request in flight.
    #[serde(rename = "2")]
    #[strum(serialize = "2")]
    Http2,
}

impl HttpVersion {
    pub(crate) fn is_1(&self) -> bool {
        *self == HttpVersion::Http1
    }
}

/// Whether requests of HTTP/2 cannot have this header field. Of TE they can have one value.
pub(super) fn is_of_connection(header: &HeaderField) -> bool {
    let is = |name: &str| header.name.eq_ignore_ascii_case(name);
    let is_usual_te = || matches!(&header.value, HeaderValue::Public(value) if value == "trailers");
    OF_CONNECTION.into_iter().any(is) || is("te") && !is_usual_te()
}
