use super::*;

const POPULATION: Population = Population { seed: 1, users: 3, quotes: 5 };

/// A user as the audit prints it.
fn stored(ledger: &UserLedger) -> String {
    let last = ledger.recent.first().map_or(0, super::super::order::Order::digest);
    format!(
        r#"[{},{},{},{},{},{},"{:016x}",{},"{:016x}","{last:016x}"]"#,
        ledger.user,
        ledger.balance_cents,
        ledger.logins,
        ledger.logouts,
        ledger.revision,
        ledger.orders,
        ledger.orders_sum,
        ledger.holdings.len(),
        ledger.holdings_sum()
    )
}

fn facts(users: &[UserLedger]) -> AuditFacts {
    let users: Vec<String> = users.iter().map(stored).collect();
    let text = format!(r#"{{"users":[{}],"broken":[],"orders":9,"seconds":0.1}}"#, users.join(","));
    serde_json::from_str(&text).unwrap()
}

fn population() -> Vec<UserLedger> {
    (0..3).map(|user| UserLedger::first(&POPULATION, user)).collect()
}

fn order(id: u64) -> super::super::order::Order {
    let kind = super::super::order::OrderKind::Buy;
    super::super::order::Order { id, kind, symbol: 1, quantity: 2, price_cents: 300, changes: 0, holding: id }
}

/// The first example of each broken rule.
fn broken(stored: &[UserLedger], known: &[UserLedger]) -> Vec<(String, String)> {
    let ledgers = Ledgers { users: known.to_vec() };
    let found = compare_with_ledgers(&facts(stored), &ledgers, &POPULATION);
    found.into_iter().map(|one| (one.rule, one.examples[0].clone())).collect()
}

#[test]
fn a_database_as_the_ledgers_say_has_no_difference() {
    let mut all = population();
    all[1].enter(order(40));
    all.push(UserLedger::registered(1 << 32));
    assert_eq!(broken(&all, &all[1..]), []);
}

#[test]
fn what_differs_is_named() {
    let known = population();
    let differs = |change: fn(&mut UserLedger)| {
        let mut all = population();
        change(&mut all[2]);
        let [(rule, example)] = &broken(&all, &known)[..] else { panic!("{:?}", broken(&all, &known)) };
        format!("{rule}: {example}")
    };
    assert!(differs(|user| user.balance_cents += 1).starts_with("ledger: user 2: balance "));
    assert!(differs(|user| user.logins = 1).starts_with("ledger: user 2: logins 1 instead of 0"));
    assert!(differs(|user| user.revision = 1).starts_with("ledger: user 2: profile revision 1"));
    assert!(
        differs(|user| user.orders_sum ^= 1)
            .ends_with("an order is stored that differs from the confirmed one")
    );
    assert!(differs(|user| user.orders -= 1).contains(" were confirmed"));
    assert!(differs(|user| user.orders += 1).contains(", only "));
    let missing = broken(&population()[..2], &known);
    assert_eq!(missing, [("confirmed".to_owned(), "user 2 is not stored".to_owned())]);
    let mut more = population();
    more.push(UserLedger::registered(9));
    let unknown = ("confirmed".to_owned(), "user 9 is stored, and nobody registered it".to_owned());
    assert_eq!(broken(&more, &known), [unknown]);
}

#[test]
fn an_order_in_flight_may_be_stored_or_not() {
    let mut known = population();
    known[0].enter(order(40));
    known[0].uncertain = true;
    let without = known.clone();
    assert_eq!(broken(&without, &known), []);
    let mut with = known.clone();
    with[0].enter(order(41));
    assert_eq!(broken(&with, &known), []);
    with[0].enter(order(42));
    assert!(broken(&with, &known)[0].1.contains(", only "), "two orders were not in flight");
    let mut lost = population();
    lost[0].uncertain = true;
    assert!(broken(&lost, &known)[0].1.contains(" were confirmed"), "a confirmed order is missing");
}

#[test]
fn a_quote_may_lag_behind_an_order_in_flight_only() {
    let mut known = population();
    let lag = BrokenRule { rule: VOLUMES.to_owned(), count: 1, examples: vec!["quote 3".to_owned()] };
    let found = |known: &[UserLedger]| {
        let facts = AuditFacts { broken: vec![lag.clone()], ..facts(known) };
        compare_with_ledgers(&facts, &Ledgers { users: known.to_vec() }, &POPULATION)
    };
    assert_eq!(found(&known), std::slice::from_ref(&lag));
    known[0].uncertain = true;
    assert_eq!(found(&known), []);
}
