//! The exact count of a duet: a short run of each side in an emulated machine, whose counters see every instruction.

mod error;
mod load;
mod machine;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use klatch_lab::{
    Answer, Boot, BootKernel, Counting, Cpus, Job, Preparing, START_US, Snapshots, boot, counted,
};
use klatch_record::lab::{CountedBy, LabCounts};
use klatch_record::{ExactCount, ExactRow};
use klatch_runner::duet::DuetPlan;

pub use error::ExactError;
use machine::SideMachine;

/// Memory of each machine without a JVM on either side, and with one, MB.
const MEMORY_MB: u32 = 2_048;
const JAVA_MEMORY_MB: u32 = 4_096;
/// CPUs and seed of both machines.
const CPUS: u32 = 1;
const SEED: u32 = 1;
/// Longest time of a boot, in the host's time.
const LIMIT: Duration = Duration::from_secs(1_800);
/// Rows of each process that have a routine of their own; the others share one.
const ROWS_MAX: usize = 200;

/// Both sides of a duet, ready to be counted.
#[derive(Debug)]
pub struct ExactCounter {
    kernel: BootKernel,
    sides: [SideMachine; 2],
}

impl ExactCounter {
    /// Refuses a duet that the lab cannot count, without preparing anything.
    ///
    /// # Errors
    /// The lab cannot run a side.
    pub fn check(plan: &DuetPlan) -> Result<(), ExactError> {
        plan.sides.iter().try_for_each(machine::check_side)
    }

    /// Prepares the machines of both sides, which takes what is not there yet: a Java runtime, modules of the kernel.
    ///
    /// # Errors
    /// The lab cannot run a side. Nothing was measured then.
    pub fn new(
        plan: &DuetPlan,
        kernel: BootKernel,
        progress: impl Fn(Preparing<'_>),
    ) -> Result<ExactCounter, ExactError> {
        let [a, b] = plan.sides.each_ref().map(|side| SideMachine::new(side, &kernel, &progress));
        Ok(ExactCounter { sides: [a?, b?], kernel })
    }

    /// Boots a machine for each side, both at once. `notice` receives a line when a snapshot cannot be used or kept.
    ///
    /// # Errors
    /// A machine or the run in it failed.
    pub fn count(&self, interrupted: &AtomicBool, notice: fn(&str)) -> Result<ExactCount, ExactError> {
        let [a, b] = std::thread::scope(|scope| {
            let boots =
                self.sides.each_ref().map(|side| scope.spawn(|| self.count_side(side, interrupted, notice)));
            boots.map(|boot| boot.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let [a, b] = [a?, b?];
        let operations =
            |counts: &LabCounts| counts.operations.as_ref().map_or(0, |operations| operations.count);
        Ok(ExactCount {
            kernel: self.kernel.release.clone(),
            cpus: CPUS,
            memory_mb: self.memory_mb(),
            seed: SEED,
            workload: self.sides[0].workload.clone(),
            jvm: self.has_java(),
            a_operations: operations(&a),
            b_operations: operations(&b),
            routines: rows([&a, &b], [operations(&a), operations(&b)]),
        })
    }

    /// Whether a side has a JVM.
    fn has_java(&self) -> bool {
        self.sides.iter().any(|side| side.has_java)
    }

    /// The same for both: the kernel's work depends on it.
    fn memory_mb(&self) -> u32 {
        if self.has_java() { JAVA_MEMORY_MB } else { MEMORY_MB }
    }

    fn count_side(
        &self,
        side: &SideMachine,
        interrupted: &AtomicBool,
        notice: fn(&str),
    ) -> Result<LabCounts, ExactError> {
        let command = counted(side.command.clone(), None, Counting::Operations);
        let machine = Boot {
            kernel: &self.kernel.image,
            image: side.image.clone(),
            cpus: Cpus::Number(CPUS),
            memory_mb: self.memory_mb(),
            seed: SEED,
            parameters: String::new(),
            job: Job { commands: vec![command], start_us: START_US },
            counters: Some(String::new()),
            limit: LIMIT,
            interrupted,
            snapshots: Snapshots::Kept(notice),
        };
        counts_of(&boot(&machine)?).map_err(|reason| ExactError::Run { side: side.name.clone(), reason })
    }
}

/// The counts in an answer, or why there are none.
fn counts_of(answer: &Answer) -> Result<LabCounts, String> {
    let failed = answer.steps.iter().find(|step| step.status != Some(0));
    if let Some(step) = failed {
        return Err(step.reason().unwrap_or("it ended without a message").to_owned());
    }
    let counts = answer.counts().map_err(|error| error.to_string())?.ok_or("nothing was counted")?;
    let has_operations = counts.operations.as_ref().is_some_and(|operations| operations.count > 0);
    if has_operations { Ok(counts) } else { Err("it made no operation".to_owned()) }
}

/// The routines of both sides, those that changed most per operation first.
fn rows(sides: [&LabCounts; 2], operations: [u64; 2]) -> Vec<ExactRow> {
    let mut all: BTreeMap<(CountedBy, &str, bool), [u64; 2]> = BTreeMap::new();
    for (side, counts) in sides.into_iter().enumerate() {
        for one in &counts.routines {
            all.entry((one.by, &one.routine, one.kernel)).or_default()[side] += one.own.instructions;
        }
    }
    let change = |[a, b]: [u64; 2]| b as f64 / operations[1] as f64 - a as f64 / operations[0] as f64;
    let mut all: Vec<_> = all.into_iter().filter(|(_, counts)| *counts != [0, 0]).collect();
    // A stable sort keeps the order of names where changes are equal.
    all.sort_by(|x, y| change(y.1).abs().total_cmp(&change(x.1).abs()));
    let mut listed: BTreeMap<CountedBy, usize> = BTreeMap::new();
    let (mut rows, mut rest) = (Vec::new(), BTreeMap::<(CountedBy, bool), [u64; 2]>::new());
    for ((by, routine, kernel), counts) in all {
        let of_process = listed.entry(by).or_default();
        if *of_process < ROWS_MAX {
            *of_process += 1;
            rows.push(row(by, routine, kernel, counts));
        } else {
            let sum = rest.entry((by, kernel)).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
    }
    rows.extend(rest.into_iter().map(|((by, kernel), counts)| row(by, ExactCount::REST, kernel, counts)));
    rows
}

fn row(by: CountedBy, routine: &str, kernel: bool, [a, b]: [u64; 2]) -> ExactRow {
    ExactRow { by, routine: routine.to_owned(), kernel, a, b }
}

#[cfg(test)]
mod tests {
    use klatch_lab::Step;
    use klatch_record::lab::{CountedOperations, EventCounts, RoutineCounts};

    use super::*;

    fn counts(operations: u64, routines: &[(CountedBy, &str, u64)]) -> LabCounts {
        let routine = |(by, name, instructions): &(CountedBy, &str, u64)| RoutineCounts {
            routine: (*name).to_owned(),
            by: *by,
            own: EventCounts { instructions: *instructions, ..EventCounts::default() },
            ..RoutineCounts::default()
        };
        LabCounts {
            operations: Some(CountedOperations { name: "message".to_owned(), count: operations }),
            routines: routines.iter().map(routine).collect(),
            ..LabCounts::default()
        }
    }

    #[test]
    fn rows_are_sorted_by_change_per_operation_and_have_every_instruction() {
        use CountedBy::{Crowd, Server};
        let a = counts(100, &[(Server, "read", 1_000), (Server, "write", 500), (Crowd, "read", 700)]);
        let b = counts(200, &[(Server, "read", 2_000), (Server, "write", 3_000), (Crowd, "read", 1_000)]);
        let rows = rows([&a, &b], [100, 200]);
        let names: Vec<(CountedBy, &str, u64, u64)> =
            rows.iter().map(|row| (row.by, row.routine.as_str(), row.a, row.b)).collect();
        // 5 to 15, 7 to 5, and 10 both times.
        let expected =
            [(Server, "write", 500, 3_000), (Crowd, "read", 700, 1_000), (Server, "read", 1_000, 2_000)];
        assert_eq!(names, expected);
        let many: Vec<String> = (0..ROWS_MAX + 7).map(|n| format!("f{n}")).collect();
        let many: Vec<_> = many.iter().map(|name| (Server, name.as_str(), 3)).collect();
        let rows = super::rows([&counts(1, &many), &counts(1, &[])], [1, 1]);
        assert_eq!(rows.len(), ROWS_MAX + 1);
        assert_eq!(rows.last().map(|row| (row.routine.as_str(), row.a)), Some((ExactCount::REST, 21)));
    }

    #[test]
    fn a_failed_run_says_why() {
        let reason = |stderr: &str| {
            let stderr = stderr.to_owned();
            let step = Step { command: Vec::new(), status: Some(2), stdout: String::new(), stderr };
            let (files, binary_files) = (BTreeMap::new(), BTreeMap::new());
            counts_of(&Answer { steps: vec![step], files, binary_files, uptime_us: 0 }).unwrap_err()
        };
        assert_eq!(reason("x\nklatch: no room"), "klatch: no room");
        let usage = "error: --warmups cannot be used with --warmup\n\nUsage: klatch run\n\nFor more information, try '--help'.";
        assert_eq!(reason(usage), "error: --warmups cannot be used with --warmup");
        assert_eq!(reason("java.lang.Error\n\tat Main"), "\tat Main");
    }
}
