//! One supplier: it polls for its purchases, and delivers them one after the other.

use std::collections::{HashSet, VecDeque};

use super::ledger::ProductionLedger;
use super::order::Purchase;
use super::reply::{PurchaseReply, PurchasesReply};
use super::request::Request;
use crate::audited::{ReplyError, not_ok, parse, same};

/// Pieces of a purchase.
const PIECES: u32 = 1_000;
/// Most purchases of one reply.
const PURCHASES_MAX: usize = 20;

/// A supplier, who delivers the components whose number leaves its own number as remainder.
pub struct Supplier {
    /// Its number, from 0.
    number: u32,
    /// Number of all suppliers.
    suppliers: u32,
    /// What it is to deliver.
    open: VecDeque<Purchase>,
    /// The ids that it has delivered.
    delivered: HashSet<u64>,
    /// The last reply may not have had all purchases.
    has_more: bool,
    request: Request,
}

/// What follows a reply to a supplier.
#[derive(Debug, PartialEq, Eq)]
pub enum SupplierReply {
    /// These are the purchases to deliver.
    Purchases,
    /// One purchase is delivered.
    Delivered,
    /// A poll or a delivery ends with a wrong reply.
    Failed(ReplyError),
}

impl Supplier {
    /// Supplier `number`, from 0, of `suppliers`.
    pub fn new(number: u32, suppliers: u32) -> Supplier {
        Supplier {
            number,
            suppliers,
            open: VecDeque::new(),
            delivered: HashSet::new(),
            has_more: false,
            request: Request::Purchases { supplier: number, suppliers },
        }
    }

    /// Whether another request follows at once: a delivery, or a poll for further purchases.
    pub fn has_next(&self) -> bool {
        !self.open.is_empty() || self.has_more
    }

    /// Appends the next request: a delivery, or a poll if there is nothing to deliver.
    pub fn write_next(&mut self, host: &str, out: &mut Vec<u8>) {
        self.request = match self.open.front() {
            Some(purchase) => Request::Deliver { purchase: purchase.id },
            None => Request::Purchases { supplier: self.number, suppliers: self.suppliers },
        };
        self.request.write(host, out);
    }

    /// The name of the request in flight, for messages.
    pub fn request_name(&self) -> &'static str {
        self.request.name()
    }

    /// Takes the reply to the request in flight.
    pub fn on_reply(&mut self, ledger: &mut ProductionLedger, status: u16, body: &[u8]) -> SupplierReply {
        if status != 200 {
            self.on_lost(ledger);
            return SupplierReply::Failed(not_ok(status, body));
        }
        let result = match self.open.pop_front() {
            Some(purchase) => self.check_delivery(purchase, ledger, body).map(|()| SupplierReply::Delivered),
            None => self.check_purchases(body).map(|()| SupplierReply::Purchases),
        };
        result.unwrap_or_else(SupplierReply::Failed)
    }

    /// No right reply to the request in flight will come. What is still to be delivered is found again by the next poll.
    pub fn on_lost(&mut self, ledger: &mut ProductionLedger) {
        if self.open.pop_front().is_some() {
            ledger.maybe_delivered += 1;
        }
        self.open.clear();
        self.has_more = false;
    }

    fn check_delivery(
        &mut self,
        purchase: Purchase,
        ledger: &mut ProductionLedger,
        body: &[u8],
    ) -> Result<(), ReplyError> {
        let reply: PurchaseReply = parse(body).inspect_err(|_| ledger.maybe_delivered += 1)?;
        ledger.record_delivered(&purchase);
        self.delivered.insert(purchase.id);
        let id = purchase.id;
        same("purchase", id, reply.purchase)?;
        same(format_args!("component of purchase {id}"), purchase.component, reply.component)?;
        same(format_args!("quantity of purchase {id}"), purchase.quantity, reply.quantity)
    }

    fn check_purchases(&mut self, body: &[u8]) -> Result<(), ReplyError> {
        self.has_more = false;
        let reply: PurchasesReply = parse(body)?;
        let purchases = &reply.purchases;
        if !purchases.windows(2).all(|pair| pair[0].purchase < pair[1].purchase) {
            return Err(ReplyError("the purchases are not in the order of their ids".to_owned()));
        }
        if purchases.len() > PURCHASES_MAX {
            return Err(ReplyError(format!("{} purchases, more than {PURCHASES_MAX}", purchases.len())));
        }
        for PurchaseReply { purchase: id, component, quantity } in purchases {
            same(format_args!("quantity of purchase {id}"), PIECES, *quantity)?;
            same(format_args!("supplier of purchase {id}"), self.number, component % self.suppliers)?;
            if self.delivered.contains(id) {
                return Err(ReplyError(format!("purchase {id} was delivered before")));
            }
        }
        let purchase = |reply: &PurchaseReply| Purchase {
            id: reply.purchase,
            component: reply.component,
            quantity: reply.quantity,
        };
        self.open = purchases.iter().map(purchase).collect();
        self.has_more = purchases.len() == PURCHASES_MAX;
        Ok(())
    }
}

#[cfg(test)]
#[path = "supplier_tests.rs"]
mod tests;
