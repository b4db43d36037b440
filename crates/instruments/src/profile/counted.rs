//! Profiles by the lab's counters: every event, with its stack.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::{Rc, Weak};

use crate::counters::{Counters, CountersError, Counts, Event, Events, Node};

use super::profile_of::{Counted, DataSample, profile_of};
use super::shares::KernelRoutine;
use super::stacks::{StackSample, perf_maps};
use super::user_routine::UserRoutine;
use super::{Count, Profiler};
use crate::bpf::Coverage;
use crate::data_names::DataNames;
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Output, RunningInstrument};
use crate::kernel_symbols::KernelSymbols;
use crate::symbols::{Symbols, UNKNOWN};
use crate::targets::{Side, Targets};

/// The loop of a CPU that has nothing to run. As in samples, what happens there is left out.
const IDLE: &str = "do_idle";

thread_local! {
    /// The counts of the run in progress. Naming routines takes longer than all else, so the instruments of a run share them.
    static OF_THIS_RUN: RefCell<Weak<OnceCell<NamedCounts>>> = const { RefCell::new(Weak::new()) };
}

/// Opens the counters, which all such instruments of a run share.
pub(super) fn start(
    profiler: Profiler,
    count: Count,
    counters: Counters,
    targets: &Targets,
) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
    counters.open().map_err(failed)?;
    let counts = OF_THIS_RUN.with_borrow_mut(|shared| {
        shared.upgrade().unwrap_or_else(|| {
            let counts = Rc::new(OnceCell::new());
            *shared = Rc::downgrade(&counts);
            counts
        })
    });
    Ok(Box::new(RunningCount { profiler, count, counters, targets: targets.clone(), counts }))
}

fn failed(error: CountersError) -> InstrumentError {
    InstrumentError(error.to_string())
}

struct RunningCount {
    profiler: Profiler,
    count: Count,
    counters: Counters,
    targets: Targets,
    /// Read by the first instrument that needs them.
    counts: Rc<OnceCell<NamedCounts>>,
}

impl RunningInstrument for RunningCount {
    fn stop(&mut self) {
        // It fails only if the plugin is gone, and then reading fails too.
        let _ = self.counters.close();
    }

    fn read(&mut self, files: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let named = match self.counts.get() {
            Some(named) => named,
            None => {
                let counts = self.counters.read().map_err(failed)?;
                self.counts.get_or_init(|| NamedCounts::new(counts, &self.targets))
            }
        };
        let stack = |index: usize| named.stack(index, self.count(&named.counts.nodes[index].events));
        let all = (0..named.counts.nodes.len()).filter_map(stack);
        let data = named.data.iter().map(|(side, name, events)| DataSample {
            side: *side,
            name: name.clone(),
            count: self.count(events),
        });
        let counted = Counted {
            frequency_hz: None,
            events_per_sample: Some(1),
            samples: None,
            calls_lost: named.counts.lost,
            data: data.filter(|one| one.count > 0).collect(),
        };
        let (data, name) = profile_of(&self.profiler, counted, all, &self.targets, files)?;
        // The counters execute no instruction of the machine.
        Ok(Output { data, cost: None, share_of_time: None, files: vec![name] })
    }
}

impl RunningCount {
    fn count(&self, events: &Events) -> u64 {
        match (self.count, self.counters.hardware()) {
            (Count::Instructions, _) => events.get(Event::Instructions),
            (Count::OfCaches(of), Some(hardware)) => of(events, hardware),
            (Count::OfCaches(_), None) => 0,
        }
    }
}

/// What was counted, with the names of routines and data.
///
/// A run of Java has a million paths of calls, so their stacks are made one at a time.
struct NamedCounts {
    counts: Counts,
    /// The side of each process.
    sides: Vec<Option<Side>>,
    /// The routine of each node; `None` for roots, and for user routines of processes that are not observed.
    routines: Vec<Option<NamedRoutine>>,
    /// Whether each node is below the loop of an idle CPU.
    idle: Vec<bool>,
    /// What was missed, with its name and by whom.
    data: Vec<(Option<Side>, String, Events)>,
}

/// A routine with its name.
#[derive(Clone)]
enum NamedRoutine {
    Kernel(KernelRoutine),
    User(UserRoutine),
}

impl NamedRoutine {
    fn is_idle(&self) -> bool {
        matches!(self, NamedRoutine::Kernel(routine) if &*routine.name == IDLE)
    }
}

impl NamedCounts {
    fn new(counts: Counts, targets: &Targets) -> NamedCounts {
        let sides: Vec<_> = counts.processes.iter().map(|process| targets.side_of(process.tgid)).collect();
        let symbols = KernelSymbols::read().unwrap_or_default();
        let routines = named_routines(&counts, &symbols, &sides, targets);
        let mut idle: Vec<bool> = Vec::with_capacity(routines.len());
        for (node, routine) in counts.nodes.iter().zip(&routines) {
            let is_below = node.parent.is_some_and(|parent| idle[parent]);
            idle.push(is_below || routine.as_ref().is_some_and(NamedRoutine::is_idle));
        }
        let mut data: BTreeMap<(usize, String), Events> = BTreeMap::new();
        if !counts.data.is_empty() {
            let names = DataNames::new(&counts, &symbols);
            for one in &counts.data {
                data.entry((one.process, names.name(one))).or_default().add(&one.events);
            }
        }
        let data = data.into_iter().map(|((process, name), events)| (sides[process], name, events)).collect();
        NamedCounts { sides, routines, idle, data, counts }
    }

    /// The stack of a node; `None` without a count or on an idle CPU.
    fn stack(&self, index: usize, count: u64) -> Option<StackSample> {
        if count == 0 || self.idle[index] {
            return None;
        }
        let node = &self.counts.nodes[index];
        let (mut kernel, mut user) = (Vec::new(), Vec::new());
        for routine in self.counts.ancestors(index) {
            match &self.routines[routine] {
                Some(NamedRoutine::Kernel(routine)) => kernel.push(routine.clone()),
                Some(NamedRoutine::User(routine)) => user.push(routine.clone()),
                None => {}
            }
        }
        let tgid = self.counts.processes[node.process].tgid;
        let side = self.sides[node.process];
        Some(StackSample { tgid, side, kernel: Some(kernel), user: Some(user), count })
    }
}

/// The routine of each node, every name once.
fn named_routines(
    counts: &Counts,
    kernel: &KernelSymbols,
    sides: &[Option<Side>],
    targets: &Targets,
) -> Vec<Option<NamedRoutine>> {
    let mut symbols = Symbols::new();
    let starts = counts.nodes.iter().filter(|node| node.is_kernel()).map(|node| node.routine).collect();
    let kernel_names = kernel.names(&starts);
    let _perf_maps = perf_maps(targets);
    prepare_user(&mut symbols, counts, targets);
    let mut known: HashMap<(u32, u64), NamedRoutine> = HashMap::new();
    let routine = |node: &Node| {
        let (tgid, is_kernel) = (counts.processes[node.process].tgid, node.is_kernel());
        if node.routine == 0 || (!is_kernel && sides[node.process].is_none()) {
            return None;
        }
        // A routine of the kernel is the same in every process.
        let key = (if is_kernel { 0 } else { tgid }, node.routine);
        let routine = known.entry(key).or_insert_with(|| match is_kernel {
            true => NamedRoutine::Kernel(KernelRoutine::new(
                kernel_names.get(&node.routine).map_or(UNKNOWN, String::as_str),
            )),
            false => NamedRoutine::User(UserRoutine::new(symbols.user(tgid, node.routine))),
        });
        Some(routine.clone())
    };
    counts.nodes.iter().map(routine).collect()
}

/// Looks the routines of the observed processes up at once.
fn prepare_user(symbols: &mut Symbols, counts: &Counts, targets: &Targets) {
    let mut user: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for node in counts.nodes.iter().filter(|node| node.routine != 0 && !node.is_kernel()) {
        let tgid = counts.processes[node.process].tgid;
        if targets.side_of(tgid).is_some() {
            user.entry(tgid).or_default().insert(node.routine);
        }
    }
    for (tgid, addresses) in user {
        symbols.prepare_user(tgid, &addresses.into_iter().collect::<Vec<_>>());
    }
}
