//! Counts of drawn requests beside their exact expectations. The seeds are fixed, so a test passes always or never.

use std::collections::BTreeMap;

use super::*;

const REQUESTS: usize = 400_000;

fn steps(mix: &Mix, lines: u32, count: usize) -> Vec<Step> {
    (0..lines)
        .flat_map(|line| {
            let mut script = mix.line(line);
            (0..count / lines as usize).map(move |_| script.next_step(mix)).collect::<Vec<_>>()
        })
        .collect()
}

/// Fails if a count is more than 5 standard deviations of the binomial distribution from its expectation.
fn assert_counts<K: Ord + std::fmt::Debug>(
    items: impl Iterator<Item = K>,
    probabilities: impl IntoIterator<Item = (K, f64)>,
) {
    let mut counts = BTreeMap::<K, u32>::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    let n: f64 = counts.values().map(|&count| f64::from(count)).sum();
    let mut total = 0.0;
    for (key, p) in probabilities {
        let count = f64::from(counts.remove(&key).unwrap_or(0));
        let (expected, sigma) = (n * p, (n * p * (1.0 - p)).sqrt());
        assert!((count - expected).abs() <= 5.0 * sigma, "{key:?}: {count}, expected {expected} ± {sigma}");
        total += p;
    }
    assert!((total - 1.0).abs() < 1e-9, "the probabilities add up to {total}");
    assert!(counts.is_empty(), "of probability 0: {counts:?}");
}

fn zipf(count: u32) -> impl Iterator<Item = f64> {
    let sum: f64 = (1..=count).map(|rank| 1.0 / f64::from(rank)).sum();
    (1..=count).map(move |rank| 1.0 / f64::from(rank) / sum)
}

#[test]
fn files_have_the_published_probabilities() {
    // As printed in the sources, for files 0 to 8, with three digits.
    let published = [0.039, 0.059, 0.088, 0.177, 0.353, 0.118, 0.071, 0.050, 0.044];
    for (rank, p) in zipf(9).enumerate() {
        assert!((published[usize::from(FILE_ORDER[rank])] - p).abs() < 0.00061, "rank {rank}: {p}");
    }
    let mix = Mix::new(1, 200, 1, false);
    let steps = steps(&mix, 40, REQUESTS);
    let expected = FILE_ORDER.into_iter().zip(zipf(9));
    assert_counts(steps.iter().map(|step| step.file.number()), expected);
    let expected = (0..4).zip(CLASS_PERCENT.map(|percent| f64::from(percent) / 100.0));
    assert_counts(steps.iter().map(|step| step.file.class()), expected);
    assert_counts(steps.iter().map(|step| step.file.directory()), (0..).zip(zipf(200)));
}

#[test]
fn class_and_file_are_independent_of_each_other() {
    let mix = Mix::new(2, 1, 1, true);
    let steps = steps(&mix, 3, REQUESTS);
    let expected = CLASS_PERCENT.iter().enumerate().flat_map(|(class, percent)| {
        let file = FILE_ORDER.into_iter().zip(zipf(9));
        file.map(move |(number, p)| ((class as u8, number), p * f64::from(*percent) / 100.0))
    });
    assert_counts(steps.iter().map(|step| (step.file.class(), step.file.number())), expected);
}

#[test]
fn the_mean_file_has_the_published_size() {
    let mut mean = 0.0;
    for (class, percent) in CLASS_PERCENT.into_iter().enumerate() {
        for (number, p) in FILE_ORDER.into_iter().zip(zipf(9)) {
            let size = FileId::new(0, class as u8, number).unwrap().size_bytes();
            mean += f64::from(percent) / 100.0 * p * size as f64;
        }
    }
    assert_eq!(mean.round(), 14_727.0);
}

#[test]
fn kinds_have_their_shares() {
    let mix = Mix::new(3, 25, 100, false);
    let steps = steps(&mix, 40, REQUESTS);
    let expected = RequestKind::ALL.map(|kind| (kind, f64::from(kind.share()) / 10_000.0));
    assert_counts(steps.iter().map(|step| step.operation.kind()), expected);
    let ads: Vec<_> = steps
        .iter()
        .filter_map(|step| match step.operation {
            Operation::Ad { user, last_ad } => Some((user, last_ad)),
            _ => None,
        })
        .collect();
    assert_counts(ads.iter().map(|(user, _)| *user), (0..100).map(|user| (user, 0.01)));
    let expected = (0..ADS as u16).map(|ad| (ad, 1.0 / f64::from(ADS)));
    assert_counts(ads.iter().map(|(_, ad)| *ad), expected);
}

#[test]
fn sessions_have_one_request_or_five_to_fifteen() {
    let mix = Mix::new(4, 25, 1, false);
    let mut lengths = Vec::new();
    for line in 0..100 {
        let mut script = mix.line(line);
        for _ in 0..500 {
            let mut length = 0;
            loop {
                let step = script.next_step(&mix);
                length += 1;
                assert_eq!(step.first, length == 1);
                assert_eq!(step.single, step.first && step.last);
                if step.last {
                    break;
                }
            }
            lengths.push(length);
        }
    }
    let kept = (SESSION_MIN..=SESSION_MAX).map(|length| (length, 0.7 / 11.0));
    assert_counts(lengths.into_iter(), kept.chain([(1, 0.3)]));
}

#[test]
fn only_static_requests_have_the_same_files_and_sessions() {
    let mixed = steps(&Mix::new(5, 60, 1, false), 10, 20_000);
    let only_static = steps(&Mix::new(5, 60, 1, true), 10, 20_000);
    assert!(only_static.iter().all(|step| step.operation == Operation::Static));
    for (one, other) in mixed.iter().zip(&only_static) {
        assert_eq!(Step { operation: Operation::Static, ..*one }, *other);
    }
}

#[test]
fn posts_of_a_line_are_numbered() {
    let mix = Mix::new(6, 25, 1, false);
    for line in [0, 9, u32::MAX] {
        let mut script = mix.line(line);
        let mut expected = 0;
        for _ in 0..5_000 {
            if let Operation::Post { client, sequence } = script.next_step(&mix).operation {
                assert_eq!((client, sequence), (line, expected));
                expected += 1;
            }
        }
        assert!(expected > 100);
    }
}

#[test]
fn lines_and_seeds_have_requests_of_their_own() {
    let files = |seed, line| {
        let mix = Mix::new(seed, 200, 1, false);
        let mut script = mix.line(line);
        (0..50).map(|_| script.next_step(&mix).file).collect::<Vec<_>>()
    };
    assert_eq!(files(1, 1), files(1, 1));
    assert_ne!(files(1, 1), files(1, 2));
    assert_ne!(files(1, 1), files(2, 1));
}

#[test]
fn the_ends_of_a_distribution_are_within_it() {
    for count in [1, 2, 9, 10_000] {
        let zipf = Zipf::new(count);
        assert_eq!((zipf.index(0.0), zipf.index(1.0 - f64::EPSILON / 2.0)), (0, count as usize - 1));
    }
}
