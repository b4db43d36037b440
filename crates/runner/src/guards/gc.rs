//! Garbage collection took much of the time.

use klatch_record::{Record, Usage, Warning, WarningKind};

use super::warning;

/// VolanoMark took less than that at worst, with a heap that was large enough (Bryant and Hartner, «Java technology, threads,
/// and scheduling in Linux», IBM 2000).
const SHARE_MAX: f64 = 0.05;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let shards = record.shards.len().max(1) as f64;
    let sides = [
        ("server", &record.usage.server, f64::from(record.platform.servers), "--knob"),
        ("crowd", &record.usage.crowd, shards, "--crowd-knob"),
    ];
    let elapsed_s = record.score.elapsed_s;
    let share = |usage: &Option<Usage>, processes: f64| Some(usage.as_ref()?.gc_s? / (elapsed_s * processes));
    let far = sides.into_iter().filter(|_| elapsed_s > 0.0).find_map(|(side, usage, processes, knob)| {
        Some((side, knob, share(usage, processes).filter(|share| *share > SHARE_MAX)?))
    });
    let (side, knob, share) = far?;
    let message =
        format!("the {side}'s Java stood still for garbage collection in {:.1} % of the time", share * 100.0);
    let advice = format!(
        "give it more memory ({knob} heap=…) or another collector ({knob} gc=…), unless this is what you measure"
    );
    Some(warning(WarningKind::GarbageCollection, message, &advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{record, usage};

    /// In a run of 4 s, on two servers.
    fn took(server_s: f64, crowd_s: Option<f64>) -> Option<Warning> {
        let mut record = record(1, 1, 100_000.0);
        record.platform.servers = 2;
        record.usage.server = Some(Usage { gc_s: Some(server_s), ..usage(2.0) });
        record.usage.crowd = Some(Usage { gc_s: crowd_s, ..usage(2.0) });
        guard(&record)
    }

    #[test]
    fn more_than_a_twentieth_of_the_time_is_told() {
        let told = took(0.5, None).unwrap();
        assert_eq!(told.message, "the server's Java stood still for garbage collection in 6.2 % of the time");
        let told = took(0.1, Some(0.4)).unwrap();
        assert!(
            told.message.starts_with("the crowd's Java") && told.advice.contains("--crowd-knob gc"),
            "{told:?}"
        );
    }

    #[test]
    fn less_is_not() {
        assert_eq!(took(0.39, Some(0.19)), None);
        assert_eq!(guard(&record(1, 1, 100_000.0)), None);
    }
}
