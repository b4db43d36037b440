//! Throughput, latency and the number in the system must agree (Little 1961, Operations Research 9(3)).

use klatch_record::{Pacing, Record, Warning, WarningKind};

use super::warning;

/// What rounding of latencies and the ends of a run may add.
const SLACK: f64 = 1.05;
/// Part of the time of a turn that must pass on the way.
const ON_THE_WAY: f64 = 0.5;

/// Under `turns` and `rounds` what can be under way is bounded by the rules of pacing, and nobody speaks before he has
/// heard: so there can be neither more deliveries under way than the rules allow, nor can most of a turn pass anywhere but
/// on the way, unless the crowd took it.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let (workload, score, latency) = (&record.workload, &record.score, record.latency.as_ref()?);
    // Of each speaker, how many messages can be under way to one listener: under `turns` he has heard the last one before
    // he speaks himself, under `rounds` the others are within a window of him, and he of them.
    let under_way_max = match workload.pacing {
        Pacing::Turns => 1.0,
        Pacing::Rounds { window } => 2.0 * f64::from(window),
        Pacing::Flood | Pacing::Rate { .. } => return None,
    };
    if score.elapsed_s <= 0.0 {
        return None;
    }
    let users = f64::from(workload.users);
    let most = f64::from(workload.rooms) * users * (users - 1.0) * under_way_max;
    let under_way = score.received as f64 / score.elapsed_s * latency.mean_us / 1e6;
    if under_way > most * SLACK {
        let message = format!(
            "Little's law is broken: {under_way:.0} deliveries were under way on average, and the pacing allows {most:.0}"
        );
        let advice =
            "latencies or throughput are measured wrongly: look for a clock that jumped, and report it";
        return Some(warning(WarningKind::LittlesLaw, message, advice));
    }
    let steps = match workload.pacing {
        Pacing::Rounds { window } => f64::from(workload.count) / f64::from(window),
        _ => f64::from(workload.count) * users,
    };
    let step_us = score.elapsed_s * 1e6 / steps;
    // A pause is time in the crowd too, and wanted.
    if workload.pause_s == 0.0 && steps >= 2.0 && latency.max_us < ON_THE_WAY * step_us {
        let message = format!(
            "Little's law: a turn took {step_us:.0} µs and no delivery more than {:.0} µs, so most of the time passed in the crowd",
            latency.max_us
        );
        let advice = "the score is the crowd's: give it more CPU, or use the native crowd";
        return Some(warning(WarningKind::LittlesLaw, message, advice));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::guarded;
    use klatch_record::samples::record;
    use klatch_record::{Latency, Status};

    /// The classic run of 4 s, whose turn takes 2 ms, with deliveries that all took so long.
    fn took(us: u64) -> Record {
        let mut record = record(1, 1, 100_000.0);
        record.latency = Latency::from_counts_ns(&[(us * 1_000, record.score.received)]).unwrap();
        record
    }

    #[test]
    fn what_agrees_is_not_told() {
        assert_eq!(guard(&took(1_500)), None);
        assert_eq!(guard(&took(20_000)), None);
    }

    #[test]
    fn more_under_way_than_the_pacing_allows_makes_the_verdict_unknown() {
        // 95,000 deliveries/s of 60 ms are 5,700 at a time; 10 rooms of 20 users have 3,800.
        let record = guarded(took(60_000));
        assert_eq!((record.verdict.status, record.warnings.len()), (Status::Unknown, 1));
        assert!(
            record.verdict.reasons[0]
                .message
                .contains("deliveries were under way on average, and the pacing allows 3800")
        );
    }

    #[test]
    fn time_that_passed_in_the_crowd_makes_the_verdict_unknown() {
        let mut record = guarded(took(500));
        assert_eq!(record.verdict.status, Status::Unknown);
        assert!(
            record.verdict.reasons[0].message.contains("a turn took 2000 µs and no delivery more than 50"),
            "{record:?}"
        );
        record.workload.pause_s = 0.001;
        assert_eq!(guard(&record), None);
    }
}
