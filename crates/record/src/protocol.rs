//! The wire protocols of servers, and the name of having none.

use serde::{Deserialize, Serialize};

use crate::WorkloadKind;

/// The protocols that a crowd speaks.
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
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProtocolName {
    /// IRC over TCP, as in RFC 2812.
    Irc,
    /// Redis publish/subscribe, RESP3. The server delivers to the speaker too; that is not counted.
    Redis,
    /// The text protocol of NATS.
    Nats,
    /// MQTT 5, or 3.1.1 where a broker refuses 5.
    Mqtt,
    /// Every byte comes back, as in RFC 862.
    Echo,
    /// HTTP/1.1.
    Http,
    /// The protocol of PostgreSQL, version 3.0; a password by SCRAM-SHA-256.
    Postgres,
    /// None: files are read by system calls.
    File,
}

/// A version of MQTT that a crowd spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MqttVersion {
    /// MQTT 5.
    #[serde(rename = "5")]
    V5,
    /// MQTT 3.1.1, because the broker refused 5. It delivers a message to its speaker as well, which is not counted.
    #[serde(rename = "3.1.1")]
    V311,
}

impl MqttVersion {
    /// Its number.
    pub fn name(self) -> &'static str {
        match self {
            MqttVersion::V5 => "5",
            MqttVersion::V311 => "3.1.1",
        }
    }
}

impl ProtocolName {
    /// All protocols, in the order in which help lists them.
    pub const ALL: [ProtocolName; 8] = crate::variants();

    /// Whether it can carry this kind of workload.
    pub fn carries(self, workload: WorkloadKind) -> bool {
        match workload {
            WorkloadKind::Chat => {
                matches!(
                    self,
                    ProtocolName::Irc | ProtocolName::Redis | ProtocolName::Nats | ProtocolName::Mqtt
                )
            }
            WorkloadKind::Web | WorkloadKind::Trade | WorkloadKind::Orders => self == ProtocolName::Http,
            WorkloadKind::Files => self == ProtocolName::File,
            WorkloadKind::Rr => matches!(
                self,
                ProtocolName::Echo | ProtocolName::Http | ProtocolName::Redis | ProtocolName::Postgres
            ),
        }
    }

    /// Whether its clients can say who they are, under each workload that it carries.
    pub fn has_login(self) -> bool {
        matches!(
            self,
            ProtocolName::Irc
                | ProtocolName::Redis
                | ProtocolName::Nats
                | ProtocolName::Mqtt
                | ProtocolName::Postgres
        )
    }

    /// Names of the workloads that it can carry, in the order in which help lists them.
    pub fn workloads(self) -> Vec<&'static str> {
        let carried = WorkloadKind::ALL.into_iter().filter(|workload| self.carries(*workload));
        carried.map(WorkloadKind::name).collect()
    }

    /// Its name on the command line and in the catalog.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for ProtocolName {
    type Err = String;

    fn from_str(text: &str) -> Result<ProtocolName, String> {
        crate::named::named("protocol", text)
    }
}
