//! The run was so short that its CPU time is of another span than its messages.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// What the CPUs give in the time of the messages, and so much more, is believed.
const ROUNDING: f64 = 1.02;

/// CPU time is looked at before the gate opens and after the last delivery. In a short run that makes a difference: server and
/// crowd had more CPUs than there are.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let cores = record.score.cores_obtained?;
    let cpus = record.environment.cpus;
    let elsewhere = record.shards.iter().any(|shard| shard.environment.is_some());
    if elsewhere || cores <= f64::from(cpus) * ROUNDING {
        return None;
    }
    let message = format!(
        "server and crowd used {cores:.2} of {cpus} CPUs, which cannot be: the run of {:.0} ms is too short for its CPU time",
        record.score.elapsed_s * 1e3
    );
    Some(warning(WarningKind::TooShort, message, "raise --count or --rooms, or leave the CPU time aside"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::record;

    fn told(cores_obtained: Option<f64>) -> Option<String> {
        let mut record = record(1, 1, 1e7);
        record.score.cores_obtained = cores_obtained;
        guard(&record).map(|warning| warning.message)
    }

    #[test]
    fn more_cpus_than_there_are_tell_of_a_run_too_short() {
        let message = told(Some(2.26)).unwrap();
        assert!(message.starts_with("server and crowd used 2.26 of 2 CPUs"), "{message}");
        assert!(message.contains("the run of 40 ms"), "{message}");
        assert_eq!(told(Some(2.0)), None);
        assert_eq!(told(None), None);
    }
}
