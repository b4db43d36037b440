//! What a crowd does to a server, or a reader to its files.

mod arrivals;
mod chat;
mod error;
mod files;
mod http;
mod kinds;
mod mqtt;
mod orders;
pub(crate) mod request;
mod rr;
pub mod settings;
mod stages;
mod trade;
mod values;
mod web;

use serde::{Deserialize, Serialize};

pub use arrivals::Arrivals;
pub use chat::{ChatWorkload, Pacing};
pub use error::WorkloadError;
pub use files::{FILE_PAGE_BYTES, FilesWorkload, ReadOrder};
pub use http::HttpVersion;
pub use mqtt::MqttSettings;
pub use orders::OrdersWorkload;
pub use request::{HEADER, HeaderField, HeaderValue, JsonValue};
pub use rr::RrWorkload;
pub use stages::{Stage, Stages};
pub use trade::{TradeMix, TradeWorkload};
pub use web::{CONTENT_SEED, WebWorkload};

use crate::ProtocolName;
use settings::Setting;

/// Most users of a local crowd that connect from one address; the following ones use the next address.
pub const CONNECTIONS_PER_SOURCE: u32 = 10_000;

/// Longest time of a run, one day, seconds.
const SECONDS_MAX: f64 = 86_400.0;

/// Largest rate of a schedule, 1/s.
const RATE_MAX: f64 = 1e6;

/// Messages of each user in a run that is to be ended by its parent: more than a day of them.
const COUNT_MAX: u32 = 100_000_000;

/// What a crowd does to a server. Definition: `docs/reference/benchmark.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Workload {
    /// Users in rooms: chat.
    Chat(ChatWorkload),
    /// Requests, and a reply to each.
    Rr(RrWorkload),
    /// Files and pages of a web site, over lines of a speed.
    Web(WebWorkload),
    /// Traders at a brokerage, whose accounts a database keeps.
    Trade(TradeWorkload),
    /// Dealers, factories and suppliers, whose orders a database keeps.
    Orders(OrdersWorkload),
    /// Blocks of files in the page cache, without a server.
    Files(FilesWorkload),
}

/// The kinds of workload.
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
pub enum WorkloadKind {
    /// Users in rooms: each message goes to all other users of its room.
    #[default]
    Chat,
    /// Request/response: each request has one reply with the same bytes.
    Rr,
    /// A web site, after SPECweb99: lines request files and pages, each at its speed.
    Web,
    /// A brokerage on a database, after Trade: traders look at quotes, buy and sell.
    Trade,
    /// An order business on a database, after SPECjAppServer2002: dealers enter orders, and a factory makes what is ordered.
    Orders,
    /// Cached files: readers read blocks of files from the page cache, and there is no server.
    Files,
}

impl Default for Workload {
    /// The chat of `klatch run` without options.
    fn default() -> Workload {
        Workload::Chat(ChatWorkload::default())
    }
}

impl WorkloadKind {
    /// All kinds, in the order in which help lists them.
    pub const ALL: [WorkloadKind; 6] = crate::variants();

    /// All settings of this kind, in the order of help and tables.
    pub fn settings(self) -> &'static [Setting] {
        match self {
            WorkloadKind::Chat => chat::SETTINGS,
            WorkloadKind::Rr => rr::SETTINGS,
            WorkloadKind::Web => web::SETTINGS,
            WorkloadKind::Trade => trade::SETTINGS,
            WorkloadKind::Orders => orders::SETTINGS,
            WorkloadKind::Files => files::SETTINGS,
        }
    }

    /// The workload of this kind with all defaults.
    pub fn usual(self) -> Workload {
        match self {
            WorkloadKind::Chat => Workload::Chat(ChatWorkload::default()),
            WorkloadKind::Rr => Workload::Rr(RrWorkload::default()),
            WorkloadKind::Web => Workload::Web(WebWorkload::default()),
            WorkloadKind::Trade => Workload::Trade(TradeWorkload::default()),
            WorkloadKind::Orders => Workload::Orders(OrdersWorkload::default()),
            WorkloadKind::Files => Workload::Files(FilesWorkload::default()),
        }
    }

    /// What it is, in a line of help.
    pub fn summary(self) -> &'static str {
        match self {
            WorkloadKind::Chat => "Users in rooms: each message goes to all other users of its room",
            WorkloadKind::Rr => "Requests, and a reply to each",
            WorkloadKind::Web => "Lines that request the files and pages of a site",
            WorkloadKind::Trade => "Traders at a brokerage on a database",
            WorkloadKind::Orders => "Dealers, factories and suppliers on a database",
            WorkloadKind::Files => "No crowd: the platform reads cached files",
        }
    }

    /// The name of one party, in the singular.
    pub fn party_name(self) -> &'static str {
        match self {
            WorkloadKind::Chat => "room",
            WorkloadKind::Rr => "connection",
            WorkloadKind::Web => "line",
            WorkloadKind::Trade => "trader",
            WorkloadKind::Orders => "district",
            WorkloadKind::Files => "reader",
        }
    }

    /// The name of one operation, in the singular.
    pub fn operation_name(self) -> &'static str {
        match self {
            WorkloadKind::Chat => "message",
            WorkloadKind::Rr => "transaction",
            WorkloadKind::Web => "request",
            WorkloadKind::Trade | WorkloadKind::Orders => "operation",
            WorkloadKind::Files => "read",
        }
    }

    /// The protocol of `klatch crowd` without another.
    pub fn usual_protocol(self) -> ProtocolName {
        match self {
            WorkloadKind::Chat => ProtocolName::Irc,
            WorkloadKind::Rr => ProtocolName::Echo,
            WorkloadKind::Web | WorkloadKind::Trade | WorkloadKind::Orders => ProtocolName::Http,
            WorkloadKind::Files => ProtocolName::File,
        }
    }

    /// Whether a crowd connects to a server. Otherwise the platform itself is what reads, and it is measured as the server.
    pub fn has_server(self) -> bool {
        self != WorkloadKind::Files
    }

    /// Whether the server keeps accounts in a database, which is audited after the runs.
    pub fn has_database(self) -> bool {
        matches!(self, WorkloadKind::Trade | WorkloadKind::Orders)
    }

    /// Whether this is chat, whose records do not repeat it.
    pub(crate) fn is_chat(&self) -> bool {
        *self == WorkloadKind::Chat
    }

    /// Its name on the command line, in study files and in the catalog.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for WorkloadKind {
    type Err = String;

    fn from_str(text: &str) -> Result<WorkloadKind, String> {
        crate::named::named("workload", text)
    }
}

impl Workload {
    /// The kind of this workload.
    pub fn kind(&self) -> WorkloadKind {
        match self {
            Workload::Chat(_) => WorkloadKind::Chat,
            Workload::Rr(_) => WorkloadKind::Rr,
            Workload::Web(_) => WorkloadKind::Web,
            Workload::Trade(_) => WorkloadKind::Trade,
            Workload::Orders(_) => WorkloadKind::Orders,
            Workload::Files(_) => WorkloadKind::Files,
        }
    }

    /// The rooms and users of workload `chat`; `None` for the others.
    pub fn chat(&self) -> Option<&ChatWorkload> {
        match self {
            Workload::Chat(chat) => Some(chat),
            Workload::Rr(_)
            | Workload::Web(_)
            | Workload::Trade(_)
            | Workload::Orders(_)
            | Workload::Files(_) => None,
        }
    }

    /// Number of parties. A *party* keeps its accounts to itself: a room of `chat`, a connection of `rr`, a line of `web`, a trader of
    /// `trade`, a district of `orders`, a reader of `files`.
    pub fn parties(&self) -> u32 {
        match self {
            Workload::Chat(chat) => chat.rooms,
            Workload::Rr(rr) => rr.connections,
            Workload::Web(web) => web.lines,
            Workload::Trade(trade) => trade.traders,
            Workload::Orders(orders) => orders.injection_rate,
            Workload::Files(files) => files.readers,
        }
    }

    /// Number of the first party.
    pub fn start(&self) -> u32 {
        match self {
            Workload::Chat(chat) => chat.start,
            Workload::Rr(rr) => rr.start,
            Workload::Web(web) => web.start,
            Workload::Trade(trade) => trade.start,
            Workload::Orders(orders) => orders.start,
            Workload::Files(files) => files.start,
        }
    }

    /// The same with these parties: `parties` of them, from number `start` on.
    #[must_use]
    pub fn with_parties(&self, start: u32, parties: u32) -> Workload {
        match self {
            Workload::Chat(chat) => Workload::Chat(ChatWorkload { start, rooms: parties, ..chat.clone() }),
            Workload::Rr(rr) => Workload::Rr(RrWorkload { start, connections: parties, ..rr.clone() }),
            Workload::Web(web) => Workload::Web(WebWorkload { start, lines: parties, ..web.clone() }),
            Workload::Trade(trade) => {
                // More traders have fewer users each.
                let most = trade.users / start.saturating_add(parties).saturating_sub(1).max(1);
                let users_per_trader = trade.users_per_trader.min(most).max(1);
                Workload::Trade(TradeWorkload { start, traders: parties, users_per_trader, ..trade.clone() })
            }
            Workload::Orders(orders) => {
                Workload::Orders(OrdersWorkload { start, injection_rate: parties, ..orders.clone() })
            }
            Workload::Files(files) => {
                Workload::Files(FilesWorkload { start, readers: parties, ..files.clone() })
            }
        }
    }

    /// The same at the mean rate of its stages, if it has any.
    fn without_stages(&self) -> Workload {
        let Some(mean) = self.stages().map(Stages::mean_per_s) else { return self.clone() };
        match self.clone() {
            Workload::Chat(chat) => {
                let pacing = Pacing::Rate { per_user_per_s: Some(mean) };
                Workload::Chat(ChatWorkload { pacing, stages: None, ..chat })
            }
            Workload::Rr(rr) => {
                Workload::Rr(RrWorkload { rate_per_connection_per_s: Some(mean), stages: None, ..rr })
            }
            Workload::Trade(trade) => {
                Workload::Trade(TradeWorkload { rate_per_trader_per_s: Some(mean), stages: None, ..trade })
            }
            other => other,
        }
    }

    /// The same without an end of its own: only its parent ends it, in a pause. In place of stages it has their mean rate.
    #[must_use]
    pub fn endless(&self) -> Workload {
        match self.without_stages() {
            Workload::Chat(chat) => {
                Workload::Chat(ChatWorkload { count: COUNT_MAX, duration_s: None, ..chat })
            }
            Workload::Rr(rr) => Workload::Rr(RrWorkload { duration_s: SECONDS_MAX, ..rr }),
            Workload::Web(web) => Workload::Web(WebWorkload { duration_s: SECONDS_MAX, ..web }),
            Workload::Trade(trade) => Workload::Trade(TradeWorkload { duration_s: SECONDS_MAX, ..trade }),
            Workload::Orders(orders) => {
                Workload::Orders(OrdersWorkload { duration_s: SECONDS_MAX, ..orders })
            }
            Workload::Files(files) => Workload::Files(FilesWorkload { duration_s: SECONDS_MAX, ..files }),
        }
    }

    /// The same for so many seconds, whatever ended it before. In place of stages it has their mean rate.
    #[must_use]
    pub fn with_duration(&self, duration_s: f64) -> Workload {
        match self.without_stages() {
            Workload::Chat(chat) => Workload::Chat(chat.with_duration(duration_s)),
            Workload::Rr(rr) => Workload::Rr(RrWorkload { duration_s, ..rr }),
            Workload::Web(web) => Workload::Web(WebWorkload { duration_s, ..web }),
            Workload::Trade(trade) => Workload::Trade(TradeWorkload { duration_s, ..trade }),
            Workload::Orders(orders) => Workload::Orders(OrdersWorkload { duration_s, ..orders }),
            Workload::Files(files) => Workload::Files(FilesWorkload { duration_s, ..files }),
        }
    }

    /// The same on a schedule fixed in advance, with so many messages, requests or operations a second of each connection. The lines of
    /// `web` and the readers of `files` have no schedule, and districts of `orders` have their own, so they stay as they are.
    #[must_use]
    pub fn with_rate(&self, per_s: f64) -> Workload {
        match self.without_stages() {
            Workload::Chat(chat) => {
                let pacing = Pacing::Rate { per_user_per_s: Some(per_s) };
                Workload::Chat(ChatWorkload { pacing, ..chat })
            }
            Workload::Rr(rr) => Workload::Rr(RrWorkload { rate_per_connection_per_s: Some(per_s), ..rr }),
            Workload::Trade(trade) => {
                let rate_per_trader_per_s = Some(per_s);
                Workload::Trade(TradeWorkload { rate_per_trader_per_s, think_s: 0.0, ..trade })
            }
            other @ (Workload::Web(_) | Workload::Orders(_) | Workload::Files(_)) => other,
        }
    }

    /// Messages or requests a second of each connection, on a schedule fixed in advance; `None` for other pacings, and with stages.
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Workload::Chat(ChatWorkload { pacing: Pacing::Rate { per_user_per_s }, .. }) => *per_user_per_s,
            Workload::Chat(_) | Workload::Web(_) | Workload::Orders(_) | Workload::Files(_) => None,
            Workload::Rr(rr) => rr.rate_per_connection_per_s,
            Workload::Trade(trade) => trade.rate_per_trader_per_s,
        }
    }

    /// The stages of the schedule; `None` without any.
    pub fn stages(&self) -> Option<&Stages> {
        match self {
            Workload::Chat(chat) => chat.stages.as_ref(),
            Workload::Rr(rr) => rr.stages.as_ref(),
            Workload::Trade(trade) => trade.stages.as_ref(),
            Workload::Web(_) | Workload::Orders(_) | Workload::Files(_) => None,
        }
    }

    /// The database behind the server; `None` for workloads without one.
    pub fn database(&self) -> Option<DatabaseChoice<'_>> {
        let (name, durable) = match self {
            Workload::Trade(trade) => (&trade.database, trade.durable),
            Workload::Orders(orders) => (&orders.database, orders.durable),
            Workload::Chat(_) | Workload::Rr(_) | Workload::Web(_) | Workload::Files(_) => return None,
        };
        Some(DatabaseChoice { name: name.as_deref(), durable })
    }

    /// The same without a database that Klatch starts, for a server that somebody else started.
    #[must_use]
    pub fn without_database(&self) -> Workload {
        let (database, durable) = (None, false);
        match self {
            Workload::Trade(trade) => Workload::Trade(TradeWorkload { database, durable, ..trade.clone() }),
            Workload::Orders(orders) => {
                Workload::Orders(OrdersWorkload { database, durable, ..orders.clone() })
            }
            other => other.clone(),
        }
    }

    /// Checks what follows from several settings.
    fn check_together(&self) -> Result<(), WorkloadError> {
        match self {
            Workload::Chat(chat) => chat.check_together(),
            Workload::Rr(rr) => rr.check_together(),
            Workload::Web(web) => web.check_together(),
            Workload::Trade(trade) => trade.check_together(),
            Workload::Orders(orders) => orders.check_together(),
            Workload::Files(files) => files.check_together(),
        }
    }

    /// Sets what follows from other settings and is not given.
    fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        match self {
            Workload::Web(web) => web.follow(is_given),
            Workload::Trade(trade) => trade.follow(is_given),
            Workload::Orders(orders) => orders.follow(is_given),
            Workload::Chat(chat) => chat.follow(is_given),
            Workload::Rr(rr) => rr.follow(),
            Workload::Files(_) => {}
        }
    }

    /// Whether the crowd draws anything that the seed decides.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Workload::Chat(chat) => matches!(chat.pacing, Pacing::Rate { .. }) || chat.has_churn(),
            Workload::Rr(rr) => rr.is_scheduled() || rr.urls.is_some(),
            Workload::Web(_) | Workload::Trade(_) | Workload::Orders(_) => true,
            Workload::Files(_) => false,
        }
    }

    /// Connections of the crowd to the server; of `files`, its readers.
    pub fn connections(&self) -> u64 {
        match self {
            Workload::Chat(chat) => chat.connections(),
            Workload::Rr(rr) => rr.connections.into(),
            Workload::Web(web) => web.lines.into(),
            Workload::Trade(trade) => trade.traders.into(),
            Workload::Orders(orders) => orders.connections(),
            Workload::Files(files) => files.readers.into(),
        }
    }

    /// Most replies or deliveries in flight in a closed loop, where the crowd sends only after it has received. `None` where a schedule or the
    /// platform decides.
    pub fn in_flight_max(&self) -> Option<f64> {
        match self {
            Workload::Chat(chat) => chat.in_flight_max(),
            Workload::Rr(rr) if rr.is_scheduled() => None,
            Workload::Rr(rr) => Some(f64::from(rr.connections) * f64::from(rr.in_flight_max())),
            Workload::Web(web) => Some(web.lines.into()),
            Workload::Trade(trade) if trade.is_scheduled() => None,
            Workload::Trade(trade) => Some(trade.traders.into()),
            Workload::Orders(_) | Workload::Files(_) => None,
        }
    }

    /// Messages sent and received in a complete run; `None` if it ends by time.
    pub fn messages_expected(&self) -> Option<u64> {
        match self {
            Workload::Chat(chat) if chat.duration_s.is_none() => {
                Some(chat.sent_expected().saturating_add(chat.received_expected()))
            }
            Workload::Chat(_)
            | Workload::Rr(_)
            | Workload::Web(_)
            | Workload::Trade(_)
            | Workload::Orders(_)
            | Workload::Files(_) => None,
        }
    }

    /// The time after which nothing more is sent, seconds; `None` if it ends with a number of messages.
    pub fn duration_s(&self) -> Option<f64> {
        match self {
            Workload::Chat(chat) => chat.duration_s,
            Workload::Rr(rr) => Some(rr.duration_s),
            Workload::Web(web) => Some(web.duration_s),
            Workload::Trade(trade) => Some(trade.duration_s),
            Workload::Orders(orders) => Some(orders.ramp_s + orders.duration_s),
            Workload::Files(files) => Some(files.duration_s),
        }
    }
}

/// The database that a workload asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseChoice<'a> {
    /// Its name in the catalog; `None` if somebody else started the server.
    pub name: Option<&'a str>,
    /// Whether it writes each commit to the disk before it confirms it.
    pub durable: bool,
}
