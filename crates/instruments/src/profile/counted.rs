//! Profiles by the lab's counters: every event, with its stack.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};

use klatch_counters::{Counters, CountersError, Counts, Event, Events};

use super::profile_of::{Counted, DataSample, profile_of};
use super::stacks::{StackSample, perf_maps};
use super::{Count, Profiler};
use crate::bpf::Coverage;
use crate::data_names::DataNames;
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Output, RunningInstrument};
use crate::symbols::{Symbols, kernel_routines};
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
                self.counts.get_or_init(|| NamedCounts::new(&counts, &self.targets))
            }
        };
        let stack = |(stack, events): &(StackSample, Events)| StackSample {
            count: self.count(events),
            ..stack.clone()
        };
        let all: Vec<StackSample> = named.stacks.iter().map(stack).filter(|stack| stack.count > 0).collect();
        let samples = all.iter().map(|one| one.count).sum();
        let data = named.data.iter().map(|(side, name, events)| DataSample {
            side: *side,
            name: name.clone(),
            count: self.count(events),
        });
        let counted = Counted {
            frequency_hz: None,
            events_per_sample: Some(1),
            samples,
            calls_lost: named.calls_lost,
            data: data.filter(|one| one.count > 0).collect(),
        };
        let (data, name) = profile_of(&self.profiler, counted, &all, &self.targets, files)?;
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

/// Every stack that counted something, with the names of its routines.
struct NamedCounts {
    /// Without a count: each instrument has its own.
    stacks: Vec<(StackSample, Events)>,
    calls_lost: u64,
    /// What was missed, with its name and by whom.
    data: Vec<(Option<Side>, String, Events)>,
}

impl NamedCounts {
    fn new(counts: &Counts, targets: &Targets) -> NamedCounts {
        let mut symbols = Symbols::new();
        let starts = counts.nodes.iter().filter(|node| node.is_kernel()).map(|node| node.routine).collect();
        let kernel_names = kernel_routines(&starts);
        let _perf_maps = perf_maps(targets);
        prepare_user(&mut symbols, counts, targets);
        let mut stacks = Vec::new();
        for (index, node) in counts.nodes.iter().enumerate() {
            let tgid = counts.processes[node.process].tgid;
            let side = targets.side_of(tgid);
            let (mut kernel, mut user) = (Vec::new(), Vec::new());
            for routine in counts.ancestors(index).map(|index| &counts.nodes[index]) {
                if routine.is_kernel() {
                    kernel.push(kernel_names[&routine.routine].clone());
                } else if side.is_some() {
                    user.push(symbols.user(tgid, routine.routine).to_owned());
                }
            }
            if !kernel.iter().any(|name| name == IDLE) {
                let stack = StackSample { tgid, side, kernel: Some(kernel), user: Some(user), count: 0 };
                stacks.push((stack, node.events));
            }
        }
        let names = DataNames::new(counts);
        let mut data: BTreeMap<(u32, String), Events> = BTreeMap::new();
        for one in &counts.data {
            let process = (counts.processes[one.process].tgid, names.name(one));
            data.entry(process).or_default().add(&one.events);
        }
        let of_side = |((tgid, name), events)| (targets.side_of(tgid), name, events);
        NamedCounts { stacks, calls_lost: counts.lost, data: data.into_iter().map(of_side).collect() }
    }
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
