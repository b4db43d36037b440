//! The settings of `chat` that only MQTT has.

use serde::{Deserialize, Serialize};

/// Most characters of the beginning of client identifiers.
const CLIENT_ID_MAX: usize = 100;

/// What only MQTT has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MqttSettings {
    /// Quality of service of messages and subscriptions: 0, at most once; 1, at least once; 2, exactly once.
    pub qos: u32,
    /// Beginning of client identifiers. Absent for one that each crowd makes for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}

impl MqttSettings {
    pub(super) const USUAL: MqttSettings = MqttSettings { qos: 0, client_id: None };

    /// Whether nothing of it was set.
    pub fn is_usual(&self) -> bool {
        *self == MqttSettings::USUAL
    }

    /// Whether a message may be delivered to a user more than once.
    pub fn may_repeat(&self) -> bool {
        self.qos == 1
    }
}

pub(super) fn is_client_id(text: &str) -> bool {
    (1..=CLIENT_ID_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
