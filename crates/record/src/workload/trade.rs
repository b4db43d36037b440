//! Workload `trade`: traders at a brokerage, whose accounts a database keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rr::SECONDS_MAX;
use super::{WorkloadError, out_of, within};

/// Traders, their mix of operations, and the population. Definition: `docs/reference/trade.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Context root of a DayTrader that somebody else runs, such as `/daytrader`: pages are checked by their words, and nothing is
    /// audited. `null` for Klatch's own brokerage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daytrader: Option<String>,
}

/// How often each operation comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub const ALL: [TradeMix; 3] = [TradeMix::Standard, TradeMix::HighVolume, TradeMix::Equal];

    /// Its name on the command line and in study files.
    pub fn name(self) -> &'static str {
        match self {
            TradeMix::Standard => "standard",
            TradeMix::HighVolume => "high-volume",
            TradeMix::Equal => "equal",
        }
    }
}

impl std::fmt::Display for TradeMix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for TradeMix {
    type Err = String;

    fn from_str(text: &str) -> Result<TradeMix, String> {
        let known = TradeMix::ALL.map(TradeMix::name).join(", ");
        let mix = TradeMix::ALL.into_iter().find(|mix| mix.name() == text);
        mix.ok_or_else(|| format!("mix must be one of {known}, got {text}"))
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
            daytrader: None,
        }
    }
}

impl TradeWorkload {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("trader count", 1, 100_000, self.traders)?;
        within("user count", self.traders, 1_000_000, self.users)?;
        within("quote count", 1, 100_000, self.quotes)?;
        within("first trader", 1, 1_000_000 - (self.traders - 1), self.start)?;
        let most = self.users / (self.start + self.traders - 1);
        within("users of a trader", 1, most.max(1), self.users_per_trader)?;
        let possible = self.duration_s > 0.0 && self.duration_s <= SECONDS_MAX;
        possible.then_some(()).ok_or_else(|| {
            out_of("duration", &format!("above 0 and at most {SECONDS_MAX} seconds"), self.duration_s)
        })?;
        let possible = (0.0..=SECONDS_MAX).contains(&self.think_s);
        possible
            .then_some(())
            .ok_or_else(|| out_of("think time", &format!("from 0 to {SECONDS_MAX} seconds"), self.think_s))?;
        if let Some(root) = &self.daytrader {
            let possible = root.starts_with('/') && root.bytes().all(|byte| byte.is_ascii_graphic());
            possible
                .then_some(())
                .ok_or_else(|| out_of("context root", "a path that begins with / and has no spaces", root))?;
        }
        let Some(rate) = self.rate_per_trader_per_s else { return Ok(()) };
        let possible = rate > 0.0 && rate <= 1e6;
        possible.then_some(()).ok_or_else(|| out_of("rate", "above 0 and at most 1000000 operations/s", rate))
    }

    /// The same with as many users for each trader as there are.
    #[must_use]
    pub fn with_all_users(self) -> TradeWorkload {
        let users_per_trader = (self.users / (self.start + self.traders - 1).max(1)).max(1);
        TradeWorkload { users_per_trader, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let trade = TradeWorkload::default();
        assert_eq!(trade.check(), Ok(()));
        let error = |workload: TradeWorkload| workload.check().unwrap_err().to_string();
        assert_eq!(
            error(TradeWorkload { users: 24, ..trade.clone() }),
            "user count must be 25..=1000000, got 24"
        );
        assert_eq!(
            error(TradeWorkload { users_per_trader: 201, ..trade.clone() }),
            "users of a trader must be 1..=200, got 201"
        );
        assert_eq!(
            error(TradeWorkload { think_s: -1.0, ..trade.clone() }),
            "think time must be from 0 to 86400 seconds, got -1"
        );
        assert_eq!(TradeWorkload { traders: 50, ..trade }.with_all_users().users_per_trader, 100);
    }
}
