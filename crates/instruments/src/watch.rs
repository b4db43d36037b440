//! Several instruments at one run.

use klatch_record::{Availability, InstrumentName, Observation, Support};

use crate::bpf::{Looked, Windows};
use crate::decision::DecisionCost;
use crate::instrument::{Files, Instrument, Targets, Watching};
use crate::jfr::JavaRecorder;
use crate::jvm::JvmCounters;
use crate::kernel::Kernel;
use crate::locks::LockWaits;
use crate::profile::{CACHE_MISSES, CPU_TIME, INSTRUCTIONS};
use crate::runqueue::RunqueueLength;
use crate::syscalls::SyscallCounts;
use crate::trace::RawTrace;
use crate::usage_details::UsageInDetail;
use crate::wakeups::WakeupLatency;

/// All instruments, in the order in which they are listed and started. At a tracepoint that several of them look at, the
/// first started sees it first: so `decision` does not count the others' work at the entry and at the switch.
static ALL: [&dyn Instrument; 12] = [
    &UsageInDetail,
    &CPU_TIME,
    &INSTRUCTIONS,
    &CACHE_MISSES,
    &RunqueueLength,
    &DecisionCost,
    &WakeupLatency,
    &LockWaits,
    &SyscallCounts,
    &JvmCounters,
    &JavaRecorder,
    &RawTrace,
];

/// What an instrument shows, in a line.
pub fn shows(name: InstrumentName) -> &'static str {
    find(name).shows()
}

/// How each instrument can work on this kernel, found out by trying.
pub fn availability(kernel: &Kernel) -> Vec<Availability> {
    let probe = |instrument: &&dyn Instrument| Availability {
        instrument: instrument.name(),
        support: instrument.probe(kernel),
    };
    ALL.iter().map(probe).collect()
}

fn find(name: InstrumentName) -> &'static dyn Instrument {
    *ALL.iter().find(|instrument| instrument.name() == name).expect("every name has its instrument")
}

/// The instruments that were asked for.
pub struct Instruments {
    kernel: Kernel,
    asked: Vec<(InstrumentName, Support)>,
    always: bool,
}

impl Instruments {
    /// Those of `names`, of which `here` tells how they can work.
    pub fn new(kernel: Kernel, names: &[InstrumentName], here: &[Availability]) -> Instruments {
        let asked = here.iter().filter(|one| names.contains(&one.instrument));
        let asked = asked.map(|one| (one.instrument, one.support.clone())).collect();
        Instruments { kernel, asked, always: false }
    }

    /// The same, and none of them ever looks away: what they count is right to the last, and costs as much.
    pub fn all_the_time(self) -> Instruments {
        Instruments { always: true, ..self }
    }

    /// Which they are.
    pub fn names(&self) -> impl Iterator<Item = InstrumentName> {
        self.asked.iter().map(|(name, _)| *name)
    }

    /// Begins to watch. What cannot watch is told in the observations: a run goes on without it.
    pub fn start(&self, targets: &Targets, files: &Files) -> Watch {
        let mut watch = Watch { files: files.clone(), windows: Windows::new(self.always), all: Vec::new() };
        for (name, support) in &self.asked {
            let mut one = One { name: *name, support: support.clone(), watching: None, failure: None };
            if support.works() {
                match find(*name).start(&self.kernel, targets, files, &mut watch.windows) {
                    Ok(watching) => one.watching = Some(watching),
                    Err(error) => one.failure = Some(error.to_string()),
                }
            }
            watch.all.push(one);
        }
        if let Err(error) = watch.windows.begin() {
            for one in &mut watch.all {
                (one.watching, one.failure) = (None, Some(format!("no thread can be started: {error}")));
            }
        }
        watch
    }
}

/// Instruments that watch. When it is dropped unread, they stop.
pub struct Watch {
    files: Files,
    windows: Windows,
    all: Vec<One>,
}

struct One {
    name: InstrumentName,
    support: Support,
    watching: Option<Box<dyn Watching>>,
    failure: Option<String>,
}

impl Watch {
    /// Why one of them does not watch, if so.
    pub fn failure(&self) -> Option<String> {
        let of = |one: &One| {
            let lack = match &one.support {
                Support::NotAvailable { why, remedy } => Some(format!("{why}; to change it: {remedy}")),
                Support::Usable { .. } | Support::Fallback { .. } => None,
            };
            let why = one.failure.clone().or(lack)?;
            Some(format!("{} does not watch here: {why}", one.name))
        };
        self.all.iter().find_map(of)
    }

    /// Stops all of them; then each tells what it saw. The processes must still be there.
    pub fn finish(mut self) -> Vec<Observation> {
        let looked = self.windows.end();
        self.all.iter_mut().filter_map(|one| one.watching.as_mut()).for_each(|watching| watching.stop());
        let files = self.files;
        self.all.into_iter().map(|one| one.observation(&files, &looked)).collect()
    }
}

impl One {
    fn observation(self, files: &Files, looked: &Looked) -> Observation {
        let mut observation = Observation {
            instrument: self.name,
            support: self.support,
            failure: self.failure,
            cost: None,
            share_of_time: None,
            data: None,
            files: Vec::new(),
        };
        if let Some(mut watching) = self.watching {
            match watching.read(files, looked) {
                Ok(seen) => {
                    observation.cost = seen.cost;
                    observation.share_of_time = seen.share_of_time;
                    observation.data = Some(seen.found);
                    observation.files = seen.files;
                }
                Err(error) => observation.failure = Some(error.to_string()),
            }
        }
        observation
    }
}
