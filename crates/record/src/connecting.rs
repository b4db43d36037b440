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

    /// The settings that differ from the default, and their values.
    pub fn settings(&self) -> Vec<(&'static ConnectingSetting, String)> {
        CONNECTING.iter().filter_map(|setting| Some((setting, (setting.get)(self)?))).collect()
    }
}

/// A setting of how clients connect: an option, a key and an axis of study files, and a part of commands in reports.
pub struct ConnectingSetting {
    /// Its key in study files, and its axis. The option has `-` in place of `_`.
    pub name: &'static str,
    /// What stands for a value in help.
    pub unit: &'static str,
    /// What it is, as help says it.
    pub help: &'static str,
    /// The default, in words; empty without one.
    pub default: &'static str,
    /// The setting that must be given too.
    pub needs: Option<&'static str>,
    get: fn(&Connecting) -> Option<String>,
    set: fn(&mut Connecting, &str) -> Result<(), String>,
}

impl ConnectingSetting {
    /// Its option, without the dashes in front: `source-address`.
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Sets it.
    ///
    /// # Errors
    /// The text is no value of this setting.
    pub fn set(&self, connecting: &mut Connecting, text: &str) -> Result<(), String> {
        (self.set)(connecting, text)
    }
}

/// All settings of how clients connect, each declared once.
pub const CONNECTING: &[ConnectingSetting] = &[
    ConnectingSetting {
        name: "addresses",
        unit: "first|all",
        help: "Addresses to connect to where the name of the server has several: first (that answers), all (that answer, in turn)",
        default: "first",
        needs: None,
        get: |it| Some(it.addresses.to_string()).filter(|_| !it.addresses.is_first()),
        set: |it, text| set(&mut it.addresses, text.parse()),
    },
    ConnectingSetting {
        name: "source_address",
        unit: "ADDRESS,…",
        help: "Local addresses to connect from, in turn",
        default: "those of the system",
        needs: None,
        get: |it| list(it.sources.iter().map(IpAddr::to_string)),
        set: |it, text| {
            let address = |text: &str| {
                text.parse().map_err(|_| format!("source addresses must be IP addresses, got {text}"))
            };
            set(&mut it.sources, text.split(',').map(address).collect())
        },
    },
    ConnectingSetting {
        name: "tls_version",
        unit: "VERSION",
        help: "tls, wss: version of TLS to offer, 1.2 or 1.3",
        default: "both",
        needs: None,
        get: |it| it.tls_version.map(|version| version.to_string()),
        set: |it, text| set(&mut it.tls_version, text.parse().map(Some)),
    },
    ConnectingSetting {
        name: "ciphers",
        unit: "NAME,…",
        help: "tls, wss: cipher suites to offer, by IANA's names",
        default: "those with AES_128_GCM",
        needs: None,
        get: |it| list(it.ciphers.iter().cloned()),
        set: |it, text| set(&mut it.ciphers, Ok(text.split(',').map(str::to_owned).collect())),
    },
    ConnectingSetting {
        name: "client_certificate",
        unit: "FILE",
        help: "tls, wss: file with the certificate of the clients, in PEM",
        default: "",
        needs: Some("client_key"),
        get: |it| path(&it.certificate),
        set: |it, text| set(&mut it.certificate, Ok(Some(text.into()))),
    },
    ConnectingSetting {
        name: "client_key",
        unit: "FILE",
        help: "tls, wss: file with the key of that certificate, in PEM",
        default: "",
        needs: Some("client_certificate"),
        get: |it| path(&it.key),
        set: |it, text| set(&mut it.key, Ok(Some(text.into()))),
    },
];

fn set<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

fn list(words: impl Iterator<Item = String>) -> Option<String> {
    Some(words.collect::<Vec<_>>().join(",")).filter(|list| !list.is_empty())
}

fn path(path: &Option<PathBuf>) -> Option<String> {
    path.as_ref().map(|path| path.display().to_string())
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
