//! Warns of a run so short that its CPU time spans more than its messages.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// Tolerated CPU time, as a multiple of what all CPUs provide during the messages.
const ROUNDING: f64 = 1.02;

/// CPU time is read before the gate opens and after the last delivery. In a short run the two ends weigh so much that server
/// and crowd seem to use more CPUs than exist.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let cores = record.score.cores_obtained?;
    let cpus = record.environment.cpus;
    let remote = record.shards.iter().any(|shard| shard.environment.is_some());
    if remote || cores <= f64::from(cpus) * ROUNDING {
        return None;
    }
    let message = format!(
        "server and crowd used {cores:.2} of {cpus} CPUs, which is impossible: the run of {:.0} ms is too short to measure CPU time",
        record.score.elapsed_s * 1e3
    );
    Some(warning(
        WarningKind::TooShort,
        message,
        "raise the count or the number of rooms, or ignore the CPU time",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::record;

    fn guarded(cores_obtained: Option<f64>) -> Option<String> {
        let mut record = record(1, 1, 1e7);
        record.score.cores_obtained = cores_obtained;
        guard(&record).map(|warning| warning.message)
    }

    #[test]
    fn more_cpus_used_than_exist_give_a_warning() {
        let message = guarded(Some(2.26)).unwrap();
        assert!(message.starts_with("server and crowd used 2.26 of 2 CPUs"), "{message}");
        assert!(message.contains("the run of 40 ms"), "{message}");
        assert_eq!(guarded(Some(2.0)), None);
        assert_eq!(guarded(None), None);
    }
}
