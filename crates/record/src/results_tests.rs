use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn kinds(counts: &[(&'static str, u64, u64)]) -> Vec<OperationKindScore> {
    let mut of_names: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for &(name, count, ms) in counts {
        of_names.entry(name).or_default().push((ms * 1_000_000, count));
    }
    OperationKindScore::from_counts(&of_names).unwrap()
}

/// Results of a crowd whose parties had these numbers of operations, none of which may be 0.
fn results(workload: WorkloadKind, numbers: &[u64]) -> Results {
    let parties = PartyCounts::from_counts(numbers.iter().copied());
    let in_window = numbers.iter().sum();
    let names = ["change_order", "customer_status", "new_order", "order_status", "work_order"];
    let named: Vec<_> =
        numbers.iter().map(|number| (names[*number as usize % 5], *number, *number)).collect();
    let kinds = kinds(&named);
    match workload {
        WorkloadKind::Chat => {
            let counts: Vec<_> = numbers.iter().map(|number| (number << 10, *number)).collect();
            Results::Chat {
                reconnects: Latency::from_counts_ns(&counts).unwrap(),
                repeated: in_window,
                open_handshakes: 2 * in_window,
            }
        }
        WorkloadKind::Rr => Results::Rr { parties, kinds, reopened: in_window },
        WorkloadKind::Files => Results::Files { parties },
        WorkloadKind::Web => {
            let mut received: BTreeMap<u64, u64> = BTreeMap::new();
            numbers.iter().for_each(|number| *received.entry(*number).or_default() += 1);
            let conforming = Conforming::new(400, &received.into_iter().collect::<Vec<_>>());
            Results::Web { parties, in_window, conforming }
        }
        WorkloadKind::Trade => Results::Trade { parties, in_window, kinds },
        WorkloadKind::Orders => {
            let counts = OrdersCounts { steady_s: 10.0, refused: numbers[0], short: 1 };
            let score = OrdersScore::new(numbers.len() as u32, counts, &kinds);
            Results::Orders { parties, in_window, kinds, score }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_any_steps_give_the_results_of_all_parties(
        (crowds, shuffled) in vec(vec(1..900_u64, 1..4), 1..6)
            .prop_flat_map(|crowds| (Just(crowds.clone()), Just(crowds).prop_shuffle())),
        first in any::<usize>(),
    ) {
        for workload in WorkloadKind::ALL {
            let in_one = Results::merge([&results(workload, &crowds.concat())]).unwrap().unwrap();
            let parts: Vec<Results> = shuffled.iter().map(|numbers| results(workload, numbers)).collect();
            let (some, others) = parts.split_at(first % (parts.len() + 1));
            let merged = [some, others].map(|parts| Results::merge(parts).unwrap());
            let over_a_file = merged.into_iter().flatten().map(|one| {
                serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap()
            });
            let over_a_file: Vec<Results> = over_a_file.collect();
            let all = Results::merge(&over_a_file).unwrap().unwrap();
            match (all, in_one) {
                // Each crowd counted one short work order and the refusals of its first party.
                (
                    Results::Orders { parties, in_window, kinds, score },
                    Results::Orders { parties: one, in_window: count, kinds: of_one, score: of_all },
                ) => {
                    prop_assert_eq!((parties, in_window, kinds), (one, count, of_one));
                    let refused: u64 = crowds.iter().map(|numbers| numbers[0]).sum();
                    let short = crowds.len() as u64;
                    prop_assert_eq!(score, OrdersScore { refused, short, ..of_all });
                }
                (all, in_one) => prop_assert_eq!(all, in_one),
            }
        }
    }
}

#[test]
fn a_crowd_that_counted_nothing_changes_nothing() {
    for workload in WorkloadKind::ALL {
        let some = results(workload, &[3, 4]);
        let none = Results::none(workload);
        assert_eq!(none.workload(), workload);
        assert_eq!(Results::merge([&none, &some, &none]).unwrap(), Results::merge([&some]).unwrap());
        assert_eq!(none.with(&none).unwrap(), none);
    }
}

#[test]
fn results_of_two_workloads_and_counts_that_do_not_fit_are_not_added() {
    let error = Results::none(WorkloadKind::Rr).with(&Results::none(WorkloadKind::Chat)).unwrap_err();
    assert!(
        error.to_string().contains("the workload of the results is rr in one record and chat in"),
        "{error}"
    );
    assert_eq!(Results::merge([]).unwrap(), None);
    // The largest count of a histogram.
    let reconnects = Latency::from_counts_ns(&[(1_000, i64::MAX as u64)]).unwrap();
    let most = Results::Chat { reconnects, repeated: 0, open_handshakes: 0 };
    assert!(matches!(most.with(&most), Err(MergeError::Latency(_))));
}

#[test]
fn percentiles_that_a_crowd_claims_are_derived_anew() {
    let mut claimed = results(WorkloadKind::Trade, &[3]);
    let right = claimed.clone();
    let Results::Trade { kinds, .. } = &mut claimed else { unreachable!("it is of trade") };
    (kinds[0].latency.p99_us, kinds[0].share) = (0.0, 7.0);
    assert_eq!(Results::merge([&claimed]).unwrap(), Some(right));
    let Results::Trade { kinds, .. } = &mut claimed else { unreachable!("it is of trade") };
    kinds[0].latency.histogram = "!".into();
    assert!(matches!(Results::merge([&claimed]), Err(MergeError::Latency(_))));
}

#[test]
fn crowds_of_orders_merge_to_the_score_of_all_their_operations() {
    let of_crowd = |factor: u64| {
        let operations = [
            ("change_order", 20 * factor, 3),
            ("customer_status", 10 * factor, 3),
            ("new_order", 50 * factor, 900 * factor),
            ("order_status", 20 * factor, 3),
            ("work_order", 75 * factor, 1_100),
        ];
        let kinds = kinds(&operations);
        let counts = OrdersCounts { steady_s: 10.0, refused: factor, short: 1 };
        let score = OrdersScore::new(2, counts, &kinds);
        Results::Orders { parties: PartyCounts::default(), in_window: 0, kinds, score }
    };
    let one = of_crowd(1);
    assert_eq!(one.orders().unwrap().tops, Some(17.5));
    let all = Results::merge([&one, &of_crowd(3), &of_crowd(3)]).unwrap().unwrap();
    let score = all.orders().unwrap();
    assert_eq!((score.injection_rate, score.refused, score.short, score.tops), (6, 7, 3, None));
    assert_eq!(score.first_broken().unwrap(), "new_order: p90 2.70 s, limit 2 s");
}
