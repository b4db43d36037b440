//! Orders and holdings, and the digests by which ledger and database are compared.

use serde::{Deserialize, Serialize};

use crate::random::output;

/// The fee of every order, cents.
pub const FEE_CENTS: i64 = 2_495;

/// Whether an order bought or sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderKind {
    /// A holding was bought.
    Buy,
    /// A holding was sold.
    Sell,
}

/// An order that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, which no other order has.
    pub id: u64,
    /// Whether it bought or sold.
    pub kind: OrderKind,
    /// The quote that was traded.
    pub symbol: u32,
    /// Number of its shares.
    pub quantity: u32,
    /// Price of a share, cents.
    pub price_cents: u32,
    /// The number of changes of the quote at this price.
    pub changes: u32,
    /// The holding that was bought or sold.
    pub holding: u64,
}

/// Shares that a user holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The quote whose shares these are.
    pub symbol: u32,
    /// Number of its shares.
    pub quantity: u32,
    /// Price of a share when it was bought, cents.
    pub paid_cents: u32,
}

impl Order {
    /// A number that depends on every field that the audit compares.
    pub fn digest(&self) -> u64 {
        let kind = match self.kind {
            OrderKind::Buy => 0,
            OrderKind::Sell => 1,
        };
        let fields = [self.symbol.into(), self.quantity.into(), self.price_cents.into(), self.holding, kind];
        fields.into_iter().fold(self.id, output)
    }

    /// What the order adds to the balance of its account, cents.
    pub fn gain_cents(&self) -> i64 {
        let value = i64::from(self.quantity) * i64::from(self.price_cents);
        match self.kind {
            OrderKind::Buy => -value - FEE_CENTS,
            OrderKind::Sell => value - FEE_CENTS,
        }
    }
}

impl Held {
    /// A number that depends on the holding's id and on every field.
    pub fn digest(&self, id: u64) -> u64 {
        let fields = [self.symbol, self.quantity, self.paid_cents];
        fields.into_iter().fold(id, |digest, field| output(digest, field.into()))
    }
}
