//! Warns if the CPUs ran faster in some trials than in others.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// Tolerated difference between trials, relative to the highest frequency.
const CHANGE_MAX: f64 = 0.02;

pub(super) fn guard(trials: &[&Record]) -> Option<Warning> {
    let all: Option<Vec<f64>> = trials.iter().map(|record| record.environment.cpu_mhz_in_run).collect();
    let all = all?;
    let (low, high) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    if high - low <= CHANGE_MAX * high {
        return None;
    }
    let message = format!("the CPUs ran at {low:.0} to {high:.0} MHz from trial to trial");
    let advice = "fix their frequency (cpupower frequency-set --governor performance, turbo off), or let the machine cool";
    Some(warning(WarningKind::CpuFrequency, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::record;

    fn ran_at(mhz: &[Option<f64>]) -> Option<Warning> {
        let mut records: Vec<Record> =
            (1..=mhz.len() as u32).map(|number| record(number, number, 1e5)).collect();
        records.iter_mut().zip(mhz).for_each(|(record, mhz)| record.environment.cpu_mhz_in_run = *mhz);
        guard(&records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn only_a_changing_frequency_gives_a_warning() {
        let message = ran_at(&[Some(3_000.0), Some(2_400.0), Some(2_990.0)]).unwrap().message;
        assert_eq!(message, "the CPUs ran at 2400 to 3000 MHz from trial to trial");
        assert_eq!(ran_at(&[Some(3_000.0), Some(2_990.0)]), None);
        assert_eq!(ran_at(&[Some(3_000.0), None]), None);
        assert_eq!(ran_at(&[]), None);
    }
}
