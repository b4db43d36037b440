//! Warns if garbage collection stopped a JVM for much of the run.

use klatch_record::{Record, Usage, Warning, WarningKind};

use super::warning;

/// VolanoMark with a large enough heap stayed below this share (Bryant and Hartner, «Java technology, threads, and
/// scheduling in Linux», IBM 2000).
const SHARE_MAX: f64 = 0.05;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let shards = record.shards.len().max(1) as f64;
    let sides = [
        ("server", &record.usage.server, f64::from(record.platform.servers), "knob"),
        ("crowd", &record.usage.crowd, shards, "crowd knob"),
    ];
    let elapsed_s = record.score.elapsed_s;
    let share = |usage: &Option<Usage>, processes: f64| Some(usage.as_ref()?.gc_s? / (elapsed_s * processes));
    let first_over =
        sides.into_iter().filter(|_| elapsed_s > 0.0).find_map(|(side, usage, processes, knob)| {
            Some((side, knob, share(usage, processes).filter(|share| *share > SHARE_MAX)?))
        });
    let (side, knob, share) = first_over?;
    let message =
        format!("garbage collection stopped the {side}'s Java for {:.1} % of the time", share * 100.0);
    let advice = format!(
        "give it more memory ({knob} heap) or another collector ({knob} gc), unless you measure just that"
    );
    Some(warning(WarningKind::GarbageCollection, message, &advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{record, usage};

    /// The guard on a run of 4 s on two servers.
    fn guarded(server_s: f64, crowd_s: Option<f64>) -> Option<Warning> {
        let mut record = record(1, 1, 100_000.0);
        record.platform.servers = 2;
        record.usage.server = Some(Usage { gc_s: Some(server_s), ..usage(2.0) });
        record.usage.crowd = Some(Usage { gc_s: crowd_s, ..usage(2.0) });
        guard(&record)
    }

    #[test]
    fn more_than_a_twentieth_of_the_time_gives_a_warning() {
        let warning = guarded(0.5, None).unwrap();
        assert_eq!(warning.message, "garbage collection stopped the server's Java for 6.2 % of the time");
        let warning = guarded(0.1, Some(0.4)).unwrap();
        assert!(
            warning.message.contains("the crowd's Java") && warning.advice.contains("crowd knob gc"),
            "{warning:?}"
        );
    }

    #[test]
    fn a_smaller_share_gives_no_warning() {
        assert_eq!(guarded(0.39, Some(0.19)), None);
        assert_eq!(guard(&record(1, 1, 100_000.0)), None);
    }
}
