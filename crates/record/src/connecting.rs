//! How clients connect to a server, beyond its address.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How clients connect to a server, beyond its address. What is absent is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connecting {
    /// Which addresses of a name that has several are used; absent for the first that answers.
    #[serde(default, skip_serializing_if = "AddressChoice::is_first")]
    pub addresses: AddressChoice,
    /// Local addresses from which connections are made in turn; absent for those that the system chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub sources: Vec<IpAddr>,
    /// The one version of TLS that clients offer; absent for 1.3 and 1.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_version: Option<TlsVersion>,
    /// Cipher suites that clients offer, in order, as IANA names them; absent for those with AES_128_GCM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub ciphers: Vec<String>,
    /// File with the certificate of the clients, and those that signed it, in PEM; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// File with the key of that certificate, in PEM; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

/// Which addresses of a server's name are used.
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
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AddressChoice {
    /// The first that answers.
    #[default]
    First,
    /// All that answer, in turn.
    All,
}

/// A version of TLS.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TlsVersion {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    #[strum(serialize = "1.2")]
    V1_2,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    #[strum(serialize = "1.3")]
    V1_3,
}

impl Connecting {
    /// Whether nothing differs from the default.
    pub fn is_usual(&self) -> bool {
        *self == Connecting::default()
    }

    /// Whether something of it belongs to TLS.
    pub fn has_tls(&self) -> bool {
        let Connecting { addresses: _, sources: _, tls_version, ciphers, certificate, key } = self;
        tls_version.is_some() || !ciphers.is_empty() || certificate.is_some() || key.is_some()
    }

    /// The options that set it, names and values.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let Connecting { addresses, sources, tls_version, ciphers, certificate, key } = self;
        let list = |words: Vec<String>| Some(words.join(",")).filter(|list| !list.is_empty());
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let all = [
            ("addresses", Some(addresses.to_string()).filter(|_| !addresses.is_first())),
            ("source-address", list(sources.iter().map(IpAddr::to_string).collect())),
            ("tls-version", tls_version.map(|version| version.to_string())),
            ("ciphers", list(ciphers.clone())),
            ("client-certificate", path(certificate)),
            ("client-key", path(key)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl AddressChoice {
    fn is_first(&self) -> bool {
        *self == AddressChoice::First
    }
}

impl std::str::FromStr for AddressChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<AddressChoice, String> {
        crate::named::named("addresses", text)
    }
}

impl std::str::FromStr for TlsVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<TlsVersion, String> {
        crate::named::named("version of TLS", text)
    }
}
