//! Results of the instruments as a few lines of text each.

use klatch_record::observed::{
    CostFit, JavaWaitsSide, ProfiledSide, SideCalls, SideWakeups, Sides, TcpCounts, UsageSide, Waits,
};
use klatch_record::{Observation, ObservationData, Support};

use crate::number::{grouped, megabytes, three_digits, time};

/// Formats all observations of a run; empty without any.
pub(crate) fn observations(all: &[Observation]) -> String {
    all.iter()
        .map(|one| format!("\n{:<17}{}\n", one.instrument.name(), lines(one).join("\n                 ")))
        .collect()
}

fn lines(one: &Observation) -> Vec<String> {
    let mut lines = match (&one.data, &one.failure, &one.support) {
        (Some(data), _, _) => data_lines(data),
        (None, Some(failure), _) => vec![format!("no data: {failure}")],
        (None, None, Support::NotAvailable { why, remedy }) => {
            vec![format!("not available: {why}"), format!("to change it: {remedy}")]
        }
        (None, None, _) => vec!["no data".to_owned()],
    };
    if let Support::Fallback { why, .. } = &one.support {
        lines.push(format!("by its fallback: {why}"));
    }
    if let Some(share) = one.share_of_time {
        lines.push(format!("observed {} of the time", percent(share)));
    }
    if let Some(cost) = &one.cost {
        let share =
            cost.share_of_cpu.map_or(String::new(), |share| format!(" ({} of CPU time)", percent(share)));
        let memory = megabytes(cost.memory_bytes);
        lines.push(format!("cost at least {}{share}, {memory} of kernel memory", time(cost.cpu_s * 1e6)));
    }
    if !one.files.is_empty() {
        lines.push(format!("more in {}", one.files.join(", ")));
    }
    lines
}

fn data_lines(data: &ObservationData) -> Vec<String> {
    match data {
        ObservationData::Usage(usage) => {
            let mut lines = sides(&usage.sides, usage_side);
            if let Some(pressure) = usage.pressure {
                lines.push(format!("some task waited for a CPU {} of the time", percent(pressure.cpu)));
            }
            lines
        }
        ObservationData::Profile(profile)
        | ObservationData::Instructions(profile)
        | ObservationData::CacheMisses(profile)
        | ObservationData::ModelledCycles(profile) => {
            let mut lines = vec![format!("machine  {}", profiled(&profile.machine))];
            lines.extend(sides(&profile.sides, profiled));
            let top = profile.machine.top_self.iter().take(5);
            let top: Vec<String> = top.map(|one| format!("{} {}", one.name, percent(one.share))).collect();
            lines.push(format!("most by itself: {}", top.join(", ")));
            if !profile.machine.top_data.is_empty() {
                let top = profile.machine.top_data.iter().take(5);
                let top: Vec<String> =
                    top.map(|one| format!("{} {}", one.name, percent(one.share))).collect();
                lines.push(format!("data most missed: {}", top.join(", ")));
            }
            lines.push(match profile.events_per_sample {
                Some(1) if profile.stacks_lost > 0 => format!(
                    "{}, every one counted; those of {} calls for their callers",
                    grouped(profile.samples),
                    grouped(profile.stacks_lost)
                ),
                Some(1) => format!("{}, every one counted", grouped(profile.samples)),
                _ => format!(
                    "{} samples, {} stacks lost",
                    grouped(profile.samples),
                    grouped(profile.stacks_lost)
                ),
            });
            lines
        }
        ObservationData::Runqueue(queue) => {
            let all = queue.all;
            vec![format!(
                "mean {}, sd {}, max {} tasks at {} decisions",
                three_digits(all.mean),
                three_digits(all.sd),
                all.max,
                grouped(all.decisions)
            )]
        }
        ObservationData::Decision(decision) => {
            let line = |name: &str, cost: &klatch_record::observed::CostByLength| {
                let all = cost.all_ns;
                let fit = cost.fit.as_ref().map_or_else(|| "too few lengths for a line".to_owned(), fit);
                format!("{name} median {}; {fit}", time(all.p50 / 1e3))
            };
            vec![
                line("decision", &decision.decision),
                line("__schedule", &decision.whole),
                format!(
                    "__schedule took {} of the CPU time that the run may use",
                    percent(decision.share_of_cpus)
                ),
            ]
        }
        ObservationData::Wakeups(wakeups) => sides(wakeups, |side: &SideWakeups| {
            let latency = side.latency_us;
            format!(
                "{} wake-ups/s, to running p50 {} p99 {}; {} preemptions, {} migrations",
                grouped(side.wakeups_per_s.round() as u64),
                time(latency.p50),
                time(latency.p99),
                grouped(side.preemptions),
                grouped(side.migrations)
            )
        }),
        ObservationData::Locks(locks) => {
            let kind = |kind: &klatch_record::observed::LockKind| {
                let wait = time(kind.wait_us.p50);
                format!(
                    "{}: {} waits, {} in all, p50 {wait}",
                    kind.kind,
                    grouped(kind.all),
                    time(kind.wait_s * 1e6)
                )
            };
            let mut lines: Vec<String> = locks.kinds.iter().map(kind).collect();
            if let Some(first) = locks.callers.first() {
                lines.push(format!("most in {}: about {}", first.caller, time(first.wait_s * 1e6)));
            }
            if lines.is_empty() {
                lines.push("no wait".to_owned());
            }
            lines
        }
        ObservationData::Syscalls(calls) => sides(calls, |side: &SideCalls| {
            let mut each: Vec<_> = side.calls.iter().collect();
            each.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let each: Vec<String> =
                each.iter().take(6).map(|(name, count)| format!("{name} {}", grouped(**count))).collect();
            let yields = side.yields;
            let led = if yields.all == 0 {
                String::new()
            } else {
                let share = |count: u64| percent(count as f64 / yields.all as f64);
                let (only, same) = (share(yields.only), share(yields.same));
                format!("; yields led to the same priority {same}, to no other task {only}")
            };
            each.join(", ") + &led
        }),
        ObservationData::Tcp(tcp) => sides(&tcp.sides, tcp_counts),
        ObservationData::Jvm(Sides { server: None, crowd: None }) => {
            vec!["neither side is a Java virtual machine that keeps counters".to_owned()]
        }
        ObservationData::Jvm(jvm) => sides(jvm, |side: &klatch_record::observed::JvmSide| {
            format!(
                "GC {} of the time, {} safepoints ({}), JIT {}, heap {} of {}",
                percent(side.gc_share),
                grouped(side.safepoints),
                time(side.safepoint_s * 1e6),
                time(side.jit_s * 1e6),
                megabytes(side.heap_used_bytes),
                megabytes(side.heap_committed_bytes)
            )
        }),
        ObservationData::Jfr(Sides { server: None, crowd: None }) => vec!["neither side is Java".to_owned()],
        ObservationData::Jfr(waits) => sides(waits, |side: &JavaWaitsSide| {
            let most = side.monitors.places.first();
            let most = most.map_or(String::new(), |place| format!(", most in {}", place.method));
            let of =
                |waits: &Waits| format!("{} of {} in all", grouped(waits.count), time(waits.wait_s * 1e6));
            let over = time(side.threshold_us as f64);
            format!(
                "waits over {over}: for monitors {}{most}; pinned {}",
                of(&side.monitors),
                of(&side.pinned)
            )
        }),
        ObservationData::Trace(trace) => {
            let (events, lost) = (grouped(trace.events), grouped(trace.lost));
            vec![format!("{events} events, {lost} lost, {}", megabytes(trace.file_bytes))]
        }
    }
}

/// One line for each side with data.
fn sides<T>(sides: &Sides<T>, line: impl Fn(&T) -> String) -> Vec<String> {
    let each = [("server", &sides.server), ("crowd", &sides.crowd)];
    each.iter().filter_map(|(name, side)| Some(format!("{name:<9}{}", line(side.as_ref()?)))).collect()
}

fn usage_side(side: &UsageSide) -> String {
    let migrations = side.migrations.map_or_else(|| "–".to_owned(), grouped);
    let groups = side.thread_groups.iter().take(3);
    let groups: Vec<String> = groups
        .map(|group| format!("{} × {} {}", group.threads, group.name.trim(), time(group.cpu_s * 1e6)))
        .collect();
    format!(
        "{migrations} migrations, {} faults; {}",
        grouped(side.faults_minor + side.faults_major),
        groups.join(", ")
    )
}

/// Absent counts are left out.
fn tcp_counts(counts: &TcpCounts) -> String {
    let mut parts = vec![format!("{} segments sent", grouped(counts.segments_sent))];
    let mut add = |count: Option<u64>, what: &str| {
        parts.extend(count.map(|count| format!("{} {what}", grouped(count))));
    };
    add(counts.segments_with_data, "of them with new data");
    add(Some(counts.segments_retransmitted), "retransmitted");
    add(counts.acks_delayed, "delayed acknowledgements");
    add(counts.timeouts, "timeouts");
    add(counts.listen_overflows, "overflows of listen queues");
    parts.join(", ")
}

fn profiled(side: &ProfiledSide) -> String {
    let shares = side.inclusive;
    let synchronization = side
        .synchronization
        .map_or(String::new(), |share| format!("; synchronization of Java {}", percent(share)));
    format!(
        "kernel {}; scheduler {}, wake-up {}, network {}, locks {}, copy {}{synchronization}",
        percent(side.kernel),
        percent(shares.scheduler),
        percent(shares.wake_up),
        percent(shares.network),
        percent(shares.locks),
        percent(shares.copy)
    )
}

fn fit(fit: &CostFit) -> String {
    format!(
        "{} ns a queued task ({} to {}, {})",
        three_digits(fit.ns_per_task),
        three_digits(fit.ns_per_task_low),
        three_digits(fit.ns_per_task_high),
        fit.r2.map_or("all equal".to_owned(), |r2| format!("r² {r2:.2}"))
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::{Cost, InstrumentName, observed};

    fn observation(support: Support, data: Option<ObservationData>) -> Observation {
        let cost = data.as_ref().map(|_| Cost {
            cpu_s: 0.5,
            runs: 9,
            share_of_cpu: Some(0.01),
            memory_bytes: 2_000_000,
        });
        Observation {
            instrument: InstrumentName::Runqueue,
            support,
            failure: None,
            share_of_time: None,
            cost,
            data,
            files: vec![],
        }
    }

    #[test]
    fn observations_show_data_and_reasons_for_missing_data() {
        let all = observed::Lengths { decisions: 1_000, mean: 32.24, sd: 19.8, max: 414 };
        let data = observed::Runqueue { all, cpus: vec![], lengths: vec![], over_time: vec![] };
        let seen =
            observation(Support::Usable { base: "BPF".to_owned() }, Some(ObservationData::Runqueue(data)));
        let absent = Support::NotAvailable { why: "no root".to_owned(), remedy: "sudo".to_owned() };
        assert_eq!(
            observations(&[seen, observation(absent, None)]),
            "\nrunqueue         mean 32.2, sd 19.8, max 414 tasks at 1,000 decisions\n                 \
             cost at least 500 ms (1.0 % of CPU time), 2.00 MB of kernel memory\n\
             \nrunqueue         not available: no root\n                 to change it: sudo\n"
        );
    }
}
