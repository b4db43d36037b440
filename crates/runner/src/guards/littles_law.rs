//! Checks throughput and latency by Little's law (Little 1961, Operations Research 9(3)).

use klatch_record::{ChatWorkload, Pacing, Record, Warning, WarningKind};

use super::warning;

/// Tolerance for the rounding of latencies and the two ends of a run.
const SLACK: f64 = 1.05;
/// Share of the time of a turn that deliveries must be in flight.
const IN_FLIGHT_MIN: f64 = 0.5;

/// In a closed loop the workload bounds what is in flight, and the crowd sends only after it has received. More in flight than
/// the bound is a measurement error. If messages are in flight for only a small part of the time that the bound allows, the
/// crowd took the rest.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let (score, latency) = (&record.score, record.latency.as_ref()?);
    if score.elapsed_s <= 0.0 {
        return None;
    }
    let in_flight_max = record.workload.in_flight_max()?;
    let in_flight = score.received as f64 / score.elapsed_s * latency.mean_us / 1e6;
    if in_flight > in_flight_max * SLACK {
        let message = format!(
            "Little's law is broken: {in_flight:.0} deliveries were in flight on average, and the pacing allows {in_flight_max:.0}"
        );
        let advice =
            "latency or throughput is measured wrongly: check for a clock that jumped, and report it";
        return Some(warning(WarningKind::LittlesLaw, message, advice));
    }
    let step_us = record.workload.chat().and_then(|chat| step_us(chat, score.sent, score.elapsed_s));
    if let Some(step_us) = step_us.filter(|step_us| latency.max_us < IN_FLIGHT_MIN * step_us) {
        let message = format!(
            "Little's law: a turn took {step_us:.0} µs and no delivery more than {:.0} µs, so the crowd took most of the time",
            latency.max_us
        );
        let advice = "the crowd limits the score: give it more CPU, or use the native crowd";
        return Some(warning(WarningKind::LittlesLaw, message, advice));
    }
    None
}

/// Time between two messages of a room, µs, of which the message is in flight for most; `None` if the crowd takes time on purpose.
fn step_us(chat: &ChatWorkload, sent: u64, elapsed_s: f64) -> Option<f64> {
    let sent_by_each = sent as f64 / chat.connections() as f64;
    let steps = match chat.pacing {
        Pacing::Rounds { window } => sent_by_each / f64::from(window),
        _ => sent_by_each * f64::from(chat.users),
    };
    Some(elapsed_s * 1e6 / steps).filter(|_| !chat.has_silence() && steps >= 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::apply_guards;
    use klatch_record::samples::record;
    use klatch_record::{Latency, RrWorkload, Status, Workload};

    /// A run of 4 s with turns of 2 ms, and the same latency for every delivery.
    fn with_latency(us: u64) -> Record {
        let mut record = record(1, 1, 100_000.0);
        record.latency = Latency::from_counts_ns(&[(us * 1_000, record.score.received)]).unwrap();
        record
    }

    #[test]
    fn consistent_numbers_give_no_warning() {
        assert_eq!(guard(&with_latency(1_500)), None);
        assert_eq!(guard(&with_latency(20_000)), None);
    }

    #[test]
    fn more_in_flight_than_the_pacing_allows_makes_the_verdict_unknown() {
        // 95,000 deliveries/s of 60 ms are 5,700 at a time; 10 rooms of 20 users have 3,800.
        let record = apply_guards(with_latency(60_000));
        assert_eq!((record.verdict.status, record.warnings.len()), (Status::Unknown, 1));
        assert!(
            record.verdict.reasons[0]
                .message
                .contains("deliveries were in flight on average, and the pacing allows 3800")
        );
    }

    #[test]
    fn requests_in_flight_are_bounded_by_depth() {
        let rr = RrWorkload { connections: 10, depth: 2, ..RrWorkload::default() };
        let record = |us| Record { workload: Workload::Rr(rr.clone()), ..with_latency(us) };
        // 95,000 replies/s: 19 in flight, then 38.
        assert_eq!(guard(&record(200)), None);
        let message = guard(&record(400)).unwrap().message;
        assert!(
            message.contains("38 deliveries were in flight on average, and the pacing allows 20"),
            "{message}"
        );
    }

    #[test]
    fn time_taken_by_the_crowd_makes_the_verdict_unknown() {
        let mut record = apply_guards(with_latency(500));
        assert_eq!(record.verdict.status, Status::Unknown);
        assert!(
            record.verdict.reasons[0].message.contains("a turn took 2000 µs and no delivery more than 50"),
            "{record:?}"
        );
        let chat = record.workload.chat().unwrap().clone();
        record.workload = Workload::Chat(ChatWorkload { pause_s: 0.001, ..chat });
        assert_eq!(guard(&record), None);
    }
}
