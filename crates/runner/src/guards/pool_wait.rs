//! Warns if requests waited long for a connection of the pool to the database: then the pool is what limits the score.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// Share of the operations' time above which the pool distorts the score.
const SHARE_MAX: f64 = 0.05;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let operations = record.operations.as_ref()?;
    let waited_us = operations.database?.pool_wait_us as f64;
    let all_us = record.latency.as_ref()?.mean_us * operations.count as f64;
    let share = Some(waited_us / all_us).filter(|share| *share > SHARE_MAX)?;
    let message = format!(
        "requests waited for a connection of the pool to the database for {:.0} % of their time",
        share * 100.0
    );
    let advice = "give the pool more (knob connections), unless you measure just that";
    Some(warning(WarningKind::PoolWait, message, advice))
}

#[cfg(test)]
mod tests {
    use klatch_record::{DatabaseCounts, Latency, Operations, samples::record};

    use super::*;

    #[test]
    fn a_pool_that_takes_a_tenth_of_the_time_is_named() {
        let guarded = |pool_wait_us| {
            let mut record = record(1, 0, 100.0);
            // 1,000 operations of 1 ms each.
            record.latency = Latency::from_counts_ns(&[(1_000_000, 1_000)]).unwrap();
            let database = Some(DatabaseCounts { pool_wait_us, ..DatabaseCounts::default() });
            record.operations = Some(Operations {
                name: "operation".into(),
                count: 1_000,
                per_s: 1.0,
                cpu_us_per_operation: None,
                database,
            });
            guard(&record).map(|warning| warning.message)
        };
        assert_eq!(guarded(40_000), None);
        assert_eq!(
            guarded(100_000).unwrap(),
            "requests waited for a connection of the pool to the database for 10 % of their time"
        );
    }
}
