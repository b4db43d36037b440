//! Migrations, page faults, CPU time by thread group, and pressure.
//!
//! The kernel keeps these counters anyway, so the instrument only reads them before and after the run.

use std::collections::BTreeMap;
use std::time::Instant;

use klatch_host::machine::{ProcessStat, ProcessStatus, thread_ids};
use klatch_record::observed::{Pressure, Sides, ThreadGroup, UsageDetails, UsageSide};
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Coverage, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

/// Thread groups in the record, those with the most CPU time.
const GROUPS_MAX: usize = 10;

pub(crate) struct DetailedUsage;

impl Instrument for DetailedUsage {
    fn name(&self) -> InstrumentName {
        InstrumentName::Usage
    }

    fn description(&self) -> &'static str {
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
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let before = UsageSnapshot::take(targets);
        Ok(Box::new(RunningUsage { targets: targets.clone(), before, after: None }))
    }
}

struct RunningUsage {
    targets: Targets,
    before: UsageSnapshot,
    after: Option<UsageSnapshot>,
}

impl RunningInstrument for RunningUsage {
    fn stop(&mut self) {
        self.after = Some(UsageSnapshot::take(&self.targets));
    }

    fn read(&mut self, _: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let after = self.after.as_ref().ok_or_else(|| InstrumentError("it was not stopped".to_owned()))?;
        let elapsed_s = (after.taken_at - self.before.taken_at).as_secs_f64();
        let side = |select: fn(&UsageSnapshot) -> &SideSnapshot| {
            let (before, after) = (select(&self.before), select(after));
            (!after.threads.is_empty()).then(|| usage_between(before, after))
        };
        let details = UsageDetails {
            sides: Sides {
                server: side(|snapshot| &snapshot.server),
                crowd: side(|snapshot| &snapshot.crowd),
            },
            pressure: self.before.pressure.zip(after.pressure).map(|(before, after)| {
                let share = |select: fn(&Pressure) -> f64| {
                    (select(&after) - select(&before)).max(0.0) / elapsed_s / 1e6
                };
                Pressure { cpu: share(|p| p.cpu), memory: share(|p| p.memory), io: share(|p| p.io) }
            }),
        };
        Ok(Output {
            data: ObservationData::Usage(details),
            cost: None,
            share_of_time: None,
            files: Vec::new(),
        })
    }
}

/// All counters at one moment.
struct UsageSnapshot {
    taken_at: Instant,
    server: SideSnapshot,
    crowd: SideSnapshot,
    /// Total stall times since boot, in µs.
    pressure: Option<Pressure>,
}

/// The processes of a side at one moment.
#[derive(Default)]
struct SideSnapshot {
    faults_minor: u64,
    faults_major: u64,
    memory_bytes: u64,
    /// Snapshots by thread id, of all processes.
    threads: BTreeMap<u32, ThreadSnapshot>,
}

#[derive(Clone)]
struct ThreadSnapshot {
    /// Name of its group, from [`group_name`].
    group: String,
    /// `None` if the kernel does not count it (no CONFIG_SCHED_INFO).
    cpu_ns: Option<u64>,
    migrations: Option<u64>,
    /// Voluntary and involuntary ones; `None` if the kernel does not count them.
    switches: Option<(u64, u64)>,
}

impl UsageSnapshot {
    fn take(targets: &Targets) -> UsageSnapshot {
        UsageSnapshot {
            taken_at: Instant::now(),
            server: SideSnapshot::take(&targets.servers),
            crowd: SideSnapshot::take(&targets.crowds),
            pressure: pressure(),
        }
    }
}

impl SideSnapshot {
    /// Sums over these processes; one that has ended adds nothing.
    fn take(pids: &[u32]) -> SideSnapshot {
        let mut side = SideSnapshot::default();
        for &pid in pids {
            if let Ok(stat) = ProcessStat::read(pid) {
                side.faults_minor += stat.faults_minor;
                side.faults_major += stat.faults_major;
                side.memory_bytes += stat.resident_bytes;
            }
            let tids = thread_ids(pid).unwrap_or_default().into_iter();
            side.threads.extend(tids.filter_map(|tid| Some((tid, ThreadSnapshot::take(pid, tid)?))));
        }
        side
    }
}

impl ThreadSnapshot {
    fn take(pid: u32, tid: u32) -> Option<ThreadSnapshot> {
        let status = ProcessStatus::read_thread(pid, tid).ok()?;
        let folder = format!("/proc/{pid}/task/{tid}");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).ok();
        let first = |text: String| text.split_whitespace().next()?.parse().ok();
        let migrations = |text: String| {
            let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
            line.rsplit(':').next()?.trim().parse().ok()
        };
        Some(ThreadSnapshot {
            group: group_name(status.text("Name").unwrap_or_default()),
            cpu_ns: read("schedstat").and_then(first),
            migrations: read("sched").and_then(migrations),
            switches: status
                .number("voluntary_ctxt_switches")
                .zip(status.number("nonvoluntary_ctxt_switches")),
        })
    }
}

/// The thread's name with a trailing number replaced by `*`, so that the threads of a pool form one group.
pub(crate) fn group_name(name: &str) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() { name.to_owned() } else { format!("{stem}*") }
}

fn usage_between(before: &SideSnapshot, after: &SideSnapshot) -> UsageSide {
    let mut groups: BTreeMap<&str, ThreadGroup> = BTreeMap::new();
    let mut migrations = Some(0);
    let new =
        ThreadSnapshot { group: String::new(), cpu_ns: Some(0), migrations: Some(0), switches: Some((0, 0)) };
    let mut is_counted = true;
    for (tid, thread) in &after.threads {
        let earlier = before.threads.get(tid).unwrap_or(&new);
        let moved =
            thread.migrations.zip(earlier.migrations).map(|(now, earlier)| now.saturating_sub(earlier));
        migrations = migrations.zip(moved).map(|(sum, moved)| sum + moved);
        let group = groups.entry(&thread.group).or_insert_with(|| ThreadGroup {
            name: thread.group.clone(),
            threads: 0,
            cpu_s: 0.0,
            switches_voluntary: 0,
            switches_involuntary: 0,
        });
        group.threads += 1;
        let counts = (thread.cpu_ns, earlier.cpu_ns, thread.switches, earlier.switches);
        let (Some(cpu_ns), Some(earlier_ns), Some(switches), Some(switches_earlier)) = counts else {
            is_counted = false;
            continue;
        };
        group.cpu_s += cpu_ns.saturating_sub(earlier_ns) as f64 / 1e9;
        group.switches_voluntary += switches.0.saturating_sub(switches_earlier.0);
        group.switches_involuntary += switches.1.saturating_sub(switches_earlier.1);
    }
    let mut thread_groups: Vec<ThreadGroup> = groups.into_values().filter(|_| is_counted).collect();
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

/// Total time since boot in which some task waited for each resource, in µs.
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
    fn a_kernel_that_counts_no_cpu_time_of_threads_has_no_groups() {
        let side = |cpu_ns| SideSnapshot {
            threads: BTreeMap::from([(
                7,
                ThreadSnapshot { group: "a".to_owned(), cpu_ns, migrations: Some(3), switches: Some((1, 2)) },
            )]),
            ..SideSnapshot::default()
        };
        let counted = usage_between(&side(Some(1_000)), &side(Some(2_000)));
        assert_eq!((counted.thread_groups.len(), counted.thread_groups[0].cpu_s), (1, 1e-6));
        assert_eq!(usage_between(&side(None), &side(None)).thread_groups, []);
    }

    #[test]
    fn threads_of_a_pool_are_one_group() {
        let names = ["pool-1-thread-12", "main", "C2 CompilerThre"].map(group_name);
        assert_eq!(names, ["pool-1-thread-*", "main", "C2 CompilerThre"]);
    }
}
