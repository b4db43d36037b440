//! Workload `trade`: a brokerage on a database whose every reply, and whose last state, can be checked. The definition is in
//! `docs/reference/trade.md`.
//!
//! Plain data and functions for the crowd and for the audit. The server side is in Java.

mod audit;
mod check;
mod daytrader;
mod ledger;
mod market;
mod operation;
mod order;
mod player;
mod population;
mod price;
mod reply;
mod request;
mod script;
mod trader;

pub use audit::{AuditFacts, compare_with_ledgers};
#[cfg(any(test, feature = "samples"))]
pub use daytrader::SampleSite;
pub use daytrader::{DayTrader, DayTraderOptions};
pub use ledger::{Ledgers, UserLedger};
pub use operation::{Mix, OperationKind};
pub use order::{FEE_CENTS, Held, Order, OrderKind};
pub use player::{Player, Progress};
pub use population::{FirstUser, Population};
pub use price::{Prices, next_price};
pub use trader::Trader;

#[cfg(test)]
mod vectors_tests;
