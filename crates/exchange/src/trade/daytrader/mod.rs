//! Traders at a DayTrader, the open successor of IBM's Trade, on a server that somebody else runs. They use the forms of its servlet `app` and check its
//! pages by their words. Nothing is audited: what DayTrader stores is its own.

mod day_trader;
mod page;
mod request;
#[cfg(any(test, feature = "samples"))]
mod sample_site;

pub use day_trader::{DayTrader, DayTraderOptions};
#[cfg(any(test, feature = "samples"))]
pub use sample_site::SampleSite;
