//! Orders, work orders and purchases, and the digests by which ledger and database are compared.

use serde::{Deserialize, Serialize};

use crate::random::output;

/// An order of more pieces is large.
const SMALL_PIECES_MAX: u32 = 50;

/// One line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The assembly that is ordered.
    pub assembly: u32,
    /// Number of its pieces.
    pub quantity: u32,
}

/// An order of a customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, which no other order has.
    pub id: u64,
    /// The customer it belongs to.
    pub customer: u32,
    /// Its total with the customer's discount, cents.
    pub total_cents: i64,
    /// Whether it was cancelled, so that its total is not owed.
    pub is_cancelled: bool,
    /// Its lines, one to five.
    pub lines: Vec<Line>,
}

/// A work order: the pieces of an assembly that the factory makes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    /// Its number, which no other work order has.
    pub id: u64,
    /// The assembly that is made.
    pub assembly: u32,
    /// Number of its pieces.
    pub quantity: u32,
}

/// A purchase of pieces of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purchase {
    /// Its number, which no other purchase has.
    pub id: u64,
    /// The component that is purchased.
    pub component: u32,
    /// Number of its pieces.
    pub quantity: u32,
}

/// Whether an order of these lines is large.
pub fn is_large(lines: &[Line]) -> bool {
    lines.iter().map(|line| line.quantity).sum::<u32>() > SMALL_PIECES_MAX
}

impl Order {
    /// A number that depends on every field that the audit compares.
    pub fn digest(&self) -> u64 {
        let head = [self.customer.into(), self.total_cents as u64, u64::from(self.is_cancelled)];
        let digest = head.into_iter().fold(self.id, output);
        self.lines
            .iter()
            .fold(digest, |digest, line| output(output(digest, line.assembly.into()), line.quantity.into()))
    }

    /// Whether a dealer may change or cancel it.
    pub(super) fn can_change(&self) -> bool {
        !self.is_cancelled && !is_large(&self.lines)
    }

    /// The word for its state in replies.
    pub(super) fn status(&self) -> &'static str {
        if self.is_cancelled { "cancelled" } else { "open" }
    }
}

impl WorkOrder {
    /// A number that depends on every field that the audit compares.
    pub fn digest(&self) -> u64 {
        output(output(self.id, self.assembly.into()), self.quantity.into())
    }
}

impl Purchase {
    /// A number that depends on every field that the audit compares.
    pub fn digest(&self) -> u64 {
        output(output(self.id, self.component.into()), self.quantity.into())
    }
}
