//! Warns if a chat server seems to delay clients that send much, as IRC servers do by default: then its setting is what is measured.

use klatch_record::{Pacing, Record, Warning, WarningKind};

use super::warning;

/// CPUs that server and crowd use together, below which they were waiting.
const CPUS_MAX: f64 = 0.1;
/// Latency of a delivery, µs, that no server needs which has little to do.
const DELAY_MIN_US: f64 = 300_000.0;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let chat = record.workload.chat()?;
    let is_closed_loop = matches!(chat.pacing, Pacing::Turns | Pacing::Rounds { .. }) && !chat.has_silence();
    let latency =
        record.latency.as_ref().filter(|latency| is_closed_loop && latency.max_us >= DELAY_MIN_US)?;
    let usage = [record.usage.server.as_ref(), record.usage.crowd.as_ref()];
    // The CPU time of a server that runs already is not known; an idle crowd shows that it waited.
    let used: Vec<f64> = usage.into_iter().flatten().map(|usage| usage.cpu_s).collect();
    let cpus = used.iter().sum::<f64>() / record.score.elapsed_s;
    if used.is_empty() || cpus.is_nan() || cpus >= CPUS_MAX {
        return None;
    }
    let message = format!(
        "deliveries took up to {:.2} s while server and crowd had little to do: the server seems to delay users who send much (flood control)",
        latency.max_us / 1e6
    );
    let advice = "turn it off: MaxPenaltyTime = 0 in [Limits] of ngIRCd; fakelag=\"no\" and a high commandrate in <connect> of \
                  InspIRCd; fakelag: enabled: false of Ergo";
    Some(warning(WarningKind::FloodControl, message, advice))
}

#[cfg(test)]
mod tests {
    use klatch_record::{Latency, samples};

    use super::*;

    fn guarded(cpu_s: f64, slowest_ms: u64) -> Option<WarningKind> {
        let mut record = samples::record(1, 0, 264.0);
        record.score.elapsed_s = 4.0;
        record.usage.server = None;
        record.usage.crowd = Some(samples::usage(cpu_s));
        record.latency = Latency::from_counts_ns(&[(100_000, 900), (slowest_ms * 1_000_000, 100)]).unwrap();
        guard(&record).map(|warning| warning.kind)
    }

    #[test]
    fn a_server_that_waits_on_purpose_is_named_and_a_slow_or_quick_one_is_not() {
        assert_eq!(guarded(0.01, 1_000), Some(WarningKind::FloodControl));
        assert_eq!(guarded(3.0, 1_000), None, "it works");
        assert_eq!(guarded(0.01, 40), None, "a network");
    }
}
