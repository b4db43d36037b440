//! A business in memory, for tests: it answers as the definition says, with one planted fault at most.

use std::collections::{BTreeMap, HashMap};

use super::ledger::{CustomerLedger, Ledgers};
use super::order::{Line, Order, Purchase, WorkOrder, is_large};
use super::population::Population;

/// A server's state and its planted fault.
#[derive(Debug)]
pub struct MemoryBusiness {
    population: Population,
    customers: BTreeMap<u32, CustomerLedger>,
    next_order: u64,
    /// Work orders with their states.
    work_orders: BTreeMap<u64, (WorkOrder, u8)>,
    /// Pieces on hand, and whether a purchase is on order.
    components: HashMap<u32, (i64, bool)>,
    /// Purchases, and whether they were delivered.
    purchases: BTreeMap<u64, (Purchase, bool)>,
    plant: &'static str,
}

impl MemoryBusiness {
    /// A business with this population.
    pub fn new(population: Population, plant: &'static str) -> MemoryBusiness {
        let customer = |customer| (customer, CustomerLedger::first(&population, customer));
        MemoryBusiness {
            population,
            customers: (0..population.customers()).map(customer).collect(),
            next_order: population.first_new_order(),
            work_orders: BTreeMap::new(),
            components: HashMap::new(),
            purchases: BTreeMap::new(),
            plant,
        }
    }

    /// Uses up nearly all pieces of every component.
    pub fn empty_the_store(&mut self) {
        self.components =
            (0..self.population.components()).map(|component| (component, (1, false))).collect();
    }

    /// The status and the body of the reply to a whole request.
    pub fn reply(&mut self, request: &str) -> (u16, String) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let target = head.split(' ').nth(1).and_then(|target| target.strip_prefix("/orders/"));
        let (path, query) = target.map_or(("", ""), |target| target.split_once('?').unwrap_or((target, "")));
        let fields = if body.is_empty() { query } else { body };
        let fields: HashMap<&str, &str> =
            fields.split('&').filter_map(|field| field.split_once('=')).collect();
        let number = |name: &str| fields.get(name).and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
        let (customer, order) = (number("customer") as u32, number("order"));
        let lines = || fields.get("lines").map_or_else(Vec::new, |text| parse_lines(text));
        let answer = match path {
            "new" => Ok(self.new_order(customer, lines())),
            "change" => Ok(self.change(customer, order, lines())),
            "cancel" => Ok(self.cancel(customer, order)),
            "order" => Ok(self.order(customer, order)),
            "customer" => Ok(self.customer(customer)),
            "plan" => {
                let id = self.work_orders.len() as u64;
                let (assembly, quantity) = (number("assembly") as u32, number("quantity") as u32);
                self.start(WorkOrder { id, assembly, quantity })
            }
            "schedule" => {
                let (work_order, _) = self.work_orders[&number("work_order")];
                self.start(work_order)
            }
            "advance" => {
                let (work_order, state) = self.work_orders.get_mut(&number("work_order")).expect("it exists");
                *state += 1;
                assert_eq!(u64::from(*state), number("state"));
                Ok(work_order_text(work_order, *state))
            }
            "purchases" => Ok(self.purchases(number("supplier"), number("of"))),
            "deliver" => Ok(self.deliver(number("purchase"))),
            other => panic!("no request has the path {other}"),
        };
        match answer {
            // The id of a new order may be any, so its total is wrong.
            Ok(text) if self.plant == "new" && path == "new" => (200, text.replace("total\":", "total\":1")),
            Ok(text) if self.plant == path => (200, text.replacen(":", ":1", 1)),
            Ok(text) => (200, text),
            Err(text) => (409, text),
        }
    }

    fn new_order(&mut self, customer: u32, lines: Vec<Line>) -> String {
        let ledger = self.customers.get_mut(&customer).expect("the customer exists");
        let total_cents = self.population.total_cents(ledger.discount, &lines);
        if ledger.is_above_limit(total_cents) && self.plant != "credit" {
            let owed = ledger.owed_cents;
            return format!(
                r#"{{"order":null,"status":"refused","total":{total_cents},"owed":{owed},"work_orders":[]}}"#
            );
        }
        let id = self.next_order;
        self.next_order += u64::from(self.plant != "order-id-twice");
        let (mut ids, is_large) = (Vec::new(), is_large(&lines));
        for Line { assembly, quantity } in lines.iter().copied().filter(|_| is_large) {
            let id = self.work_orders.len() as u64;
            self.work_orders.insert(id, (WorkOrder { id, assembly, quantity }, 0));
            ids.push(id.to_string());
        }
        if self.plant == "lost-large-line" {
            ids.pop();
        }
        let order = Order { id, customer, total_cents, is_cancelled: false, lines };
        if self.plant != "lost-order" {
            ledger.enter(order);
        }
        let owed = ledger.owed_cents;
        format!(
            r#"{{"order":{id},"status":"open","total":{total_cents},"owed":{owed},"work_orders":[{}]}}"#,
            ids.join(",")
        )
    }

    fn change(&mut self, customer: u32, id: u64, lines: Vec<Line>) -> String {
        let ledger = self.customers.get_mut(&customer).expect("the customer exists");
        let before = ledger.orders[&id].clone();
        assert!(before.can_change() && before.lines != lines, "{before:?}");
        let total_cents = self.population.total_cents(ledger.discount, &lines);
        let is_refused = ledger.is_above_limit(total_cents - before.total_cents);
        let (status, total_cents) =
            if is_refused { ("refused", before.total_cents) } else { ("open", total_cents) };
        if !is_refused {
            ledger.enter(Order { total_cents, lines, ..before });
        }
        let owed = ledger.owed_cents;
        format!(r#"{{"order":{id},"status":"{status}","total":{total_cents},"owed":{owed}}}"#)
    }

    fn cancel(&mut self, customer: u32, id: u64) -> String {
        let ledger = self.customers.get_mut(&customer).expect("the customer exists");
        let order = Order { is_cancelled: true, ..ledger.orders[&id].clone() };
        let total_cents = order.total_cents;
        ledger.enter(order);
        let owed = ledger.owed_cents;
        format!(r#"{{"order":{id},"status":"cancelled","total":{total_cents},"owed":{owed}}}"#)
    }

    fn order(&self, customer: u32, id: u64) -> String {
        let order = &self.customers[&customer].orders[&id];
        let line = |line: &Line| {
            let Line { assembly, quantity } = line;
            let price = self.population.price_cents(*assembly);
            format!(r#"{{"assembly":{assembly},"quantity":{quantity},"price":{price}}}"#)
        };
        let lines: Vec<String> = order.lines.iter().map(line).collect();
        format!(
            r#"{{"order":{id},"customer":{customer},"status":"{}","large":{},"total":{},"lines":[{}]}}"#,
            order.status(),
            is_large(&order.lines),
            order.total_cents,
            lines.join(",")
        )
    }

    fn customer(&self, customer: u32) -> String {
        let ledger = &self.customers[&customer];
        let order = |order: &Order| {
            let (id, status, total) = (order.id, order.status(), order.total_cents);
            format!(r#"{{"order":{id},"status":"{status}","total":{total}}}"#)
        };
        let orders: Vec<String> = ledger.orders.values().rev().take(10).map(order).collect();
        let CustomerLedger { discount, limit_cents, owed_cents, .. } = ledger;
        format!(
            r#"{{"customer":{customer},"discount":{discount},"limit":{limit_cents},"owed":{owed_cents},"orders":[{}]}}"#,
            orders.join(",")
        )
    }

    /// Takes the components of a work order, which is then in state 1.
    fn start(&mut self, work_order: WorkOrder) -> Result<String, String> {
        let bill = self.population.assembly(work_order.assembly).bill;
        let first = |component: &u32| (i64::from(self.population.on_hand(*component)), false);
        let taken = |quantity: u32| i64::from(quantity * work_order.quantity);
        for (component, quantity) in &bill {
            let (on_hand, _) = self.components.entry(*component).or_insert_with(|| first(component));
            if *on_hand < taken(*quantity) {
                return Err(format!(r#"{{"error":"component {component} is short"}}"#));
            }
        }
        for (component, quantity) in &bill {
            let (on_hand, is_on_order) = self.components.get_mut(component).expect("it was looked at");
            *on_hand -= taken(*quantity);
            if *on_hand < 1_000 && !*is_on_order {
                *is_on_order = true;
                let id = self.purchases.len() as u64;
                self.purchases.insert(id, (Purchase { id, component: *component, quantity: 1_000 }, false));
            }
        }
        self.work_orders.insert(work_order.id, (work_order, 1));
        Ok(work_order_text(&work_order, 1))
    }

    fn purchases(&self, supplier: u64, suppliers: u64) -> String {
        let is_open = |(purchase, is_delivered): &&(Purchase, bool)| {
            u64::from(purchase.component) % suppliers == supplier
                && (!is_delivered || self.plant == "delivered-again")
        };
        let text = |(purchase, _): &(Purchase, bool)| purchase_text(purchase);
        let open: Vec<String> = self.purchases.values().filter(is_open).take(20).map(text).collect();
        format!(r#"{{"purchases":[{}]}}"#, open.join(","))
    }

    fn deliver(&mut self, id: u64) -> String {
        let (purchase, is_delivered) = self.purchases.get_mut(&id).expect("the purchase exists");
        *is_delivered = true;
        let (on_hand, is_on_order) = self.components.get_mut(&purchase.component).expect("it was taken from");
        *on_hand += 1_000;
        *is_on_order = false;
        purchase_text(purchase)
    }

    /// What the audit would print, without the rules that the database breaks by itself.
    pub fn audit(&self) -> String {
        let customer = |ledger: &CustomerLedger| {
            let last = ledger.orders.values().next_back().map_or(0, Order::digest);
            let (owed, orders, sum) = (ledger.owed_cents, ledger.orders.len(), ledger.orders_sum());
            format!(r#"[{},{owed},{orders},"{sum:016x}","{last:016x}"]"#, ledger.customer)
        };
        let customers: Vec<String> = self.customers.values().map(customer).collect();
        let complete = || self.work_orders.values().filter(|(_, state)| *state == 4);
        let delivered = || self.purchases.values().filter(|(_, is_delivered)| *is_delivered);
        let sum = |sum: u64, digest: u64| sum.wrapping_add(digest);
        format!(
            r#"{{"customers":[{}],"orders":{},"complete":{},"complete_sum":"{:016x}","unfinished":{},"delivered":{},"delivered_sum":"{:016x}","broken":[],"seconds":0.1}}"#,
            customers.join(","),
            self.customers.values().map(|ledger| ledger.orders.len()).sum::<usize>(),
            complete().count(),
            complete().map(|(work_order, _)| work_order.digest()).fold(0, sum),
            self.work_orders.len() - complete().count(),
            delivered().count(),
            delivered().map(|(purchase, _)| purchase.digest()).fold(0, sum)
        )
    }

    /// The broken rules of an audit now.
    ///
    /// # Panics
    /// If the text of the audit cannot be parsed.
    pub fn broken_rules(&self, ledgers: &Ledgers) -> Vec<(String, String)> {
        let facts = serde_json::from_str(&self.audit()).expect("the audit has its form");
        let broken = super::compare_with_ledgers(&facts, ledgers, &self.population);
        broken.into_iter().map(|one| (one.rule, one.examples[0].clone())).collect()
    }
}

fn parse_lines(text: &str) -> Vec<Line> {
    let line = |pair: &str| {
        let (assembly, quantity) = pair.split_once(':').expect("a line is a pair");
        Line { assembly: assembly.parse().expect("a number"), quantity: quantity.parse().expect("a number") }
    };
    text.split(',').map(line).collect()
}

fn work_order_text(WorkOrder { id, assembly, quantity }: &WorkOrder, state: u8) -> String {
    format!(r#"{{"work_order":{id},"state":{state},"assembly":{assembly},"quantity":{quantity}}}"#)
}

fn purchase_text(Purchase { id, component, quantity }: &Purchase) -> String {
    format!(r#"{{"purchase":{id},"component":{component},"quantity":{quantity}}}"#)
}
