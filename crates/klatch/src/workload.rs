//! The options of the workload, the same for every command.

use clap::{Args, ValueEnum};
use klatch_record::{
    ChatWorkload, FilesWorkload, OrdersWorkload, Pacing, ReadOrder, RrWorkload, TradeMix, TradeWorkload,
    WebWorkload, Workload, WorkloadKind, usual_directories,
};

/// Help heading of these options.
const WORKLOAD: &str = "Workload";

/// The kinds of workload that have an option.
type Kinds = &'static [WorkloadKind];

const CHAT: Kinds = &[WorkloadKind::Chat];
const RR: Kinds = &[WorkloadKind::Rr];
const WEB: Kinds = &[WorkloadKind::Web];
const TRADE: Kinds = &[WorkloadKind::Trade];
const ORDERS: Kinds = &[WorkloadKind::Orders];
/// Those with a database behind the server.
const WITH_DATABASE: Kinds = &[WorkloadKind::Trade, WorkloadKind::Orders];
/// Those with a number of users.
const USERS: Kinds = &[WorkloadKind::Chat, WorkloadKind::Trade];
const FILES: Kinds = &[WorkloadKind::Files];
/// Those with messages of a size.
const MESSAGES: Kinds = &[WorkloadKind::Chat, WorkloadKind::Rr];
/// Those that can have a schedule.
const SCHEDULED: Kinds = &[WorkloadKind::Chat, WorkloadKind::Rr, WorkloadKind::Trade];
/// Those whose runs end by time.
const TIMED: Kinds =
    &[WorkloadKind::Rr, WorkloadKind::Web, WorkloadKind::Trade, WorkloadKind::Orders, WorkloadKind::Files];

/// The workload of a run.
#[derive(Args)]
pub(crate) struct WorkloadArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// chat: messages that each user sends [default: 100]
    #[arg(long, help_heading = WORKLOAD)]
    count: Option<u32>,
    /// rr, web, trade, orders, files: time for which requests are sent or blocks read [default: 2, of web 5, of trade and orders 10]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true)]
    duration: Option<f64>,
}

/// The workload of a run that ends when its parent ends it.
#[derive(Args)]
pub(crate) struct EndlessWorkloadArgs {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args)]
struct CommonArgs {
    /// What the crowd does: chat (users in rooms), rr (requests, and a reply to each), web (lines that request the files and pages of
    /// a site), trade (traders at a brokerage on a database), orders (dealers, factories and suppliers on a database),
    /// files (no crowd: the platform reads cached files)
    #[arg(long, help_heading = WORKLOAD, default_value_t = WorkloadKind::Chat, value_name = "WORKLOAD")]
    workload: WorkloadKind,
    /// chat: number of rooms of the crowd [default: 10]
    #[arg(long, help_heading = WORKLOAD)]
    rooms: Option<u32>,
    /// chat: users in each room [default: 20]. trade: users that the server loads [default: 5000]
    #[arg(long, help_heading = WORKLOAD)]
    users: Option<u32>,
    /// rr: number of connections [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    connections: Option<u32>,
    /// rr: requests of a connection in flight [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "REQUESTS")]
    depth: Option<u32>,
    /// web: number of lines, which are simultaneous connections [default: 10]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    lines: Option<u32>,
    /// web: speed of each line, or none to read as fast as possible [default: 400kbit]
    #[arg(long, help_heading = WORKLOAD, value_name = "KBIT/S", value_parser = line_speed)]
    line: Option<LineSpeed>,
    /// web: directories of the site, of 36 files and 5 MB each [default: 25 + 0.66 a line, at most 200]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    directories: Option<u32>,
    /// web: send static GETs only, to a server without the dynamic half
    #[arg(long, help_heading = WORKLOAD)]
    static_only: bool,
    /// trade: number of traders, each with a connection [default: 25]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    traders: Option<u32>,
    /// trade: quotes that the server loads [default: 1000]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    quotes: Option<u32>,
    /// trade: operations: standard (8 % orders), high-volume (14 % orders), or equal (all equally often) [default: standard]
    #[arg(long, help_heading = WORKLOAD, value_name = "MIX")]
    mix: Option<TradeMix>,
    /// trade: time between a reply and the next operation of a trader [default: 0]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true, conflicts_with = "rate")]
    think: Option<f64>,
    /// trade, orders: database of the server: h2 (embedded) or postgresql [default: h2]
    #[arg(long, help_heading = WORKLOAD, value_name = "DATABASE")]
    database: Option<String>,
    /// trade, orders: the database writes each commit to the disk before it confirms it
    #[arg(long, help_heading = WORKLOAD)]
    durable: bool,
    /// trade: users that each trader plays [default: all users, evenly]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    users_per_trader: Option<u32>,
    /// orders: number of districts, which is that of order entries a second [default: 100]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    injection_rate: Option<u32>,
    /// orders: injection rate of the population that the server loads [default: the injection rate]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    population: Option<u32>,
    /// orders: suppliers of all crowds on the server together [default: one for each district]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    suppliers: Option<u32>,
    /// orders: time before the steady state, in which operations do not count [default: 2]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true)]
    ramp: Option<f64>,
    /// files: number of readers, each a thread [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    readers: Option<u32>,
    /// files: bytes of one read, such as 4096, 64KiB or 1MiB [default: 4KiB]
    #[arg(long, help_heading = WORKLOAD, value_name = "BYTES", value_parser = bytes)]
    block: Option<u32>,
    /// files: order in which a reader reads blocks, random or sequential [default: random]
    #[arg(long, help_heading = WORKLOAD, value_name = "ORDER")]
    order: Option<ReadOrder>,
    /// files: number of files, which all readers read [default: 4]
    #[arg(long, help_heading = WORKLOAD, value_name = "N")]
    files: Option<u32>,
    /// files: size of each file [default: 64]
    #[arg(long, help_heading = WORKLOAD, value_name = "MIB")]
    file_mib: Option<u32>,
    /// files: do not compare blocks with what their files must contain
    #[arg(long, help_heading = WORKLOAD)]
    unverified: bool,
    /// Size of a message's text [chat, default: 60], or of a request and of its reply [rr, default: 4]
    #[arg(long, help_heading = WORKLOAD, value_name = "BYTES")]
    size: Option<u32>,
    /// chat: rule by which users send [default: turns]
    #[arg(long, help_heading = WORKLOAD, value_enum)]
    pacing: Option<PacingName>,
    /// chat, pacing `rounds`: messages that a user may be ahead of the slowest other user [default: 1]
    #[arg(long, help_heading = WORKLOAD, value_name = "MESSAGES")]
    window: Option<u32>,
    /// chat, pacing `rate`: messages per second of each user. rr: requests, trade: operations per second of each connection, on a
    /// schedule fixed in advance [default: a request follows a reply]
    #[arg(long, help_heading = WORKLOAD, value_name = "1/S", required_if_eq("pacing", "rate"))]
    rate: Option<f64>,
    /// chat: pause after each message of a user; not with pacing `rate`, whose schedule is fixed in advance [default: 0]
    #[arg(long, help_heading = WORKLOAD, value_name = "SECONDS", allow_negative_numbers = true)]
    pause: Option<f64>,
    /// chat: how often each user leaves, closes its connection and joins again, its room silent meanwhile; crowd native, not with
    /// pacing `rate` [default: 0]
    #[arg(long, help_heading = WORKLOAD, value_name = "1/S", allow_negative_numbers = true)]
    churn: Option<f64>,
    /// Number of the first room, connection, line, trader, district or reader, for several crowds on one server
    #[arg(long, help_heading = WORKLOAD, default_value_t = 1, value_name = "NUMBER")]
    start: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PacingName {
    /// One turn goes round each room (VolanoMark's)
    Turns,
    /// Message i + window follows message i of all other users
    Rounds,
    /// As fast as the connection accepts data
    Flood,
    /// A schedule fixed in advance; latency counts from the intended send time
    Rate,
}

impl WorkloadArgs {
    /// The workload.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the workload or its pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        let foreign = match self.common.workload {
            WorkloadKind::Chat => self.duration.map(|_| ("duration", TIMED)),
            _ => self.count.map(|_| ("count", CHAT)),
        };
        refuse(foreign, self.common.workload)?;
        self.common.workload(self.count, self.duration)
    }
}

impl EndlessWorkloadArgs {
    /// The workload, which ends at once by itself.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the workload or its pacing.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        self.common.workload(Some(1), None)
    }
}

impl CommonArgs {
    fn workload(&self, count: Option<u32>, duration_s: Option<f64>) -> anyhow::Result<Workload> {
        let is_foreign = |given: bool, owners: &Kinds| given && !owners.contains(&self.workload);
        let foreign = self.particular().into_iter().find(|(_, given, owners)| is_foreign(*given, owners));
        refuse(foreign.map(|(name, _, owners)| (name, owners)), self.workload)?;
        let workload = match self.workload {
            WorkloadKind::Chat => Workload::Chat(self.chat(count)?),
            WorkloadKind::Rr => Workload::Rr(self.rr(duration_s)),
            WorkloadKind::Web => Workload::Web(self.web(duration_s)),
            WorkloadKind::Trade => Workload::Trade(self.trade(duration_s)),
            WorkloadKind::Orders => Workload::Orders(self.orders(duration_s)),
            WorkloadKind::Files => Workload::Files(self.files(duration_s)),
        };
        workload.check()?;
        Ok(workload)
    }

    /// The options that only some kinds of workload have: name, whether it is given, and those kinds.
    fn particular(&self) -> [(&'static str, bool, Kinds); 31] {
        [
            ("rooms", self.rooms.is_some(), CHAT),
            ("users", self.users.is_some(), USERS),
            ("pacing", self.pacing.is_some(), CHAT),
            ("window", self.window.is_some(), CHAT),
            ("pause", self.pause.is_some(), CHAT),
            ("churn", self.churn.is_some(), CHAT),
            ("connections", self.connections.is_some(), RR),
            ("depth", self.depth.is_some(), RR),
            ("size", self.size.is_some(), MESSAGES),
            ("rate", self.rate.is_some(), SCHEDULED),
            ("traders", self.traders.is_some(), TRADE),
            ("quotes", self.quotes.is_some(), TRADE),
            ("mix", self.mix.is_some(), TRADE),
            ("think", self.think.is_some(), TRADE),
            ("database", self.database.is_some(), WITH_DATABASE),
            ("durable", self.durable, WITH_DATABASE),
            ("users-per-trader", self.users_per_trader.is_some(), TRADE),
            ("injection-rate", self.injection_rate.is_some(), ORDERS),
            ("population", self.population.is_some(), ORDERS),
            ("suppliers", self.suppliers.is_some(), ORDERS),
            ("ramp", self.ramp.is_some(), ORDERS),
            ("lines", self.lines.is_some(), WEB),
            ("line", self.line.is_some(), WEB),
            ("directories", self.directories.is_some(), WEB),
            ("static-only", self.static_only, WEB),
            ("readers", self.readers.is_some(), FILES),
            ("block", self.block.is_some(), FILES),
            ("order", self.order.is_some(), FILES),
            ("files", self.files.is_some(), FILES),
            ("file-mib", self.file_mib.is_some(), FILES),
            ("unverified", self.unverified, FILES),
        ]
    }

    fn chat(&self, count: Option<u32>) -> anyhow::Result<ChatWorkload> {
        let pacing = self.pacing.unwrap_or(PacingName::Turns);
        let is_rounds = pacing == PacingName::Rounds;
        anyhow::ensure!(self.window.is_none() || is_rounds, "--window belongs to --pacing rounds");
        anyhow::ensure!(self.rate.is_none() || pacing == PacingName::Rate, "--rate belongs to --pacing rate");
        let usual = ChatWorkload::default();
        Ok(ChatWorkload {
            rooms: self.rooms.unwrap_or(usual.rooms),
            users: self.users.unwrap_or(usual.users),
            count: count.unwrap_or(usual.count),
            size_bytes: self.size.unwrap_or(usual.size_bytes),
            start: self.start,
            pacing: match pacing {
                PacingName::Turns => Pacing::Turns,
                PacingName::Rounds => Pacing::Rounds { window: self.window.unwrap_or(1) },
                PacingName::Flood => Pacing::Flood,
                PacingName::Rate => Pacing::Rate { per_user_per_s: self.rate.unwrap_or_default() },
            },
            pause_s: self.pause.unwrap_or(0.0),
            churn_per_user_per_s: self.churn.unwrap_or(0.0),
        })
    }

    fn web(&self, duration_s: Option<f64>) -> WebWorkload {
        let usual = WebWorkload::default();
        let lines = self.lines.unwrap_or(usual.lines);
        WebWorkload {
            lines,
            line_kbit_per_s: self.line.map_or(usual.line_kbit_per_s, |line| line.0),
            directories: self.directories.unwrap_or_else(|| usual_directories(lines)),
            static_only: self.static_only,
            duration_s: duration_s.unwrap_or(usual.duration_s),
            start: self.start,
        }
    }

    fn trade(&self, duration_s: Option<f64>) -> TradeWorkload {
        let usual = TradeWorkload::default();
        let trade = TradeWorkload {
            traders: self.traders.unwrap_or(usual.traders),
            users: self.users.unwrap_or(usual.users),
            quotes: self.quotes.unwrap_or(usual.quotes),
            mix: self.mix.unwrap_or(usual.mix),
            think_s: self.think.unwrap_or(usual.think_s),
            duration_s: duration_s.unwrap_or(usual.duration_s),
            database: self.database.clone().or(usual.database),
            durable: self.durable,
            start: self.start,
            rate_per_trader_per_s: self.rate,
            users_per_trader: 1,
            daytrader: None,
        }
        .with_all_users();
        TradeWorkload { users_per_trader: self.users_per_trader.unwrap_or(trade.users_per_trader), ..trade }
    }

    fn orders(&self, duration_s: Option<f64>) -> OrdersWorkload {
        let usual = OrdersWorkload::default();
        let injection_rate = self.injection_rate.unwrap_or(usual.injection_rate);
        let districts = (self.start.saturating_add(injection_rate)).saturating_sub(1);
        OrdersWorkload {
            injection_rate,
            population: self.population.unwrap_or(districts),
            suppliers: self.suppliers.unwrap_or(districts),
            database: self.database.clone().or(usual.database),
            durable: self.durable,
            ramp_s: self.ramp.unwrap_or(usual.ramp_s),
            duration_s: duration_s.unwrap_or(usual.duration_s),
            start: self.start,
        }
    }

    fn files(&self, duration_s: Option<f64>) -> FilesWorkload {
        let usual = FilesWorkload::default();
        FilesWorkload {
            readers: self.readers.unwrap_or(usual.readers),
            block_bytes: self.block.unwrap_or(usual.block_bytes),
            order: self.order.unwrap_or(usual.order),
            files: self.files.unwrap_or(usual.files),
            file_mib: self.file_mib.unwrap_or(usual.file_mib),
            verified: !self.unverified,
            duration_s: duration_s.unwrap_or(usual.duration_s),
            start: self.start,
        }
    }

    fn rr(&self, duration_s: Option<f64>) -> RrWorkload {
        let usual = RrWorkload::default();
        RrWorkload {
            connections: self.connections.unwrap_or(usual.connections),
            size_bytes: self.size.unwrap_or(usual.size_bytes),
            depth: self.depth.unwrap_or(usual.depth),
            duration_s: duration_s.unwrap_or(usual.duration_s),
            start: self.start,
            rate_per_connection_per_s: self.rate,
        }
    }
}

/// The speed of a line in kbit/s; `None` for no limit.
#[derive(Clone, Copy)]
struct LineSpeed(Option<u32>);

/// Parses `400kbit`, `400` or `none`.
fn line_speed(text: &str) -> Result<LineSpeed, String> {
    if text == "none" {
        return Ok(LineSpeed(None));
    }
    let number = text.strip_suffix("kbit").unwrap_or(text);
    number
        .parse()
        .map(|kbit| LineSpeed(Some(kbit)))
        .map_err(|_| "a line is a number of kbit/s, or none".to_owned())
}

/// Parses a number of bytes, with KiB or MiB if it is one of those.
fn bytes(text: &str) -> Result<u32, String> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("", 1)];
    let parse = |(unit, factor): (&str, u32)| {
        text.strip_suffix(unit).and_then(|number| number.parse::<u32>().ok()?.checked_mul(factor))
    };
    units
        .into_iter()
        .find_map(parse)
        .ok_or_else(|| "a block is a number of bytes, such as 4096 or 4KiB".to_owned())
}

/// Refuses an option of another workload.
fn refuse(foreign: Option<(&str, Kinds)>, workload: WorkloadKind) -> anyhow::Result<()> {
    let Some((name, owners)) = foreign else { return Ok(()) };
    let owners: Vec<&str> = owners.iter().map(|owner| owner.name()).collect();
    anyhow::bail!("--{name} belongs to --workload {}, not to {workload}", owners.join(" or "))
}
