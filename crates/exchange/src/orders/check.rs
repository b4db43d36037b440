//! Checks replies to a dealer against the ledger of the customer, and enters what they confirm.

use super::ledger::{CustomerLedger, Unconfirmed, UsedIds};
use super::order::{Line, Order, WorkOrder, is_large};
use super::population::Population;
use super::reply::{ChangeReply, CustomerReply, NewReply, OrderReply};
use super::request::Request;
use crate::audited::{ReplyError, parse, same};

/// Orders that the page of a customer shows.
const RECENT_MAX: usize = 10;

/// What a reply to a dealer means.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DealerReply {
    /// What is wrong with it.
    pub error: Option<ReplyError>,
    /// The work orders of a large order that it confirms.
    pub work_orders: Vec<WorkOrder>,
    /// Whether the order was refused, as the customer would owe too much.
    pub is_refused: bool,
    /// The new order that it confirms.
    pub(super) new_order: Option<u64>,
}

/// Checks replies with the ledger of one customer.
pub(super) struct Check<'a> {
    pub(super) population: &'a Population,
    pub(super) customer: &'a mut CustomerLedger,
    pub(super) ids: &'a mut UsedIds,
}

impl Check<'_> {
    /// Checks the body of the reply to `request`, whose status is 200. The ledger has what the reply confirms, also if something else in
    /// it is wrong.
    pub(super) fn check(&mut self, request: &Request, body: &[u8]) -> DealerReply {
        let mut reply = DealerReply::default();
        let result = match request {
            Request::New { lines, .. } => self.check_new(lines, body, &mut reply),
            Request::Change { order, lines, .. } => self.check_change(*order, lines, body, &mut reply),
            Request::Cancel { order, .. } => self.check_cancel(*order, body),
            Request::Order { order, .. } => self.check_order(*order, body),
            _ => self.check_customer(body),
        };
        reply.error = result.err();
        reply
    }

    fn check_new(&mut self, lines: &[Line], body: &[u8], out: &mut DealerReply) -> Result<(), ReplyError> {
        let total_cents = self.population.total_cents(self.customer.discount, lines);
        let reply: NewReply<'_> =
            self.parse_or_unconfirmed(body, || Unconfirmed::New { total_cents, lines: lines.to_vec() })?;
        let is_above = self.customer.is_above_limit(total_cents);
        match (reply.status, reply.order) {
            ("open", Some(id)) => {
                if !self.ids.use_order(id) {
                    self.customer.record_unconfirmed(Unconfirmed::Several);
                    return Err(ReplyError(format!("the id {id} of a new order is not new")));
                }
                let (customer, lines) = (self.customer.customer, lines.to_vec());
                self.customer.enter(Order { id, customer, total_cents, is_cancelled: false, lines });
                out.new_order = Some(id);
                out.work_orders = self.work_orders(id, &reply.work_orders)?;
            }
            ("refused", None) => {
                out.is_refused = true;
                same("number of work orders of a refused order", 0, reply.work_orders.len())?;
            }
            (status, id) => {
                self.customer.record_unconfirmed(Unconfirmed::New { total_cents, lines: lines.to_vec() });
                return Err(ReplyError(format!("status of a new order: {status} with the id {id:?}")));
            }
        }
        self.check_refusal(is_above, out.is_refused)?;
        same("total", total_cents, reply.total)?;
        same("owed", self.customer.owed_cents, reply.owed)
    }

    /// The work orders of a new order, one for each line if it is large.
    fn work_orders(&mut self, order: u64, ids: &[u64]) -> Result<Vec<WorkOrder>, ReplyError> {
        let lines = &self.customer.orders[&order].lines;
        let expected = if is_large(lines) { lines.len() } else { 0 };
        same(format_args!("number of work orders of order {order}"), expected, ids.len())?;
        if let Some(id) = ids.iter().find(|id| !self.ids.use_work_order(**id)) {
            return Err(ReplyError(format!("the id {id} of a new work order is not new")));
        }
        let work_order = |(line, id): (&Line, &u64)| {
            let Line { assembly, quantity } = *line;
            WorkOrder { id: *id, assembly, quantity }
        };
        Ok(lines.iter().zip(ids).map(work_order).collect())
    }

    fn check_change(
        &mut self,
        order: u64,
        lines: &[Line],
        body: &[u8],
        out: &mut DealerReply,
    ) -> Result<(), ReplyError> {
        let before = self.customer.orders[&order].clone();
        let total_cents = self.population.total_cents(self.customer.discount, lines);
        let after = Order { total_cents, lines: lines.to_vec(), ..before.clone() };
        let reply: ChangeReply<'_> =
            self.parse_or_unconfirmed(body, || Unconfirmed::Changed(after.clone()))?;
        let is_above = self.customer.is_above_limit(total_cents - before.total_cents);
        let total_cents = match reply.status {
            "open" => {
                self.customer.enter(after);
                total_cents
            }
            "refused" => {
                out.is_refused = true;
                before.total_cents
            }
            status => {
                self.customer.record_unconfirmed(Unconfirmed::Changed(after));
                return Err(ReplyError(format!("status of order {order}: {status} after a change")));
            }
        };
        self.check_refusal(is_above, out.is_refused)?;
        same("order", order, reply.order)?;
        same(format_args!("total of order {order}"), total_cents, reply.total)?;
        same("owed", self.customer.owed_cents, reply.owed)
    }

    fn check_cancel(&mut self, order: u64, body: &[u8]) -> Result<(), ReplyError> {
        let after = Order { is_cancelled: true, ..self.customer.orders[&order].clone() };
        let reply: ChangeReply<'_> =
            self.parse_or_unconfirmed(body, || Unconfirmed::Changed(after.clone()))?;
        let total_cents = after.total_cents;
        self.customer.enter(after);
        same("order", order, reply.order)?;
        same(format_args!("status of order {order}"), "cancelled", reply.status)?;
        same(format_args!("total of order {order}"), total_cents, reply.total)?;
        same("owed", self.customer.owed_cents, reply.owed)
    }

    fn check_order(&self, id: u64, body: &[u8]) -> Result<(), ReplyError> {
        let reply: OrderReply<'_> = parse(body)?;
        let order = &self.customer.orders[&id];
        same("order", id, reply.order)?;
        same(format_args!("customer of order {id}"), order.customer, reply.customer)?;
        same(format_args!("status of order {id}"), order.status(), reply.status)?;
        same(format_args!("whether order {id} is large"), is_large(&order.lines), reply.large)?;
        same(format_args!("total of order {id}"), order.total_cents, reply.total)?;
        same(format_args!("number of lines of order {id}"), order.lines.len(), reply.lines.len())?;
        for (line, reply) in order.lines.iter().zip(&reply.lines) {
            same(format_args!("assembly in order {id}"), line.assembly, reply.assembly)?;
            same(format_args!("quantity in order {id}"), line.quantity, reply.quantity)?;
            let price_cents = self.population.price_cents(line.assembly);
            same(format_args!("price in order {id}"), price_cents, reply.price)?;
        }
        Ok(())
    }

    fn check_customer(&self, body: &[u8]) -> Result<(), ReplyError> {
        let reply: CustomerReply<'_> = parse(body)?;
        let ledger = &self.customer;
        same("customer", ledger.customer, reply.customer)?;
        same("discount", ledger.discount, reply.discount)?;
        same("credit limit", ledger.limit_cents, reply.limit)?;
        same("owed", ledger.owed_cents, reply.owed)?;
        let recent = ledger.orders.values().rev().take(RECENT_MAX);
        same("number of orders", recent.len(), reply.orders.len())?;
        for (order, reply) in recent.zip(&reply.orders) {
            same("order", order.id, reply.order)?;
            same(format_args!("status of order {}", order.id), order.status(), reply.status)?;
            same(format_args!("total of order {}", order.id), order.total_cents, reply.total)?;
        }
        Ok(())
    }

    fn check_refusal(&self, is_above: bool, is_refused: bool) -> Result<(), ReplyError> {
        let CustomerLedger { owed_cents, limit_cents, .. } = &*self.customer;
        match (is_above, is_refused) {
            (true, false) => Err(ReplyError(format!(
                "credit: the order is accepted, and the customer owes {owed_cents} of at most {limit_cents} cents"
            ))),
            (false, true) => {
                let detail = format!(
                    "credit: the order is refused, and the customer owes only {owed_cents} of {limit_cents} cents"
                );
                Err(ReplyError(detail))
            }
            _ => Ok(()),
        }
    }

    /// Parses a body. One that cannot be parsed leaves open what the request did.
    fn parse_or_unconfirmed<'a, T: serde::Deserialize<'a>>(
        &mut self,
        body: &'a [u8],
        change: impl FnOnce() -> Unconfirmed,
    ) -> Result<T, ReplyError> {
        parse(body).inspect_err(|_| self.customer.record_unconfirmed(change()))
    }
}
