//! The result of a probe as text.

use klatch_lab::ProbeResult;
use klatch_record::{Latency, grouped};

use crate::number::three_digits;
use crate::table::{Column, TextTable};

/// The result as text: what was done, and a row for each distribution.
pub fn probe(result: &ProbeResult) -> String {
    let ProbeResult { probe: name, tasks, rounds, operation, steps, .. } = result;
    let named = |(name, value): (&String, &String)| format!(", {} {value}", name.replace('_', " "));
    let settings: String = match result.settings.is_empty() {
        true => format!(", tasks {tasks}, rounds {rounds}"),
        false => result.settings.iter().map(named).collect(),
    };
    let seconds = result.elapsed_ns as f64 / 1e9;
    let rate = *steps as f64 / seconds.max(1e-9);
    let plural = match operation.as_str() {
        "process" | "access" => "es",
        _ => "s",
    };
    let (steps, rate) = (grouped(*steps), grouped(rate.round() as u64));
    let mut text = format!("{name}: {steps} {operation}{plural} in {seconds:.3} s, {rate}/s{settings}\n");
    if let Some(locks) = &result.acquisitions {
        let [at_once, spinning, yielding, blocking, yields] =
            [locks.at_once, locks.by_spinning, locks.by_yielding, locks.by_blocking, locks.yields]
                .map(grouped);
        text += &format!(
            "locks acquired at once {at_once}, by spinning {spinning}, by yielding {yielding}, by blocking {blocking}; yields {yields}\n"
        );
    }
    if result.times.is_empty() {
        return text;
    }
    let numbers = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let heads = numbers.into_iter().map(Column::number);
    let mut table = TextTable::new(std::iter::once(Column::name("time, µs")).chain(heads));
    for (name, all) in &result.times {
        let Latency { count, mean_us, p50_us, p90_us, p99_us, p999_us, max_us, .. } = all;
        let times = [mean_us, p50_us, p90_us, p99_us, p999_us, max_us].map(|us| three_digits(*us));
        table.row([name.replace('_', " "), grouped(*count)].into_iter().chain(times));
    }
    text + &format!("\n{table}\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use klatch_lab::{Acquisitions, Channel, Pattern, Probe};

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_text_has_a_row_for_each_distribution() {
        let result = Probe::PingPong { pairs: 2, rounds: 10, channel: Channel::Futex }
            .run(&AtomicBool::new(false))
            .unwrap();
        let text = probe(&result);
        assert!(text.starts_with("ping-pong: 40 wake-ups in "), "{text}");
        assert!(text.contains(", through futex\n") && text.contains("p99.9"), "{text}");
        let row = text.lines().last().unwrap();
        assert!(row.starts_with("round trip") && row.split_whitespace().nth(2) == Some("20"), "{text}");
        let memory = Probe::Memory { pattern: Pattern::Chase, elements: 8, stride_bytes: 8, rounds: 2 };
        let text = probe(&memory.run(&AtomicBool::new(false)).unwrap());
        assert!(text.starts_with("memory: 16 accesses in ") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn results_are_as_they_were_at_three_widths() {
        let times = |ns: u64| {
            let counts = (1..=1_000).map(|step| (ns * step, 1));
            Latency::from_counts_ns(&counts.collect::<Vec<_>>()).unwrap().unwrap()
        };
        let settings = [
            ("groups", "10"),
            ("fds", "20"),
            ("loops", "100"),
            ("datasize", "100"),
            ("through", "socket"),
            ("tasks_are", "processes"),
        ];
        let hackbench = ProbeResult {
            probe: "hackbench".to_owned(),
            tasks: 400,
            rounds: 100,
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            operation: "message".to_owned(),
            steps: 400_000,
            elapsed_ns: 1_234_567_890,
            times: [("message".to_owned(), times(3_210)), ("start".to_owned(), times(98))].into(),
            acquisitions: None,
        };
        let locks = ProbeResult {
            probe: "locks".to_owned(),
            settings: [].into(),
            operation: "acquisition".to_owned(),
            times: [("wait".to_owned(), times(41))].into(),
            acquisitions: Some(Acquisitions {
                at_once: 390_000,
                by_spinning: 6_000,
                by_yielding: 3_000,
                by_blocking: 1_000,
                yields: 12_345,
            }),
            ..hackbench.clone()
        };
        insta::assert_snapshot!(at_widths(|| probe(&hackbench) + &probe(&locks)));
    }
}
