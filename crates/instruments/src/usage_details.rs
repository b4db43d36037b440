//! Migrations, faults, thread groups and pressure: what the kernel counts anyway, read before and after.

use std::collections::BTreeMap;
use std::time::Instant;

use klatch_record::observed::{Pressure, Sides, ThreadGroup, UsageDetails, UsageSide};
use klatch_record::{Found, InstrumentName, Support};
use procfs::process::{Process, Task};

use crate::bpf::{Looked, Windows};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;

/// Thread groups in the record.
const GROUPS_MAX: usize = 10;

/// The instrument.
pub(crate) struct UsageInDetail;

impl Instrument for UsageInDetail {
    fn name(&self) -> InstrumentName {
        InstrumentName::Usage
    }

    fn shows(&self) -> &'static str {
        "migrations, page faults, CPU time by thread group, pressure"
    }

    fn probe(&self, _: &Kernel) -> Support {
        let base = "/proc/PID/task, /proc/pressure".to_owned();
        match pressure() {
            Some(_) => Support::Usable { base },
            None => Support::Fallback {
                base: "/proc/PID/task".to_owned(),
                why: "the kernel does not count pressure (no /proc/pressure)".to_owned(),
                remedy: "boot with psi=1 a kernel with CONFIG_PSI=y".to_owned(),
            },
        }
    }

    fn start(
        &self,
        _: &Kernel,
        targets: &Targets,
        _: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let before = Look::at(targets);
        Ok(Box::new(Watch { targets: targets.clone(), before, after: None }))
    }
}

struct Watch {
    targets: Targets,
    before: Look,
    after: Option<Look>,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.after = Some(Look::at(&self.targets));
    }

    fn read(&mut self, _: &Files, _: &Looked) -> Result<Seen, InstrumentError> {
        let after = self.after.as_ref().ok_or_else(|| InstrumentError("it was not stopped".to_owned()))?;
        let elapsed_s = (after.when - self.before.when).as_secs_f64();
        let side = |of: fn(&Look) -> &Side| {
            let (before, after) = (of(&self.before), of(after));
            (!after.threads.is_empty()).then(|| used(before, after))
        };
        let found = UsageDetails {
            sides: Sides { server: side(|look| &look.server), crowd: side(|look| &look.crowd) },
            pressure: self.before.pressure.zip(after.pressure).map(|(before, after)| {
                let share = |of: fn(&Pressure) -> f64| (of(&after) - of(&before)).max(0.0) / elapsed_s / 1e6;
                Pressure { cpu: share(|p| p.cpu), memory: share(|p| p.memory), io: share(|p| p.io) }
            }),
        };
        Ok(Seen { found: Found::Usage(found), cost: None, share_of_time: None, files: Vec::new() })
    }
}

/// All counters at one moment.
struct Look {
    when: Instant,
    server: Side,
    crowd: Side,
    /// Stalled time since boot, µs.
    pressure: Option<Pressure>,
}

/// The processes of a side at one moment.
#[derive(Default)]
struct Side {
    faults_minor: u64,
    faults_major: u64,
    memory_bytes: u64,
    threads: BTreeMap<i32, Thread>,
}

/// A thread at one moment.
#[derive(Clone, Default)]
struct Thread {
    name: String,
    cpu_ns: u64,
    migrations: Option<u64>,
    switches_voluntary: u64,
    switches_involuntary: u64,
}

impl Look {
    fn at(targets: &Targets) -> Look {
        Look {
            when: Instant::now(),
            server: Side::of(targets.servers.iter()),
            crowd: Side::of(targets.crowds.iter()),
            pressure: pressure(),
        }
    }
}

impl Side {
    /// What can be read of these processes; one that is gone counts nothing.
    fn of<'a>(pids: impl Iterator<Item = &'a u32>) -> Side {
        let mut side = Side::default();
        for process in pids.filter_map(|pid| Process::new(*pid as i32).ok()) {
            if let Ok(stat) = process.stat() {
                side.faults_minor += stat.minflt;
                side.faults_major += stat.majflt;
                side.memory_bytes += stat.rss * procfs::page_size();
            }
            let tasks = process.tasks().into_iter().flatten().filter_map(Result::ok);
            side.threads.extend(tasks.filter_map(|task| Some((task.tid, Thread::of(&task)?))));
        }
        side
    }
}

impl Thread {
    fn of(task: &Task) -> Option<Thread> {
        let status = task.status().ok()?;
        let folder = format!("/proc/{}/task/{}", task.pid, task.tid);
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).ok();
        let first = |text: String| text.split_whitespace().next()?.parse().ok();
        let migrations = |text: String| {
            let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
            line.rsplit(':').next()?.trim().parse().ok()
        };
        Some(Thread {
            name: group_name(&status.name),
            cpu_ns: read("schedstat").and_then(first).unwrap_or(0),
            migrations: read("sched").and_then(migrations),
            switches_voluntary: status.voluntary_ctxt_switches.unwrap_or(0),
            switches_involuntary: status.nonvoluntary_ctxt_switches.unwrap_or(0),
        })
    }
}

/// A thread's name with `*` for the number at its end: threads of a pool are one group.
fn group_name(name: &str) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() { name.to_owned() } else { format!("{stem}*") }
}

fn used(before: &Side, after: &Side) -> UsageSide {
    let mut groups: BTreeMap<&str, ThreadGroup> = BTreeMap::new();
    let mut migrations = Some(0);
    let new = Thread { migrations: Some(0), ..Thread::default() };
    for (tid, thread) in &after.threads {
        let then = before.threads.get(tid).unwrap_or(&new);
        let moved = thread.migrations.zip(then.migrations).map(|(now, then)| now.saturating_sub(then));
        migrations = migrations.zip(moved).map(|(sum, moved)| sum + moved);
        let group = groups.entry(&thread.name).or_insert_with(|| ThreadGroup {
            name: thread.name.clone(),
            threads: 0,
            cpu_s: 0.0,
            switches_voluntary: 0,
            switches_involuntary: 0,
        });
        group.threads += 1;
        group.cpu_s += thread.cpu_ns.saturating_sub(then.cpu_ns) as f64 / 1e9;
        group.switches_voluntary += thread.switches_voluntary.saturating_sub(then.switches_voluntary);
        group.switches_involuntary += thread.switches_involuntary.saturating_sub(then.switches_involuntary);
    }
    let mut thread_groups: Vec<ThreadGroup> = groups.into_values().collect();
    thread_groups.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    thread_groups.truncate(GROUPS_MAX);
    UsageSide {
        migrations,
        faults_minor: after.faults_minor.saturating_sub(before.faults_minor),
        faults_major: after.faults_major.saturating_sub(before.faults_major),
        memory_bytes: after.memory_bytes,
        thread_groups,
    }
}

/// How long some task waited since boot, µs.
fn pressure() -> Option<Pressure> {
    let total = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/pressure/{name}")).ok()?;
        let line = text.lines().find(|line| line.starts_with("some "))?;
        line.rsplit("total=").next()?.trim().parse().ok()
    };
    Some(Pressure { cpu: total("cpu")?, memory: total("memory")?, io: total("io")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_pool_are_one_group() {
        let names = ["pool-1-thread-12", "main", "C2 CompilerThre"].map(group_name);
        assert_eq!(names, ["pool-1-thread-*", "main", "C2 CompilerThre"]);
    }
}
