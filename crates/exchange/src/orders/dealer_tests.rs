use std::collections::HashMap as Map;

use proptest::prelude::*;

use super::*;
use crate::altered::{altered, changes};
use crate::orders::{MemoryBusiness, ProductionLedger, UsedIds};

const POPULATION: Population = Population { seed: 1, rate: 2 };

fn dealer(ledgers: &Ledgers) -> Dealer {
    Dealer::new(3, POPULATION, ledgers.seed_of_next_run(7), &by_customer(ledgers))
}

/// Makes operations against a business. Returns how often each kind was complete, refusals, work orders, and the first fault.
fn play(
    dealer: &mut Dealer,
    business: &mut MemoryBusiness,
    operations: u32,
) -> (Map<OperationKind, u32>, u32, usize, Option<String>) {
    let mut ids = UsedIds::new(&POPULATION, &Ledgers::default());
    let (mut complete, mut refused, mut work_orders) = (Map::new(), 0, 0);
    for _ in 0..operations {
        let kind = dealer.begin();
        let mut request = Vec::new();
        dealer.write_request("test", &mut request);
        let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
        let reply = dealer.on_reply(&mut ids, status, body.as_bytes());
        if let Some(error) = reply.error {
            return (complete, refused, work_orders, Some(format!("{}: {error}", dealer.request_name())));
        }
        refused += u32::from(reply.is_refused);
        work_orders += reply.work_orders.len();
        *complete.entry(kind).or_default() += 1;
    }
    (complete, refused, work_orders, None)
}

fn ledgers(dealer: &mut Dealer, production: ProductionLedger) -> Ledgers {
    Ledgers { runs: 1, customers: dealer.take_ledgers().collect(), production }
}

#[test]
fn every_reply_of_a_right_business_is_right_and_the_shares_are_exact() {
    let mut business = MemoryBusiness::new(POPULATION, "");
    let mut dealer = dealer(&Ledgers::default());
    let (complete, refused, work_orders, fault) = play(&mut dealer, &mut business, 2_000);
    assert_eq!(fault, None);
    let count = |kind| complete[&kind];
    assert_eq!(
        [
            count(OperationKind::NewOrder),
            count(OperationKind::ChangeOrder),
            count(OperationKind::OrderStatus)
        ],
        [1_000, 400, 400]
    );
    assert!(refused > 20, "customers with a low limit are refused: {refused}");
    assert!((250..350).contains(&work_orders), "100 large orders have 3 lines each: {work_orders}");
    let production = ProductionLedger { unfinished: work_orders as u64, ..ProductionLedger::default() };
    assert_eq!(business.broken_rules(&ledgers(&mut dealer, production)), []);
}

#[test]
fn a_later_run_continues_from_the_ledgers_with_other_draws() {
    let mut business = MemoryBusiness::new(POPULATION, "");
    let mut first = dealer(&Ledgers::default());
    let first_due_ns = first.due_ns();
    let (.., first_work_orders, fault) = play(&mut first, &mut business, 300);
    assert_eq!(fault, None);
    let known = ledgers(&mut first, ProductionLedger::default());
    let mut second = dealer(&known);
    assert_ne!(second.due_ns(), first_due_ns);
    let (.., second_work_orders, fault) = play(&mut second, &mut business, 300);
    assert_eq!(fault, None);
    let unfinished = (first_work_orders + second_work_orders) as u64;
    let production = ProductionLedger { unfinished, ..ProductionLedger::default() };
    assert_eq!(business.broken_rules(&ledgers(&mut second, production)), []);
}

#[test]
fn each_fault_of_a_business_is_named() {
    let fault = |plant| {
        let mut business = MemoryBusiness::new(POPULATION, plant);
        let (.., fault) = play(&mut dealer(&Ledgers::default()), &mut business, 2_000);
        fault.unwrap_or_else(|| panic!("{plant} was not detected"))
    };
    assert!(fault("new").starts_with("new: total: 1"), "{}", fault("new"));
    assert!(fault("change").starts_with("change: order: 1"), "{}", fault("change"));
    assert!(fault("cancel").starts_with("cancel: order: 1"), "{}", fault("cancel"));
    assert!(fault("order").starts_with("order: order: 1"), "{}", fault("order"));
    assert!(fault("customer").starts_with("customer: customer: 1"), "{}", fault("customer"));
    assert!(fault("credit").contains("credit: the order is accepted"), "{}", fault("credit"));
    assert!(fault("lost-order").contains("owed: "), "{}", fault("lost-order"));
    assert!(fault("lost-large-line").starts_with("new: number of work orders of order "));
    assert!(fault("order-id-twice").ends_with(" of a new order is not new"));
}

#[test]
fn every_field_of_a_reply_is_checked() {
    // Each field of a right reply in turn gets another value.
    let mut refused = 0;
    for operation in 0..200 {
        let mut business = MemoryBusiness::new(POPULATION, "");
        let mut first = dealer(&Ledgers::default());
        assert_eq!(play(&mut first, &mut business, operation).3, None);
        first.begin();
        let mut request = Vec::new();
        first.write_request("test", &mut request);
        let (_, body) = business.reply(std::str::from_utf8(&request).unwrap());
        let values: Vec<usize> = body.match_indices("\":").map(|(at, _)| at + 2).collect();
        let at = values[operation as usize % values.len()];
        let changed = match &body[at..=at] {
            "[" | "n" | "{" => continue,
            "\"" => format!("{}\"x{}", &body[..at], &body[at + 1..]),
            "t" => format!("{}false{}", &body[..at], &body[at + 4..]),
            "f" => format!("{}true{}", &body[..at], &body[at + 5..]),
            digit => format!("{}{}{digit}{}", &body[..at], 7, &body[at + 1..]),
        };
        let is_new_id = body.starts_with(r#"{"order":"#) && body.contains("work_orders") && at == values[0];
        let mut ids = UsedIds::new(&POPULATION, &Ledgers::default());
        let reply = first.on_reply(&mut ids, 200, changed.as_bytes());
        assert!(reply.error.is_some() || is_new_id, "{changed} was accepted");
        refused += 1;
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_missing_reply_may_be_stored_or_not() {
    for operations in 0..60 {
        for is_stored in [false, true] {
            let mut business = MemoryBusiness::new(POPULATION, "");
            let mut dealer = dealer(&Ledgers::default());
            let (.., work_orders, fault) = play(&mut dealer, &mut business, operations);
            assert_eq!(fault, None);
            dealer.begin();
            let mut request = Vec::new();
            dealer.write_request("test", &mut request);
            if is_stored {
                business.reply(std::str::from_utf8(&request).unwrap());
            }
            dealer.on_lost();
            let unfinished = work_orders as u64 + dealer.unconfirmed_work_orders();
            let production = ProductionLedger { unfinished, ..ProductionLedger::default() };
            assert_eq!(business.broken_rules(&ledgers(&mut dealer, production)), [], "{operations}");
        }
    }
}

#[test]
fn a_customer_without_a_right_reply_is_left_alone() {
    let mut dealer = dealer(&Ledgers::default());
    let mut ids = UsedIds::new(&POPULATION, &Ledgers::default());
    let customer = loop {
        if dealer.begin() == OperationKind::NewOrder {
            break dealer.customer();
        }
    };
    let reply = dealer.on_reply(&mut ids, 500, b"{\"error\":\"no disk\"}\n");
    assert_eq!(reply.error.unwrap().to_string(), "status 500 instead of 200: {\"error\":\"no disk\"}");
    for _ in 0..200 {
        dealer.begin();
        assert_ne!(dealer.customer(), customer);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_a_reply_is_judged(number in 1..60_u32, changes in changes()) {
        let (mut business, mut dealer) = (MemoryBusiness::new(POPULATION, ""), dealer(&Ledgers::default()));
        prop_assert_eq!(play(&mut dealer, &mut business, number).3, None);
        let mut ids = UsedIds::new(&POPULATION, &Ledgers::default());
        dealer.begin();
        let mut request = Vec::new();
        dealer.write_request("test", &mut request);
        let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
        let reply = dealer.on_reply(&mut ids, status, &altered(body.as_bytes(), &changes));
        prop_assert!(reply.error.is_none_or(|error| error.to_string().contains(' ')));
        dealer.begin();
        dealer.on_lost();
        let _ = (dealer.unconfirmed_work_orders(), dealer.take_ledgers().count());
    }
}
