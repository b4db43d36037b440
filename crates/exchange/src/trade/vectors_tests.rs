//! The vectors that Java reads as well.

use serde_json::Value;

use super::{Held, Order, OrderKind, Population, Prices, next_price};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/trade.json");
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

#[test]
fn populations_are_those_of_the_vectors() {
    for one in rows(&vectors(), "populations") {
        let seed = one["seed"].as_str().unwrap().parse().unwrap();
        let population = Population { seed, users: number(one, "users"), quotes: number(one, "quotes") };
        for expected in rows(one, "of_users") {
            let user = population.user(number(expected, "user"));
            let holdings: Vec<[u64; 4]> = user
                .holdings
                .iter()
                .map(|(id, held)| [*id, held.symbol.into(), held.quantity.into(), held.paid_cents.into()])
                .collect();
            assert_eq!(serde_json::to_value(holdings).unwrap(), expected["holdings"]);
            assert_eq!(Some(user.open_balance_cents), expected["open_balance"].as_i64());
            assert_eq!(Some(user.balance_cents), expected["balance"].as_i64());
        }
        let mut prices = Prices::new(population);
        for chain in rows(one, "chains") {
            for (changes, price) in rows(chain, "prices").iter().enumerate() {
                let actual = prices.price_cents(number(chain, "symbol"), changes as u32);
                assert_eq!(actual.map(u64::from), price.as_u64(), "{changes} changes");
            }
        }
    }
}

#[test]
fn steps_and_digests_are_those_of_the_vectors() {
    let vectors = vectors();
    for step in rows(&vectors, "steps") {
        assert_eq!(
            next_price(number(step, "price"), number(step, "draw")),
            number::<u32>(step, "next"),
            "{step}"
        );
    }
    for one in rows(&vectors, "orders") {
        let kind = if one["type"] == "buy" { OrderKind::Buy } else { OrderKind::Sell };
        let order = Order {
            id: number(one, "order"),
            kind,
            symbol: number(one, "symbol"),
            quantity: number(one, "quantity"),
            price_cents: number(one, "price"),
            changes: 0,
            holding: number(one, "holding"),
        };
        assert_eq!(format!("{:016x}", order.digest()), one["digest"]);
    }
    for one in rows(&vectors, "holdings") {
        let held = Held {
            symbol: number(one, "symbol"),
            quantity: number(one, "quantity"),
            paid_cents: number(one, "paid"),
        };
        assert_eq!(format!("{:016x}", held.digest(number(one, "holding"))), one["digest"]);
    }
}
