use proptest::prelude::*;

use super::*;
use crate::altered::{altered, changes};
use crate::orders::{Ledgers, MemoryBusiness};

const POPULATION: Population = Population { seed: 1, rate: 1 };
const S: u64 = 1_000_000_000;

fn reply(
    factory: &mut Factory,
    business: &mut MemoryBusiness,
    ids: &mut UsedIds,
    ledger: &mut ProductionLedger,
    now_ns: u64,
) -> FactoryReply {
    let mut request = Vec::new();
    factory.write_next("test", &mut request);
    let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
    factory.on_reply(ids, ledger, (status, body.as_bytes()), now_ns)
}

fn ids() -> UsedIds {
    UsedIds::new(&POPULATION, &Ledgers::default())
}

#[test]
fn a_work_order_has_four_steps_and_the_pauses_between_them() {
    let (mut factory, mut business) = (Factory::new(0, POPULATION, 7), MemoryBusiness::new(POPULATION, ""));
    let (mut ids, mut ledger) = (ids(), ProductionLedger::default());
    factory.plan(2 * S);
    let mut now_ns = 2 * S;
    for _ in 0..3 {
        assert_eq!(factory.next_step_ns(), Some(now_ns));
        assert_eq!(reply(&mut factory, &mut business, &mut ids, &mut ledger, now_ns), FactoryReply::Next);
        now_ns += STEP_NS;
    }
    let last = reply(&mut factory, &mut business, &mut ids, &mut ledger, now_ns);
    assert_eq!((last, factory.in_progress()), (FactoryReply::Complete(2 * S), 0));
    assert_eq!(ledger.complete, 1);
    assert_eq!(business.broken_rules(&Ledgers { production: ledger, ..Ledgers::default() }), []);
}

#[test]
fn a_step_without_components_is_repeated() {
    let (mut factory, mut business) = (Factory::new(0, POPULATION, 7), MemoryBusiness::new(POPULATION, ""));
    let (mut ids, mut ledger) = (ids(), ProductionLedger::default());
    business.empty_the_store();
    while factory.in_progress() == 0 || factory.waiting.values().all(|job| job.work_order.quantity == 1) {
        factory.plan(S);
    }
    let mut short = 0;
    for _ in 0..factory.in_progress() {
        short +=
            u32::from(reply(&mut factory, &mut business, &mut ids, &mut ledger, S) == FactoryReply::Short);
    }
    assert!(short > 0);
    assert_eq!(factory.next_step_ns(), Some(S + SHORT_NS));
}

#[test]
fn a_wrong_step_is_named_and_leaves_its_work_order() {
    let wrong = |status: u16, body: &str| {
        let (mut factory, mut ids, mut ledger) =
            (Factory::new(0, POPULATION, 7), ids(), ProductionLedger::default());
        factory.add(WorkOrder { id: 4, assembly: 8, quantity: 51 }, S);
        factory.write_next("test", &mut Vec::new());
        let reply = factory.on_reply(&mut ids, &mut ledger, (status, body.as_bytes()), S);
        assert_eq!((factory.in_progress(), ledger.unfinished), (0, 1));
        let FactoryReply::Failed(error) = reply else { panic!("{reply:?}") };
        error.to_string()
    };
    let body = |from: &str, to: &str| {
        wrong(200, &r#"{"work_order":4,"state":1,"assembly":8,"quantity":51}"#.replace(from, to))
    };
    assert_eq!(body("r\":4", "r\":5"), "work order: 5 instead of 4");
    assert_eq!(body("e\":1", "e\":2"), "state of work order 4: 2 instead of 1");
    assert_eq!(body("y\":8", "y\":9"), "assembly of work order 4: 9 instead of 8");
    assert_eq!(body("51", "5"), "quantity of work order 4: 5 instead of 51");
    assert_eq!(wrong(500, "{}"), "status 500 instead of 200: {}");
}

#[test]
fn a_lost_step_may_be_stored_or_not() {
    for steps in 0..4 {
        for is_stored in [false, true] {
            let mut factory = Factory::new(0, POPULATION, 7);
            let mut business = MemoryBusiness::new(POPULATION, "");
            let (mut ids, mut ledger) = (ids(), ProductionLedger::default());
            factory.plan(S);
            for _ in 0..steps {
                reply(&mut factory, &mut business, &mut ids, &mut ledger, S);
            }
            let mut request = Vec::new();
            factory.write_next("test", &mut request);
            if is_stored {
                business.reply(std::str::from_utf8(&request).unwrap());
            }
            factory.leave(&mut ledger);
            let ledgers = Ledgers { production: ledger, ..Ledgers::default() };
            assert_eq!(business.broken_rules(&ledgers), [], "{steps} {is_stored}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_a_reply_is_judged(steps in 0..4_u64, changes in changes()) {
        let (mut factory, mut business) = (Factory::new(0, POPULATION, 7), MemoryBusiness::new(POPULATION, ""));
        let (mut ids, mut ledger) = (ids(), ProductionLedger::default());
        factory.plan(S);
        for step in 0..steps {
            reply(&mut factory, &mut business, &mut ids, &mut ledger, S + step * STEP_NS);
        }
        let mut request = Vec::new();
        factory.write_next("test", &mut request);
        let (status, body) = business.reply(std::str::from_utf8(&request).unwrap());
        let body = altered(body.as_bytes(), &changes);
        let reply = factory.on_reply(&mut ids, &mut ledger, (status, &body), 9 * S);
        if let FactoryReply::Failed(error) = reply {
            prop_assert!(error.to_string().contains(' '));
        }
        factory.leave(&mut ledger);
    }
}
