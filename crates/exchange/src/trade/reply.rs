//! The replies of a server as they are parsed. A field more or less is a fault.

use serde::Deserialize;

use super::order::OrderKind;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountReply {
    pub(super) user: u64,
    pub(super) balance: i64,
    pub(super) open_balance: i64,
    pub(super) logins: u32,
    pub(super) logouts: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileReply<'a> {
    pub(super) name: &'a str,
    pub(super) address: &'a str,
    pub(super) email: &'a str,
    pub(super) card: &'a str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuoteReply {
    pub(super) symbol: u32,
    pub(super) price: u32,
    pub(super) open: u32,
    pub(super) changes: u32,
    /// Depends on other traders, so only the audit checks it.
    #[serde(rename = "volume")]
    pub(super) _volume: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HoldingReply {
    pub(super) holding: u64,
    pub(super) symbol: u32,
    pub(super) quantity: u32,
    pub(super) paid: u32,
    pub(super) price: u32,
    pub(super) changes: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderReply<'a> {
    pub(super) order: u64,
    #[serde(rename = "type")]
    pub(super) kind: OrderKind,
    pub(super) status: &'a str,
    pub(super) symbol: u32,
    pub(super) quantity: u32,
    pub(super) price: u32,
    pub(super) changes: u32,
    pub(super) fee: i64,
    pub(super) holding: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarketReply {
    pub(super) gainers: Vec<QuoteReply>,
    pub(super) losers: Vec<QuoteReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HomePage {
    pub(super) account: AccountReply,
    pub(super) holdings: u64,
    pub(super) cost: i64,
    pub(super) market: MarketReply,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotesPage {
    pub(super) quotes: Vec<QuoteReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountPage<'a> {
    pub(super) account: AccountReply,
    #[serde(borrow)]
    pub(super) profile: ProfileReply<'a>,
    pub(super) orders: Vec<OrderReply<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PortfolioPage {
    pub(super) holdings: Vec<HoldingReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderPage<'a> {
    #[serde(borrow)]
    pub(super) order: OrderReply<'a>,
    pub(super) balance: i64,
}
