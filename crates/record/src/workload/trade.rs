//! Workload `trade`: traders at a brokerage, whose accounts a database keeps.

use serde::{Deserialize, Serialize};

use super::arrivals::{ARRIVALS, Arrivals};
use super::error::within;
use super::settings::{Range, Scope, Setting, field};
use super::stages::{Stages, check_stages, stages_setting};
use super::values::{Seconds, Word};
use super::{RATE_MAX, SECONDS_MAX, WorkloadError};

/// Largest number of users.
const USERS_MAX: u32 = 1_000_000;

/// Names and meanings.
const MIXES: &[(&str, &str)] = &[
    ("standard", "The standard mix of DayTrader: 40 % quotes, 8 % orders"),
    ("high-volume", "The high-volume mix of DayTrader: 14 % orders"),
    ("equal", "All operations equally often"),
];

pub(super) const DATABASE: &str = "database of the server: h2 (embedded) or postgresql";
pub(super) const DURABLE: &str = "the database writes each commit to the disk before it confirms it";

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("traders", "N", "number of traders, each with a connection", field!(Trade, traders))
        .in_range(Range::Whole(1, 100_000)),
    Setting::new("users", "N", "users that the server loads", field!(Trade, users))
        .in_range(Range::Whole(1, USERS_MAX)),
    Setting::new("users_per_trader", "N", "users that each trader plays", field!(Trade, users_per_trader))
        .in_range(Range::Whole(1, USERS_MAX))
        .following("all users, evenly"),
    Setting::new("quotes", "N", "quotes that the server loads", field!(Trade, quotes))
        .in_range(Range::Whole(1, 100_000)),
    Setting::new(
        "mix",
        "MIX",
        "how often each operation comes",
        field!(Trade, trade => Word { word: &mut trade.mix, words: MIXES }),
    ),
    Setting::new(
        "think",
        "TIME",
        "time between a reply and the next operation of a trader; not with a rate",
        field!(Trade, trade => Seconds(&mut trade.think_s)),
    )
    .in_range(Range::FromZero(SECONDS_MAX, "seconds")),
    Setting::new(
        "rate",
        "1/S",
        "operations a second of each trader, on a schedule fixed in advance",
        field!(Trade, rate_per_trader_per_s),
    )
    .in_range(Range::AboveZero(RATE_MAX, "operations/s"))
    .following("none: an operation follows a reply"),
    stages_setting(
        "times, within each of which the rate of a trader ramps to a value, in place of rate and duration",
        field!(Trade, stages),
    )
    .excluding(&["rate", "duration"]),
    Setting::new(
        "arrivals",
        "ARRIVALS",
        "with a rate or stages: how the moments of the schedule follow one another",
        field!(Trade, trade => Word { word: &mut trade.arrivals, words: ARRIVALS }),
    ),
    Setting::new("database", "DATABASE", DATABASE, field!(Trade, database)),
    Setting::new("durable", "", DURABLE, field!(Trade, durable)),
    Setting::new(
        "duration",
        "TIME",
        "time for which operations begin",
        field!(Trade, trade => Seconds(&mut trade.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .scoped(Scope::End),
    Setting::new(
        "start",
        "N",
        "number of the first trader, for several crowds on one server",
        field!(Trade, start),
    )
    .scoped(Scope::Share),
    Setting::new(
        "daytrader",
        "PATH",
        "context root of a DayTrader on the server, whose pages are checked by their words",
        field!(Trade, daytrader),
    )
    .scoped(Scope::Crowd),
];

/// Traders, their mix of operations, and the population. Definition: `docs/reference/trade.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeWorkload {
    /// Number of traders, each with a connection, 1..=100000.
    pub traders: u32,
    /// Users that the server loads, 1..=1000000.
    pub users: u32,
    /// Quotes that the server loads, 1..=100000.
    pub quotes: u32,
    /// Users of each trader. Trader 1 has the first ones.
    pub users_per_trader: u32,
    /// How often each operation comes.
    pub mix: TradeMix,
    /// The database that the server uses, a name of the catalog; `null` if somebody else started the server.
    pub database: Option<String>,
    /// Whether the database writes each commit to the disk before it confirms it.
    pub durable: bool,
    /// Time between a reply and the next operation, seconds.
    pub think_s: f64,
    /// Time for which operations begin, seconds. The run ends with the last reply.
    pub duration_s: f64,
    /// Number of the first trader, so that several crowds can share a server.
    pub start: u32,
    /// Operations/s of each trader on a schedule fixed in advance (open loop); `null`: an operation follows a reply (closed loop).
    pub rate_per_trader_per_s: Option<f64>,
    /// Times and rates of each trader: a schedule whose rate changes, in place of one rate. Absent without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// How the moments of the schedule follow one another. Absent if they are even.
    #[serde(default, skip_serializing_if = "Arrivals::is_even")]
    pub arrivals: Arrivals,
    /// Context root of a DayTrader that somebody else runs, such as `/daytrader`: pages are checked by their words, and nothing is
    /// audited. `null` for Klatch's own brokerage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daytrader: Option<String>,
}

/// How often each operation comes.
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
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TradeMix {
    /// The standard mix of DayTrader: 40 % quotes, 8 % orders.
    #[default]
    Standard,
    /// The high-volume mix of DayTrader: 14 % orders.
    HighVolume,
    /// All operations equally often.
    Equal,
}

impl TradeMix {
    /// All mixes, in the order of help.
    pub const ALL: [TradeMix; 3] = crate::variants();

    /// Its name on the command line and in study files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Default for TradeWorkload {
    /// The population of the 2005 paper, 25 traders without think time, 10 s.
    fn default() -> TradeWorkload {
        TradeWorkload {
            traders: 25,
            users: 5_000,
            quotes: 1_000,
            users_per_trader: 200,
            mix: TradeMix::Standard,
            database: Some("h2".to_owned()),
            durable: false,
            think_s: 0.0,
            duration_s: 10.0,
            start: 1,
            rate_per_trader_per_s: None,
            stages: None,
            arrivals: Arrivals::Even,
            daytrader: None,
        }
    }
}

impl TradeWorkload {
    /// Whether operations are due on a schedule fixed in advance, whatever the server does.
    pub fn is_scheduled(&self) -> bool {
        self.rate_per_trader_per_s.is_some() || self.stages.is_some()
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        if self.arrivals != Arrivals::Even && !self.is_scheduled() {
            return Err(WorkloadError::Unused { setting: "arrivals", owner: "a rate" });
        }
        check_stages(self.stages.as_ref(), self.rate_per_trader_per_s, Some(self.duration_s))?;
        within("users", self.traders, USERS_MAX, self.users)?;
        within("start", 1, 1_000_000 - (self.traders - 1), self.start)?;
        within("users_per_trader", 1, self.users_per_trader_max(), self.users_per_trader)?;
        if self.is_scheduled() && self.think_s != 0.0 {
            let range = "0 with a rate, whose schedule is fixed in advance";
            return Err(WorkloadError::out_of("think", range, self.think_s));
        }
        if let Some(root) = &self.daytrader
            && !(root.starts_with('/') && root.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(WorkloadError::out_of(
                "daytrader",
                "a path that begins with / and has no spaces",
                root,
            ));
        }
        Ok(())
    }

    pub(super) fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        if !is_given("users_per_trader") {
            self.users_per_trader = self.users_per_trader_max();
        }
        self.duration_s = self.stages.as_ref().map_or(self.duration_s, Stages::time_s);
    }

    /// As many users for each trader as there are.
    fn users_per_trader_max(&self) -> u32 {
        let last = self.start.saturating_add(self.traders).saturating_sub(1);
        (self.users / last.max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let trade = TradeWorkload::default();
        assert_eq!(Workload::Trade(trade.clone()).check(), Ok(()));
        let error = |workload: TradeWorkload| Workload::Trade(workload).check().unwrap_err().to_string();
        assert_eq!(
            error(TradeWorkload { users: 24, ..trade.clone() }),
            "users must be 25 to 1,000,000, got 24"
        );
        assert_eq!(
            error(TradeWorkload { users_per_trader: 201, ..trade.clone() }),
            "users_per_trader must be 1 to 200, got 201"
        );
        assert_eq!(
            error(TradeWorkload { think_s: -1.0, ..trade.clone() }),
            "think must be 0 to 86,400 seconds, got -1"
        );
        let mut more = TradeWorkload { traders: 50, ..trade };
        more.follow(|_| false);
        assert_eq!(more.users_per_trader, 100);
    }
}
