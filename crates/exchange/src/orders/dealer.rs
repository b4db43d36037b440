//! One dealer: its operations and the ledgers of its customers.

use std::collections::HashMap;
use std::ops::Range;

use super::check::{Check, DealerReply};
use super::ledger::{CustomerLedger, Ledgers, Unconfirmed, UsedIds};
use super::moments::Moments;
use super::operation::{Card, Decks, OperationKind};
use super::order::{Line, Order, is_large};
use super::population::{CUSTOMERS_PER_DISTRICT, Population};
use super::request::Request;
use crate::audited::not_ok;
use crate::random::{Part, Random, output, part_seed};

/// Dealers of a district.
pub const DEALERS_PER_DISTRICT: u32 = 5;
/// Customers of a dealer.
const CUSTOMERS: u32 = CUSTOMERS_PER_DISTRICT / DEALERS_PER_DISTRICT;
/// Most lines of an order.
const LINES_MAX: u32 = 5;
/// Most pieces of a line of a small order.
const PIECES_MAX: u32 = 10;

/// A dealer, who enters, changes and looks up the orders of its customers.
pub struct Dealer {
    population: Population,
    customers: Range<u32>,
    ledgers: HashMap<u32, CustomerLedger>,
    /// Customer and id of every order.
    orders: Vec<(u32, u64)>,
    /// Those that may be changed or cancelled.
    changeable: Vec<(u32, u64)>,
    moments: Moments,
    decks: Decks,
    random: Random,
    request: Request,
}

impl Dealer {
    /// The dealer with this number in the whole crowd, from 0, who draws from `seed`. It continues from `ledgers` of earlier runs.
    pub fn new(
        number: u32,
        population: Population,
        seed: u64,
        ledgers: &HashMap<u32, &CustomerLedger>,
    ) -> Dealer {
        let customers = number * CUSTOMERS..(number + 1) * CUSTOMERS;
        let of_dealers = part_seed(seed, Part::Dealers);
        let mut dealer = Dealer {
            population,
            ledgers: HashMap::new(),
            orders: Vec::new(),
            changeable: Vec::new(),
            // The draws of requests depend on replies, and the moments must not.
            moments: Moments::new(output(of_dealers, u64::from(number) * 2)),
            random: Random::new(output(of_dealers, u64::from(number) * 2 + 1)),
            decks: Decks::new(seed, number),
            request: Request::Customer { customer: customers.start },
            customers: customers.clone(),
        };
        for customer in customers {
            let first = || CustomerLedger::first(&population, customer);
            let ledger = ledgers.get(&customer).map_or_else(first, |known| (*known).clone());
            if ledger.unconfirmed.is_none() {
                ledger.orders.values().for_each(|order| dealer.list(order));
            }
            dealer.ledgers.insert(customer, ledger);
        }
        dealer
    }

    /// The moment of its next operation, ns after the gate opened.
    pub fn due_ns(&self) -> u64 {
        self.moments.next_ns()
    }

    /// The request by which the dealer joins: a customer, which changes nothing. It is not counted.
    pub fn join(&mut self) {
        self.request = Request::Customer { customer: self.customers.start };
    }

    /// Draws the next operation with its request.
    pub fn begin(&mut self) -> OperationKind {
        self.moments.advance();
        let card = self.decks.draw();
        self.request = match card {
            Card::New => self.draw_new(1, PIECES_MAX),
            Card::NewLarge => self.draw_new(51, 60),
            Card::Change | Card::Cancel => match draw(&mut self.random, &self.changeable) {
                Some((customer, order)) if card == Card::Cancel => Request::Cancel { customer, order },
                Some((customer, order)) => {
                    Request::Change { customer, order, lines: self.draw_change(customer, order) }
                }
                None => self.draw_new(1, PIECES_MAX),
            },
            Card::Order => match draw(&mut self.random, &self.orders) {
                Some((customer, order)) => Request::Order { customer, order },
                None => Request::Customer { customer: self.draw_customer() },
            },
            Card::Customer => Request::Customer { customer: self.draw_customer() },
        };
        if matches!(self.request, Request::New { .. } | Request::Change { .. } | Request::Cancel { .. }) {
            self.ledger_mut().is_changed = true;
        }
        card.kind()
    }

    /// Appends the request of the operation.
    pub fn write_request(&self, host: &str, out: &mut Vec<u8>) {
        self.request.write(host, out);
    }

    /// The name of the request in flight, for messages.
    pub fn request_name(&self) -> &'static str {
        self.request.name()
    }

    /// The customer of the request in flight.
    pub fn customer(&self) -> u32 {
        match &self.request {
            Request::New { customer, .. }
            | Request::Change { customer, .. }
            | Request::Cancel { customer, .. }
            | Request::Order { customer, .. }
            | Request::Customer { customer } => *customer,
            _ => unreachable!("a dealer sends no request of a factory"),
        }
    }

    /// Takes the reply to the request in flight.
    pub fn on_reply(&mut self, ids: &mut UsedIds, status: u16, body: &[u8]) -> DealerReply {
        if status != 200 {
            self.on_lost();
            return DealerReply { error: Some(not_ok(status, body)), ..DealerReply::default() };
        }
        let request = self.request.clone();
        let (population, customer) = (self.population, self.customer());
        let ledger = self.ledgers.get_mut(&customer).expect("a dealer has the ledgers of its customers");
        let reply = Check { population: &population, customer: ledger, ids }.check(&request, body);
        if ledger.unconfirmed.is_some() {
            self.unlist(customer);
        } else if let Some(id) = reply.new_order {
            let order = self.ledgers[&customer].orders[&id].clone();
            self.list(&order);
        } else if let Request::Cancel { order, .. } = request {
            self.changeable.retain(|(_, id)| *id != order);
        }
        reply
    }

    /// No reply to the request in flight will come.
    pub fn on_lost(&mut self) {
        let customer = self.customer();
        let ledger = &self.ledgers[&customer];
        let change = match &self.request {
            Request::New { lines, .. } => {
                let total_cents = self.population.total_cents(ledger.discount, lines);
                Unconfirmed::New { total_cents, lines: lines.clone() }
            }
            Request::Change { order, lines, .. } => {
                let total_cents = self.population.total_cents(ledger.discount, lines);
                let before = ledger.orders[order].clone();
                Unconfirmed::Changed(Order { total_cents, lines: lines.clone(), ..before })
            }
            Request::Cancel { order, .. } => {
                Unconfirmed::Changed(Order { is_cancelled: true, ..ledger.orders[order].clone() })
            }
            _ => return,
        };
        self.ledger_mut().record_unconfirmed(change);
        self.unlist(customer);
    }

    /// Work orders that a large order in flight may have made, whose ids the crowd then does not know.
    pub fn unconfirmed_work_orders(&self) -> u64 {
        match &self.request {
            Request::New { lines, .. } if is_large(lines) => lines.len() as u64,
            _ => 0,
        }
    }

    /// The ledgers of all customers for which the dealer made requests, at the end.
    pub fn take_ledgers(&mut self) -> impl Iterator<Item = CustomerLedger> {
        std::mem::take(&mut self.ledgers).into_values().filter(|ledger| ledger.is_changed)
    }

    fn ledger_mut(&mut self) -> &mut CustomerLedger {
        let customer = self.customer();
        self.ledgers.get_mut(&customer).expect("a dealer has the ledgers of its customers")
    }

    fn list(&mut self, order: &Order) {
        self.orders.push((order.customer, order.id));
        if order.can_change() {
            self.changeable.push((order.customer, order.id));
        }
    }

    /// Makes no further requests for the orders of a customer whose account is not known.
    fn unlist(&mut self, customer: u32) {
        self.orders.retain(|(other, _)| *other != customer);
        self.changeable.retain(|(other, _)| *other != customer);
    }

    /// A customer whose account is known, if there is one.
    fn draw_customer(&mut self) -> u32 {
        let first = self.random.below(CUSTOMERS);
        let mut all = (0..CUSTOMERS).map(|next| self.customers.start + (first + next) % CUSTOMERS);
        let is_known = |customer: &u32| self.ledgers[customer].unconfirmed.is_none();
        all.find(is_known).unwrap_or(self.customers.start + first)
    }

    /// A new order with this least and this largest number of pieces in a line.
    fn draw_new(&mut self, least: u32, most: u32) -> Request {
        let customer = self.draw_customer();
        let count = 1 + self.random.below(LINES_MAX);
        let assemblies = self.population.assemblies();
        let lines = (0..count)
            .map(|_| {
                let assembly = self.random.below(assemblies);
                Line { assembly, quantity: least + self.random.below(most - least + 1) }
            })
            .collect();
        Request::New { customer, lines }
    }

    /// The lines of an order with new quantities, of which at least one is another one.
    fn draw_change(&mut self, customer: u32, order: u64) -> Vec<Line> {
        let mut lines = self.ledgers[&customer].orders[&order].lines.clone();
        let before = lines.clone();
        lines.iter_mut().for_each(|line| line.quantity = 1 + self.random.below(PIECES_MAX));
        if lines == before {
            lines[0].quantity = 1 + lines[0].quantity % PIECES_MAX;
        }
        lines
    }
}

/// One of these orders; `None` if there is none.
fn draw(random: &mut Random, orders: &[(u32, u64)]) -> Option<(u32, u64)> {
    let index = if orders.is_empty() { 0 } else { random.below(orders.len() as u32) as usize };
    orders.get(index).copied()
}

/// The ledgers by customer, as [`Dealer::new`] looks them up.
pub fn by_customer(ledgers: &Ledgers) -> HashMap<u32, &CustomerLedger> {
    ledgers.customers.iter().map(|ledger| (ledger.customer, ledger)).collect()
}

#[cfg(test)]
#[path = "dealer_tests.rs"]
mod tests;
