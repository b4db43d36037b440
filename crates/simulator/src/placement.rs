//! Which CPUs a process may use: disjoint groups of CPUs, one per process, or all CPUs for all.

use std::ops::Range;

use klatch_schedulers::policies::TaskId;

/// Most groups of CPUs: each has a bit in a task's flags.
const GROUPS_MAX: usize = 6;

/// The groups of CPUs and tasks.
pub(crate) struct Placement {
    group_of_cpu: Vec<u8>,
    group_of_task: Vec<u8>,
    bound: bool,
}

impl Placement {
    /// `spaces` is the address space of each task, from 1. The first gets the first range of `groups`, and so on. Without groups
    /// every task may use every CPU.
    ///
    /// # Panics
    /// There are more groups than address spaces, or more than [`GROUPS_MAX`].
    pub(crate) fn new(cpus: usize, spaces: &[u64], groups: &[Range<usize>]) -> Self {
        assert!(groups.len() <= GROUPS_MAX, "at most {GROUPS_MAX} groups of CPUs");
        let mut group_of_cpu = vec![0; cpus];
        for (group, range) in groups.iter().enumerate() {
            group_of_cpu[range.clone()].fill(group as u8);
        }
        let bound = !groups.is_empty();
        let group_of_task = spaces.iter().map(|&space| if bound { (space - 1) as u8 } else { 0 }).collect();
        Self { group_of_cpu, group_of_task, bound }
    }

    /// Whether some task may not use every CPU.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound
    }

    pub(crate) fn allows(&self, task: TaskId, cpu: usize) -> bool {
        self.group_of_task[task as usize] == self.group_of_cpu[cpu]
    }

    /// A CPU where a task may run, spread by the number of the task.
    pub(crate) fn home(&self, task: TaskId) -> usize {
        if !self.bound {
            return task as usize % self.group_of_cpu.len();
        }
        let cpus = self.group_of_cpu.iter().enumerate().filter(|&(cpu, _)| self.allows(task, cpu));
        let cpus: Vec<usize> = cpus.map(|(cpu, _)| cpu).collect();
        cpus[task as usize % cpus.len()]
    }

    /// The flags of a task: one for each group of CPUs that it may not use, from bit 1.
    pub(crate) fn flags(&self, task: TaskId) -> u8 {
        if !self.bound {
            return 0;
        }
        !(1 << (self.group_of_task[task as usize] + 1)) & !1
    }

    /// The flag of tasks that may not use a CPU.
    pub(crate) fn mask(&self, cpu: usize) -> u8 {
        1 << (self.group_of_cpu[cpu] + 1)
    }
}

#[test]
fn a_bound_process_uses_its_own_cpus_only() {
    let placement = Placement::new(4, &[1, 2, 1, 2], &[0..2, 2..4]);
    assert!(placement.allows(0, 1) && !placement.allows(0, 2) && placement.allows(1, 3));
    assert_eq!([0, 1, 2, 3].map(|task| placement.home(task)), [0, 3, 0, 3]);
    assert_eq!(placement.flags(0) & placement.mask(0), 0);
    assert_ne!(placement.flags(0) & placement.mask(2), 0);
}
