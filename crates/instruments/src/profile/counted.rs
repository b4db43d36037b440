//! Profiles by the lab's counters: every event, with its stack.

use std::collections::{BTreeMap, BTreeSet};

use klatch_counters::{Counters, CountersError, Counts, Events};

use super::profile_of::{Counted, profile_of};
use super::stacks::{StackSample, perf_maps};
use super::{Count, Profiler};
use crate::bpf::Coverage;
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Output, RunningInstrument};
use crate::symbols::{Symbols, kernel_routines};
use crate::targets::{Side, Targets};

/// The loop of a CPU that has nothing to run. As in samples, what happens there is left out.
const IDLE: &str = "do_idle";

/// Opens the counters, which all such instruments of a run share.
pub(super) fn start(
    profiler: Profiler,
    count: Count,
    counters: Counters,
    targets: &Targets,
) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
    counters.open().map_err(failed)?;
    Ok(Box::new(RunningCount { profiler, count, counters, targets: targets.clone() }))
}

fn failed(error: CountersError) -> InstrumentError {
    InstrumentError(error.to_string())
}

struct RunningCount {
    profiler: Profiler,
    count: Count,
    counters: Counters,
    targets: Targets,
}

impl RunningInstrument for RunningCount {
    fn stop(&mut self) {
        // It fails only if the plugin is gone, and then reading fails too.
        let _ = self.counters.close();
    }

    fn read(&mut self, files: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let counts = self.counters.read().map_err(failed)?;
        let all = self.stacks(&counts);
        let samples = all.iter().map(|one| one.count).sum();
        let counted =
            Counted { frequency_hz: None, events_per_sample: Some(1), samples, calls_lost: counts.lost };
        let (data, name) = profile_of(&self.profiler, counted, &all, &self.targets, files)?;
        // The counters execute no instruction of the machine.
        Ok(Output { data, cost: None, share_of_time: None, files: vec![name] })
    }
}

impl RunningCount {
    fn count(&self, events: &Events) -> u64 {
        match (self.count, self.counters.hardware()) {
            (Count::Instructions, _) => events.get(klatch_counters::Event::Instructions),
            (Count::OfCaches(of), Some(hardware)) => of(events, hardware),
            (Count::OfCaches(_), None) => 0,
        }
    }

    /// Every stack that counted something, with the names of its routines.
    fn stacks(&self, counts: &Counts) -> Vec<StackSample> {
        let mut symbols = Symbols::new();
        let starts = counts.nodes.iter().filter(|node| node.is_kernel()).map(|node| node.routine).collect();
        let kernel_names = kernel_routines(&starts);
        let _perf_maps = perf_maps(&self.targets);
        let mut user: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for node in counts.nodes.iter().filter(|node| node.routine != 0 && !node.is_kernel()) {
            let tgid = counts.processes[node.process].tgid;
            if side_of(&self.targets, tgid).is_some() {
                user.entry(tgid).or_default().insert(node.routine);
            }
        }
        for (tgid, addresses) in user {
            symbols.prepare_user(tgid, &addresses.into_iter().collect::<Vec<_>>());
        }
        let mut all = Vec::new();
        for (index, node) in counts.nodes.iter().enumerate() {
            let count = self.count(&node.events);
            if count == 0 {
                continue;
            }
            let tgid = counts.processes[node.process].tgid;
            let side = side_of(&self.targets, tgid);
            let (mut kernel, mut user) = (Vec::new(), Vec::new());
            for routine in counts.ancestors(index).map(|index| &counts.nodes[index]) {
                if routine.is_kernel() {
                    kernel.push(kernel_names[&routine.routine].clone());
                } else if side.is_some() {
                    user.push(symbols.user(tgid, routine.routine).to_owned());
                }
            }
            if !kernel.iter().any(|name| name == IDLE) {
                all.push(StackSample { tgid, side, kernel: Some(kernel), user: Some(user), count });
            }
        }
        all
    }
}

fn side_of(targets: &Targets, tgid: u32) -> Option<Side> {
    match () {
        () if targets.servers.contains(&tgid) => Some(Side::Server),
        () if targets.crowds.contains(&tgid) => Some(Side::Crowd),
        () => None,
    }
}
