//! What one trader knows about the quotes: which prices are possible, and how many changes it has seen.

use super::price::Prices;
use super::reply::QuoteReply;
use crate::audited::{ReplyError, same};

pub(super) struct Market<'a> {
    pub(super) prices: &'a mut Prices,
    /// Fewest changes that each symbol must have by now.
    pub(super) seen: &'a mut [u32],
}

impl Market<'_> {
    /// Checks a price that a quote has now.
    pub(super) fn check_now(&mut self, symbol: u32, price: u32, changes: u32) -> Result<(), ReplyError> {
        self.check_price(symbol, price, changes)?;
        let seen = &mut self.seen[symbol as usize];
        if changes < *seen {
            let detail =
                format!("stale price: quote {symbol} had {seen} changes already, and now has {changes}");
            return Err(ReplyError(detail));
        }
        *seen = changes;
        Ok(())
    }

    /// Checks a price that a quote has or had.
    pub(super) fn check_price(&mut self, symbol: u32, price: u32, changes: u32) -> Result<(), ReplyError> {
        let Some(expected) = self.prices.price_cents(symbol, changes) else {
            return Err(ReplyError(format!("quote {symbol} with {changes} changes is impossible")));
        };
        if price != expected {
            let detail = format!(
                "price out of rule: quote {symbol} after {changes} changes has {expected} cents, not {price}"
            );
            return Err(ReplyError(detail));
        }
        Ok(())
    }

    pub(super) fn check_quote(&mut self, quote: &QuoteReply) -> Result<(), ReplyError> {
        self.check_now(quote.symbol, quote.price, quote.changes)?;
        self.check_open(quote)
    }

    /// Checks the quotes that moved most, which may be some seconds old. `gain` falls from each to the next.
    pub(super) fn check_top(
        &mut self,
        name: &str,
        quotes: &[QuoteReply],
        gain: impl Fn(&QuoteReply) -> i64,
    ) -> Result<(), ReplyError> {
        same(format_args!("number of {name}"), 5.min(self.seen.len()), quotes.len())?;
        for quote in quotes {
            self.check_price(quote.symbol, quote.price, quote.changes)?;
            self.check_open(quote)?;
        }
        let sorted = quotes.windows(2).all(|pair| gain(&pair[0]) >= gain(&pair[1]));
        sorted.then_some(()).ok_or_else(|| ReplyError(format!("the {name} are not in order")))
    }

    fn check_open(&self, quote: &QuoteReply) -> Result<(), ReplyError> {
        let open = self.prices.open_cents(quote.symbol);
        same(format_args!("first price of quote {}", quote.symbol), open, quote.open)
    }

    /// A new order has changed this quote since it had so many changes.
    pub(super) fn record_order(&mut self, symbol: u32, changes: u32) {
        let seen = &mut self.seen[symbol as usize];
        *seen = (*seen).max(changes + 1);
    }
}
