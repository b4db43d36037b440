//! Results of the instruments as a few lines of text each.

use klatch_record::observed::{
    CostFit, JavaWaitsSide, LockKind, Locks, Profile, ProfiledSide, SideCalls, SideWakeups, Sides, TcpCounts,
    UsageSide, Waiter, Waits,
};
use klatch_record::{Observation, ObservationData, Record, Support, saturating_sum};

use crate::by_side::{Side, others, per_unit};
use crate::number::{grouped, megabytes, three_digits, time};
use crate::table::{Column, TextTable};

/// Formats all observations of a run; empty without any.
pub(crate) fn observations(record: &Record) -> String {
    let text = |one: &Observation| {
        let mut table = TextTable::new([Column::name(""), Column::words("")]);
        table.row([one.instrument.name(), &lines(record, one).join("\n")]);
        format!("\n{table}\n")
    };
    record.observations.iter().map(text).collect()
}

fn lines(record: &Record, one: &Observation) -> Vec<String> {
    let mut lines = match (&one.data, &one.failure, &one.support) {
        (Some(data), _, _) => data_lines(record, data),
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

fn data_lines(record: &Record, data: &ObservationData) -> Vec<String> {
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
            let mut lines = profile_lines(record, profile);
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
        ObservationData::Locks(locks) => lock_lines(record, locks),
        ObservationData::Syscalls(calls) => sides(calls, |side: &SideCalls| {
            let mut each: Vec<_> = side.calls.iter().collect();
            each.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let each = each.iter().take(6).filter_map(|(name, count)| {
                Some(format!("{name} {}", three_digits(per_unit(record, **count as f64)?)))
            });
            let each: Vec<String> = each.collect();
            let yields = side.yields;
            let led = if yields.all == 0 {
                String::new()
            } else {
                let share = |count: u64| percent(count as f64 / yields.all as f64);
                let (only, same) = (share(yields.only), share(yields.same));
                format!("; yields led to the same priority {same}, to no other task {only}")
            };
            format!("per {}: {}{led}", record.unit(), each.join(", "))
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
    add(counts.bytes_sent, "bytes in all packets");
    add(Some(counts.segments_retransmitted), "retransmitted");
    add(counts.acks_delayed, "delayed acknowledgements");
    add(counts.timeouts, "timeouts");
    add(counts.listen_overflows, "overflows of listen queues");
    parts.join(", ")
}

/// The sides of a profile per message or operation, then other programs, then the busiest routines of each side.
fn profile_lines(record: &Record, profile: &Profile) -> Vec<String> {
    let unit = if profile.frequency_hz.is_some() { " µs" } else { "" };
    let each = record.unit();
    let sides = Side::ALL.into_iter().filter_map(|side| {
        let (of_side, all) = (side.of(&profile.sides)?, side.profiled(record, profile)?);
        Some((side.name(record), of_side, all))
    });
    let sides: Vec<(&str, &ProfiledSide, f64)> = sides.collect();
    let mut lines: Vec<String> = sides
        .iter()
        .map(|(name, side, all)| {
            format!("{name:<9}{}{unit} per {each}: {}", three_digits(*all), parts(side, *all))
        })
        .collect();
    lines.extend(others(record, profile).map(|others| {
        let amount = three_digits(others.amount);
        format!("other programs {amount}{unit} per {each}, {} of all", percent(others.share))
    }));
    let top = |title: &str, name: &str, named: Vec<(&str, f64)>, all: f64| {
        let one = |(name, share): &(&str, f64)| format!("{name} {}", three_digits(all * share));
        let named: Vec<String> = named.iter().take(5).map(one).collect();
        (!named.is_empty()).then(|| format!("{title} of the {name}: {}", named.join(", ")))
    };
    for (name, side, all) in &sides {
        let routines = side.top_self.iter().map(|one| (one.name.as_str(), one.share)).collect();
        lines.extend(top("most by itself", name, routines, *all));
        let data = side.top_data.iter().map(|one| (one.name.as_str(), one.share)).collect();
        lines.extend(top("data most missed", name, data, *all));
    }
    lines
}

/// The parts of an amount of `all`: programs and kernel, then what is on the stack within the kernel.
fn parts(side: &ProfiledSide, all: f64) -> String {
    let shares = side.inclusive;
    let part = |share: f64| three_digits(all * share);
    let synchronization = side
        .synchronization
        .map_or(String::new(), |share| format!("; synchronization of Java {}", percent(share)));
    format!(
        "programs {}, kernel {}; scheduler {}, wake-up {}, network {}, locks {}, copy {}{synchronization}",
        part(1.0 - side.kernel),
        part(side.kernel),
        part(shares.scheduler),
        part(shares.wake_up),
        part(shares.network),
        part(shares.locks),
        part(shares.copy)
    )
}

/// The waits of each side per message or operation, then those of other programs.
fn lock_lines(record: &Record, locks: &Locks) -> Vec<String> {
    type Counts = fn(&LockKind) -> (u64, f64);
    let sides: [(Side, Waiter, Counts); 2] = [
        (Side::Server, Waiter::Server, |kind| (kind.server, kind.server_wait_s)),
        (Side::Crowd, Waiter::Crowd, |kind| (kind.crowd, kind.crowd_wait_s)),
    ];
    let (mut lines, mut waits, mut waited_s) = (Vec::new(), 0_u64, 0.0);
    for (side, waiter, of) in sides {
        let seen = locks.kinds.iter().map(|kind| (kind.kind.as_str(), of(kind)));
        let seen: Vec<_> = seen.filter(|(_, (count, _))| *count > 0).collect();
        let count = saturating_sum(seen.iter().map(|(_, (count, _))| *count));
        let wait_s: f64 = seen.iter().map(|(_, (_, wait_s))| wait_s).sum();
        (waits, waited_s) = (waits.saturating_add(count), waited_s + wait_s);
        let Some(each) = per_unit(record, wait_s * 1e6).filter(|_| count > 0) else { continue };
        let kind = |(name, (count, wait_s)): &(&str, (u64, f64))| {
            format!("{name} {} waits, {}", grouped(*count), time(wait_s * 1e6))
        };
        let kinds: Vec<String> = seen.iter().map(kind).collect();
        let first = locks.callers.iter().find(|caller| caller.waiter == waiter);
        let first = first.map_or_else(String::new, |first| {
            format!("; most in {}: about {}", first.caller, time(first.wait_s * 1e6))
        });
        let (name, unit) = (side.name(record), record.unit());
        lines.push(format!("{name:<9}{} µs per {unit}: {}{first}", three_digits(each), kinds.join(", ")));
    }
    let all = saturating_sum(locks.kinds.iter().map(|kind| kind.all));
    let all_s: f64 = locks.kinds.iter().map(|kind| kind.wait_s).sum();
    if all > waits {
        let (count, waited) = (grouped(all - waits), time((all_s - waited_s).max(0.0) * 1e6));
        lines.push(format!("other programs {count} waits, {waited}"));
    }
    if lines.is_empty() {
        lines.push("no wait".to_owned());
    }
    lines
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
    use klatch_record::{Cost, InstrumentName, observed, samples::record};

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
        let mut record = record(1, 0, 9.0);
        record.observations = vec![seen, observation(absent, None)];
        assert_eq!(
            observations(&record),
            "\nrunqueue  mean 32.2, sd 19.8, max 414 tasks at 1,000 decisions\n          \
             cost at least 500 ms (1.0 % of CPU time), 2.00 MB of kernel memory\n\
             \nrunqueue  not available: no root\n          to change it: sudo\n"
        );
    }

    #[test]
    fn a_profile_and_locks_are_by_side_per_message_with_other_programs_apart() {
        let mut record = record(1, 0, 9.0);
        record.score.total = 1_000_000;
        record.usage.server = Some(klatch_record::samples::usage(20.0));
        record.usage.crowd = Some(klatch_record::samples::usage(4.0));
        let side = |samples| ProfiledSide {
            samples,
            kernel: 0.5,
            inclusive: observed::Shares { scheduler: 0.25, ..Default::default() },
            top_self: vec![observed::Routine { name: "tcp_ack".to_owned(), samples: 1, share: 0.1 }],
            ..Default::default()
        };
        let profile = Profile {
            frequency_hz: Some(100),
            events_per_sample: None,
            samples: 1000,
            stacks_lost: 0,
            machine: side(1000),
            sides: Sides { server: Some(side(600)), crowd: Some(side(200)) },
        };
        let locks = Locks {
            kinds: vec![LockKind {
                kind: "mutex".to_owned(),
                server: 10,
                crowd: 0,
                all: 12,
                server_wait_s: 0.5,
                crowd_wait_s: 0.0,
                wait_s: 0.75,
                wait_us: Default::default(),
            }],
            callers: Vec::new(),
            caller_sampled_one_in: 4,
            cpu_waiting_share: 0.0,
            untimed: 0,
        };
        assert_eq!(
            profile_lines(&record, &profile),
            [
                "server   20.0 µs per message: programs 10.0, kernel 10.0; scheduler 5.00, wake-up 0.00, network 0.00, locks 0.00, copy 0.00",
                "crowd    4.00 µs per message: programs 2.00, kernel 2.00; scheduler 1.00, wake-up 0.00, network 0.00, locks 0.00, copy 0.00",
                "other programs 2.00 µs per message, 20.0 % of all",
                "most by itself of the server: tcp_ack 2.00",
                "most by itself of the crowd: tcp_ack 0.40",
            ]
        );
        assert_eq!(
            lock_lines(&record, &locks),
            ["server   0.50 µs per message: mutex 10 waits, 500 ms", "other programs 2 waits, 250 ms"]
        );
    }
}
