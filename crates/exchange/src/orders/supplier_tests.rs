use proptest::prelude::*;

use super::*;
use crate::altered::{altered, changes};
use crate::orders::{Factory, Ledgers, MemoryBusiness, Population, UsedIds};

const POPULATION: Population = Population { seed: 1, rate: 1 };

fn ask(
    supplier: &mut Supplier,
    business: &mut MemoryBusiness,
    ledger: &mut ProductionLedger,
) -> SupplierReply {
    let mut request = Vec::new();
    supplier.write_next("test", &mut request);
    let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
    supplier.on_reply(ledger, status, body.as_bytes())
}

/// A business with work orders that left many purchases.
fn with_purchases(plant: &'static str) -> (MemoryBusiness, ProductionLedger) {
    let (mut business, mut ledger) = (MemoryBusiness::new(POPULATION, plant), ProductionLedger::default());
    let (mut factory, mut ids) =
        (Factory::new(0, POPULATION, 7), UsedIds::new(&POPULATION, &Ledgers::default()));
    (0..300).for_each(|_| factory.plan(1));
    for _ in 0..1_200 {
        let mut request = Vec::new();
        factory.write_next("test", &mut request);
        let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
        factory.on_reply(&mut ids, &mut ledger, (status, body.as_bytes()), 1);
    }
    (business, ledger)
}

#[test]
fn every_purchase_is_delivered_once_by_its_supplier() {
    let (mut business, mut ledger) = with_purchases("");
    let mut most = 0;
    for number in 0..2 {
        let mut supplier = Supplier::new(number, 2);
        assert_eq!(ask(&mut supplier, &mut business, &mut ledger), SupplierReply::Purchases);
        most = most.max(supplier.open.len());
        while supplier.has_next() {
            let reply = ask(&mut supplier, &mut business, &mut ledger);
            assert!(!matches!(reply, SupplierReply::Failed(_)), "{reply:?}");
        }
    }
    assert!(most == PURCHASES_MAX && ledger.delivered > 40, "{most} {ledger:?}");
    assert_eq!(business.broken_rules(&Ledgers { production: ledger, ..Ledgers::default() }), []);
}

#[test]
fn a_purchase_is_not_delivered_twice() {
    let (mut business, mut ledger) = with_purchases("delivered-again");
    let mut supplier = Supplier::new(0, 50);
    let fault = loop {
        if let SupplierReply::Failed(error) = ask(&mut supplier, &mut business, &mut ledger) {
            break error.to_string();
        }
    };
    assert!(fault.ends_with(" was delivered before"), "{fault}");
}

#[test]
fn what_is_wrong_with_purchases_is_named() {
    let wrong = |body: &str| {
        let reply = Supplier::new(1, 4).on_reply(&mut ProductionLedger::default(), 200, body.as_bytes());
        let SupplierReply::Failed(error) = reply else { panic!("{reply:?}") };
        error.to_string()
    };
    let of = |component: u32, quantity: u32| {
        wrong(&format!(r#"{{"purchases":[{{"purchase":3,"component":{component},"quantity":{quantity}}}]}}"#))
    };
    assert_eq!(of(6, 1_000), "supplier of purchase 3: 2 instead of 1");
    assert_eq!(of(5, 999), "quantity of purchase 3: 999 instead of 1000");
    let one = r#"{"purchase":3,"component":5,"quantity":1000}"#;
    assert_eq!(
        wrong(&format!(r#"{{"purchases":[{one},{one}]}}"#)),
        "the purchases are not in the order of their ids"
    );
    assert!(wrong(r#"{"purchases":[],"more":1}"#).starts_with("the body is not the JSON of this reply"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_a_reply_is_judged(is_delivery in any::<bool>(), changes in changes()) {
        let purchases = r#"{"purchases":[{"purchase":3,"component":5,"quantity":1000},{"purchase":4,"component":9,"quantity":1000}]}"#;
        let (mut supplier, mut ledger) = (Supplier::new(1, 4), ProductionLedger::default());
        let mut reply = purchases;
        if is_delivery {
            supplier.write_next("test", &mut Vec::new());
            prop_assert_eq!(supplier.on_reply(&mut ledger, 200, purchases.as_bytes()), SupplierReply::Purchases);
            supplier.write_next("test", &mut Vec::new());
            reply = r#"{"purchase":3,"component":5,"quantity":1000,"delivered":true}"#;
        }
        let reply = supplier.on_reply(&mut ledger, 200, &altered(reply.as_bytes(), &changes));
        if let SupplierReply::Failed(error) = reply {
            prop_assert!(error.to_string().contains(' '));
        }
        supplier.on_lost(&mut ledger);
    }
}
