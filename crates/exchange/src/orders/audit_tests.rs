use super::*;
use crate::orders::{MemoryBusiness, Order};

const POPULATION: Population = Population { seed: 1, rate: 1 };

/// The broken rules of the database as it was loaded, with ledgers that differ.
fn broken(change: impl FnOnce(&mut Ledgers)) -> String {
    let business = MemoryBusiness::new(POPULATION, "");
    let customers = vec![CustomerLedger::first(&POPULATION, 3)];
    let mut ledgers = Ledgers { customers, ..Ledgers::default() };
    change(&mut ledgers);
    let rules: Vec<String> =
        business.broken_rules(&ledgers).iter().map(|(rule, example)| format!("{rule}: {example}")).collect();
    rules.join("; ")
}

fn order(id: u64, total_cents: i64) -> Order {
    Order { id, customer: 3, total_cents, is_cancelled: false, lines: Vec::new() }
}

#[test]
fn what_differs_is_named() {
    assert_eq!(broken(|_| {}), "");
    assert_eq!(
        broken(|ledgers| ledgers.customers[0].enter(order(80, 0))),
        "confirmed: customer 3: 1 orders are stored, 2 were confirmed"
    );
    assert!(broken(|ledgers| ledgers.customers[0].owed_cents += 1).starts_with("ledger: customer 3: "));
    assert_eq!(
        broken(|ledgers| {
            let first = ledgers.customers[0].orders[&3].clone();
            ledgers.customers[0].orders.insert(3, Order { is_cancelled: true, ..first });
        }),
        "confirmed: customer 3: an order is stored that differs from the confirmed one"
    );
    assert_eq!(
        broken(|ledgers| ledgers.customers[0].orders.clear()),
        "confirmed: customer 3: 1 orders are stored, only 0 were confirmed"
    );
    assert_eq!(
        broken(|ledgers| ledgers.production.complete = 2),
        "confirmed: 0 work orders are complete, 2 were confirmed"
    );
    assert_eq!(
        broken(|ledgers| ledgers.production.delivered_sum = 2),
        "confirmed: purchases are delivered that differ from the confirmed ones"
    );
}

#[test]
fn customers_are_those_of_the_population() {
    let business = MemoryBusiness::new(POPULATION, "");
    let facts: AuditFacts = serde_json::from_str(&business.audit()).unwrap();
    let mut other = facts.clone();
    other.customers[74].0 = 75;
    let rules = compare_with_ledgers(&other, &Ledgers::default(), &POPULATION);
    assert_eq!(rules[0].examples, ["customer 75 is stored, and was not loaded", "customer 74 is not stored"]);
}

#[test]
fn unfinished_work_orders_break_a_rule_unless_the_crowd_left_them() {
    let business = MemoryBusiness::new(POPULATION, "");
    let facts: AuditFacts = serde_json::from_str(&business.audit()).unwrap();
    let facts = AuditFacts { unfinished: 3, ..facts };
    let rules = |unfinished| {
        let production = ProductionLedger { unfinished, ..ProductionLedger::default() };
        compare_with_ledgers(&facts, &Ledgers { production, ..Ledgers::default() }, &POPULATION)
    };
    assert_eq!(rules(3), []);
    assert_eq!((rules(1)[0].rule.as_str(), rules(1)[0].count), ("unfinished", 2));
}

#[test]
fn ledgers_of_several_crowds_add_up() {
    let one = |customer| Ledgers {
        runs: 2,
        customers: vec![CustomerLedger::first(&POPULATION, customer)],
        production: ProductionLedger { complete: 1, complete_sum: u64::MAX, ..ProductionLedger::default() },
    };
    let mut all = one(1);
    all.add(one(2));
    assert_eq!((all.customers.len(), all.runs), (2, 2));
    assert_eq!((all.production.complete, all.production.complete_sum), (2, u64::MAX - 1));
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Ledgers>(&text).unwrap(), all);
}
