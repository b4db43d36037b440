//! The vectors that Java reads as well.

use serde_json::Value;

use super::{Line, Order, Population, Purchase, WorkOrder};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/orders.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    let rows = value[name].as_array().unwrap();
    assert!(rows.len() >= 2, "{name}");
    rows
}

fn number<T: TryFrom<u64>>(value: &Value, name: &str) -> T {
    value[name].as_u64().and_then(|number| T::try_from(number).ok()).unwrap()
}

fn pairs(lines: &[Line]) -> Value {
    serde_json::to_value(lines.iter().map(|line| [line.assembly, line.quantity]).collect::<Vec<_>>()).unwrap()
}

#[test]
fn populations_are_those_of_the_vectors() {
    for one in rows(&vectors(), "populations") {
        let seed = one["seed"].as_str().unwrap().parse().unwrap();
        let population = Population { seed, rate: number(one, "rate") };
        assert_eq!(population.customers(), number::<u32>(one, "customers"));
        assert_eq!(population.assemblies(), number::<u32>(one, "assemblies"));
        assert_eq!(population.components(), number::<u32>(one, "components"));
        for expected in rows(one, "of_assemblies") {
            let index = number(expected, "assembly");
            let assembly = population.assembly(index);
            assert_eq!(assembly.price_cents, number::<i64>(expected, "price"));
            assert_eq!(population.price_cents(index), assembly.price_cents);
            assert_eq!(serde_json::to_value(assembly.bill).unwrap(), expected["bill"]);
        }
        for expected in rows(one, "of_components") {
            let on_hand = population.on_hand(number(expected, "component"));
            assert_eq!(on_hand, number::<u32>(expected, "on_hand"));
        }
        for expected in rows(one, "of_customers") {
            let customer = population.customer(number(expected, "customer"));
            assert_eq!(customer.discount, number::<u32>(expected, "discount"));
            assert_eq!(customer.limit_cents, number::<i64>(expected, "limit"));
            assert_eq!(customer.order.total_cents, number::<i64>(expected, "owed"));
            assert_eq!(pairs(&customer.order.lines), expected["lines"]);
            assert_eq!(format!("{:016x}", customer.order.digest()), expected["digest"]);
        }
    }
}

#[test]
fn digests_are_those_of_the_vectors() {
    let vectors = vectors();
    for one in rows(&vectors, "orders") {
        let line = |pair: &Value| Line {
            assembly: pair[0].as_u64().unwrap() as u32,
            quantity: pair[1].as_u64().unwrap() as u32,
        };
        let order = Order {
            id: number(one, "order"),
            customer: number(one, "customer"),
            total_cents: number(one, "total"),
            is_cancelled: one["cancelled"].as_bool().unwrap(),
            lines: one["lines"].as_array().unwrap().iter().map(line).collect(),
        };
        assert_eq!(format!("{:016x}", order.digest()), one["digest"]);
    }
    for one in rows(&vectors, "work_orders") {
        let (id, assembly, quantity) =
            (number(one, "work_order"), number(one, "assembly"), number(one, "quantity"));
        assert_eq!(format!("{:016x}", WorkOrder { id, assembly, quantity }.digest()), one["digest"]);
    }
    for one in rows(&vectors, "purchases") {
        let (id, component, quantity) =
            (number(one, "purchase"), number(one, "component"), number(one, "quantity"));
        assert_eq!(format!("{:016x}", Purchase { id, component, quantity }.digest()), one["digest"]);
    }
}
