//! Workload `orders`: dealers, factories and suppliers on a database whose every reply, and whose last state, can be checked. The
//! definition is in `docs/reference/orders.md`.
//!
//! Plain data and functions for the crowd and for the audit. The server side is in Java.

mod audit;
mod check;
mod dealer;
mod factory;
mod ledger;
mod moments;
mod operation;
mod order;
mod population;
mod reply;
mod request;
mod supplier;

pub use audit::{AuditFacts, compare_with_ledgers};
pub use check::DealerReply;
pub use dealer::{DEALERS_PER_DISTRICT, Dealer, by_customer};
pub use factory::{Factory, FactoryReply};
pub use ledger::{CustomerLedger, Ledgers, ProductionLedger, Unconfirmed, UsedIds};
#[cfg(any(test, feature = "samples"))]
pub use memory_business::MemoryBusiness;
pub use operation::OperationKind;
pub use order::{Line, Order, Purchase, WorkOrder, is_large};
pub use population::{Assembly, CUSTOMERS_PER_DISTRICT, FirstCustomer, Population};
pub use supplier::{Supplier, SupplierReply};

#[cfg(any(test, feature = "samples"))]
mod memory_business;
#[cfg(test)]
mod vectors_tests;
