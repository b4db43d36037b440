//! The replies of a server as they are parsed. A field more or less is a fault.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewReply<'a> {
    pub(super) order: Option<u64>,
    pub(super) status: &'a str,
    pub(super) total: i64,
    pub(super) owed: i64,
    pub(super) work_orders: Vec<u64>,
}

/// The reply to a change, or to a cancellation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeReply<'a> {
    pub(super) order: u64,
    pub(super) status: &'a str,
    pub(super) total: i64,
    pub(super) owed: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderReply<'a> {
    pub(super) order: u64,
    pub(super) customer: u32,
    pub(super) status: &'a str,
    pub(super) large: bool,
    pub(super) total: i64,
    pub(super) lines: Vec<LineReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LineReply {
    pub(super) assembly: u32,
    pub(super) quantity: u32,
    pub(super) price: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CustomerReply<'a> {
    pub(super) customer: u32,
    pub(super) discount: u32,
    pub(super) limit: i64,
    pub(super) owed: i64,
    #[serde(borrow)]
    pub(super) orders: Vec<CustomerOrderReply<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CustomerOrderReply<'a> {
    pub(super) order: u64,
    pub(super) status: &'a str,
    pub(super) total: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkOrderReply {
    pub(super) work_order: u64,
    pub(super) state: u8,
    pub(super) assembly: u32,
    pub(super) quantity: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PurchasesReply {
    pub(super) purchases: Vec<PurchaseReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PurchaseReply {
    pub(super) purchase: u64,
    pub(super) component: u32,
    pub(super) quantity: u32,
}
