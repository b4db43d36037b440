//! Warns if all trials share one start of the server and agree better than two starts do on this machine.

use klatch_record::{CPU_PER_MESSAGE, MESSAGES_PER_S, Metric, Noise, Record, Warning, WarningKind};

use super::warning;

pub(super) fn guard(trials: &[&Record]) -> Option<Warning> {
    let [first, others @ ..] = trials else { return None };
    // A server takes a free port at its start, so the same address means the same start.
    let single_start = others.iter().all(|record| record.platform.address == first.platform.address);
    if others.is_empty() || !single_start {
        return None;
    }
    let noise = first.environment.noise.as_ref()?;
    let scores = trials.iter().map(|record| record.score.messages_per_s);
    let (low, high) = (scores.clone().reduce(f64::min)?, scores.reduce(f64::max)?);
    if high / low - 1.0 >= *noise.between_starts.get(MESSAGES_PER_S)? {
        return None;
    }
    let message = format!("these trials share one start of the server, and {}", describe_noise(noise)?);
    let advice = "a smaller difference from another call of run proves nothing: start both servers several times, in turn";
    Some(warning(WarningKind::OneStart, message, advice))
}

/// A sentence about how far two starts differ; `None` if no metric was calibrated.
pub fn describe_noise(noise: &Noise) -> Option<String> {
    let metrics = [MESSAGES_PER_S, CPU_PER_MESSAGE].map(Metric::named);
    let difference = |metric: &Metric| {
        Some(format!("{:.1} % in {}", noise.between_starts.get(metric.name)? * 100.0, metric.title))
    };
    let differences: Vec<String> = metrics.into_iter().flatten().filter_map(difference).collect();
    let date = noise.measured_at.split('T').next().unwrap_or_default();
    let (platform, all) = (&noise.platform, differences.join(" and "));
    (!differences.is_empty()).then(|| {
        format!("two starts of {platform} differ by up to {all} on this machine (calibrated {date})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{noise, record};

    fn guarded(scores: &[f64], part: Option<f64>, starts: bool) -> Option<Warning> {
        let mut records: Vec<Record> =
            (1..).zip(scores).map(|(number, score)| record(number, number, *score)).collect();
        for record in &mut records {
            record.environment.noise = part.map(noise);
            if starts {
                record.platform.address = format!("127.0.0.1:{}", record.number);
            }
        }
        guard(&records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn trials_that_agree_better_than_starts_give_a_warning() {
        let message = guarded(&[1_000.0, 1_010.0, 1_005.0], Some(0.03), false).unwrap().message;
        assert_eq!(
            message,
            "these trials share one start of the server, and two starts of x differ by up to 3.0 % in throughput on \
             this machine (calibrated 2026-01-01)"
        );
    }

    #[test]
    fn other_trials_give_no_warning() {
        assert_eq!(guarded(&[1_000.0, 1_050.0, 1_005.0], Some(0.03), false), None, "they scatter as much");
        assert_eq!(
            guarded(&[1_000.0, 1_010.0, 1_005.0], Some(0.03), true),
            None,
            "each has a start of its own"
        );
        assert_eq!(guarded(&[1_000.0, 1_010.0, 1_005.0], None, false), None, "never calibrated");
        assert_eq!(guarded(&[1_000.0], Some(0.03), false), None, "another guard warns of a single trial");
    }
}
