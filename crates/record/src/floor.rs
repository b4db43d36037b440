//! How near servers and the crowd are to what the machine itself takes for a message.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Build, ChatWorkload, Class, Pacing, RatioEstimate, Workload, WorkloadKind};

/// The schema name that every line carries in [`FloorResult::schema`].
pub const FLOOR_SCHEMA_NAME: &str = "klatch-floor/1";

/// One sitting of `klatch floor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorResult {
    /// The schema of this JSON, always `klatch-floor/1`.
    pub schema: String,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// Which Klatch this is.
    pub klatch: Build,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Model name of the CPU, from /proc/cpuinfo; `null` where that does not name one.
    pub cpu_model: Option<String>,
    /// CPUs of the machine.
    pub cpus: u32,
    /// The workload of all rows: `chat`, `rr` or `web`.
    #[serde(default, skip_serializing_if = "WorkloadKind::is_chat")]
    pub workload: WorkloadKind,
    /// Users of a room; 0 for other workloads than chat.
    pub users: u32,
    /// What the loopback took for a request and its reply: medians of the probes; `None` for chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeCost>,
    /// What the loopback took: medians of the probes before each start of a server.
    pub floor: LoopbackCost,
    /// Every server, under every pacing.
    pub rows: Vec<FloorRow>,
}

/// CPU time of single calls over loopback, µs, each on the CPU of its side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackCost {
    /// A system call that does nothing.
    pub null_call_us: f64,
    /// The crowd sends one line to the server.
    #[serde(rename = "said_send_us")]
    pub line_send_us: f64,
    /// The server receives it.
    #[serde(rename = "said_receive_us")]
    pub line_receive_us: f64,
    /// The server sends one delivery.
    pub delivery_send_us: f64,
    /// The crowd receives it.
    pub delivery_receive_us: f64,
    /// Deliveries that are sent together below: those of one round.
    pub batch_lines: u32,
    /// The crowd sends one line where those of all users go together; `None` in sittings in which that was not probed.
    #[serde(rename = "batch_said_send_us")]
    pub batch_line_send_us: Option<f64>,
    /// The server receives it; `None` likewise.
    #[serde(rename = "batch_said_receive_us")]
    pub batch_line_receive_us: Option<f64>,
    /// Messages that the server sends in one call.
    pub batch_send_us: f64,
    /// The crowd receives them in one call.
    pub batch_receive_us: f64,
}

/// The loads whose cost is compared with that of the loopback, in the order of tables.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FloorLoad {
    /// Chat in turns: a call for each delivery.
    Turns,
    /// Chat in rounds: a round of deliveries in a call.
    Rounds,
    /// Workload `rr`.
    Rr,
    /// Workload `web`.
    Web,
}

impl FloorLoad {
    /// All loads, in the order of tables.
    pub const ALL: [FloorLoad; 4] = crate::variants();

    /// The load of a workload; `None` if its cost cannot be compared.
    pub fn of(workload: &Workload) -> Option<FloorLoad> {
        match workload {
            Workload::Chat(ChatWorkload { pacing: Pacing::Turns, .. }) => Some(FloorLoad::Turns),
            Workload::Chat(ChatWorkload { pacing: Pacing::Rounds { .. }, .. }) => Some(FloorLoad::Rounds),
            Workload::Rr(_) => Some(FloorLoad::Rr),
            Workload::Web(_) => Some(FloorLoad::Web),
            _ => None,
        }
    }

    /// Its word in tables.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One server under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorRow {
    /// Name of the platform.
    pub platform: String,
    /// The platform's class; `null` for the crowd.
    pub class: Option<Class>,
    /// The load: the pacing of chat, or another workload.
    pub pacing: FloorLoad,
    /// CPU time of the server per message, or per operation of other workloads than chat, µs, by block.
    pub server_us: Vec<f64>,
    /// CPU time of the crowd per message or operation, µs, by block.
    pub crowd_us: Vec<f64>,
    /// The server's over the floor's part of the server.
    pub server_to_floor: Option<RatioEstimate>,
    /// The crowd's over the floor's part of the crowd.
    pub crowd_to_floor: Option<RatioEstimate>,
    /// The server's over that of each server of another project.
    pub to_peers: BTreeMap<String, RatioEstimate>,
}

/// CPU time of the calls of one request and its reply over loopback, µs, each on the CPU of its side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExchangeCost {
    /// Connections that take turns.
    pub connections: u32,
    /// Bytes of a request.
    pub request_bytes: u32,
    /// Bytes of a reply.
    pub reply_bytes: u32,
    /// The crowd sends a request.
    pub request_send_us: f64,
    /// The server receives it.
    pub request_receive_us: f64,
    /// The server sends the reply.
    pub reply_send_us: f64,
    /// The crowd receives it.
    pub reply_receive_us: f64,
}

impl ExchangeCost {
    /// The least that an operation costs server and crowd, µs.
    pub fn per_operation_us(&self) -> (f64, f64) {
        (self.request_receive_us + self.reply_send_us, self.request_send_us + self.reply_receive_us)
    }
}

impl FloorResult {
    /// The least that a message or operation of these rows costs server and crowd, µs.
    pub fn least_us(&self, load: FloorLoad) -> (f64, f64) {
        match &self.exchange {
            Some(exchange) => exchange.per_operation_us(),
            None => self.floor.per_message_us(self.users, load == FloorLoad::Rounds),
        }
    }
}

impl LoopbackCost {
    /// The least that a message costs server and crowd, µs, in rooms of `users` users: each message is received by the
    /// server once and sent to all others, one by one or, where they go `together`, a round of deliveries in a call.
    pub fn per_message_us(&self, users: u32, together: bool) -> (f64, f64) {
        let (users, others) = (f64::from(users), f64::from(users - 1));
        let (server_us, crowd_us) = match together {
            // Other sizes of rooms make other batches; most of what a line adds to a call is the copying of its bytes.
            true => (
                self.batch_line_receive_us.unwrap_or(self.line_receive_us) + self.batch_send_us,
                self.batch_line_send_us.unwrap_or(self.line_send_us) + self.batch_receive_us,
            ),
            false => (
                self.line_receive_us + others * self.delivery_send_us,
                self.line_send_us + others * self.delivery_receive_us,
            ),
        };
        (server_us / users, crowd_us / users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_costs_one_call_in_and_one_out_for_each_listener_or_for_all() {
        let cost = LoopbackCost {
            null_call_us: 0.1,
            line_send_us: 4.0,
            line_receive_us: 1.0,
            delivery_send_us: 5.0,
            delivery_receive_us: 2.0,
            batch_lines: 19,
            batch_line_send_us: Some(3.5),
            batch_line_receive_us: Some(0.5),
            batch_send_us: 9.0,
            batch_receive_us: 3.0,
        };
        assert_eq!(cost.per_message_us(20, false), ((1.0 + 95.0) / 20.0, (4.0 + 38.0) / 20.0));
        assert_eq!(cost.per_message_us(20, true), (9.5 / 20.0, 6.5 / 20.0));
        let before = LoopbackCost { batch_line_send_us: None, batch_line_receive_us: None, ..cost };
        assert_eq!(before.per_message_us(20, true), (10.0 / 20.0, 7.0 / 20.0));
    }
}
