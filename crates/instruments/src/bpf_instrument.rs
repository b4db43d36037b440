//! The instruments that are one BPF object at tracepoints, attached in windows.

use klatch_record::{InstrumentName, ObservationData, Support};
use rustix::time::{ClockId, clock_gettime};

use crate::bpf::{Bpf, Coverage, LINUX_MIN, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

/// A BPF object, the tracepoints that it needs, and the function that reads its maps.
pub(crate) struct BpfInstrument {
    pub(crate) name: InstrumentName,
    pub(crate) description: &'static str,
    /// The compiled object, from [`object!`](crate::bpf::object).
    pub(crate) object: &'static [u8],
    /// Tracepoints without which it does not work.
    pub(crate) tracepoints: &'static [&'static str],
    /// Whether its programs distinguish the processes of a run from others.
    pub(crate) by_process: bool,
    /// Programs attached for the whole run instead of in windows.
    pub(crate) whole_run: &'static [&'static str],
    /// A tracepoint that it uses if the kernel has it.
    pub(crate) preferred: Option<Preferred>,
    pub(crate) read: fn(&Measurement<'_>) -> Result<ObservationData, InstrumentError>,
}

/// A tracepoint that makes the results better, and the program that replaces it on older kernels.
pub(crate) struct Preferred {
    pub(crate) tracepoint: &'static str,
    /// The program at the preferred tracepoint.
    pub(crate) program: &'static str,
    /// The program at one of the needed tracepoints, loaded only without the preferred one.
    pub(crate) fallback: &'static str,
    /// What the results lack with the fallback.
    pub(crate) drawback: &'static str,
    /// The kernels that have the tracepoint.
    pub(crate) remedy: &'static str,
}

/// A finished measurement, whose maps can be read.
pub(crate) struct Measurement<'a> {
    pub(crate) bpf: &'a Bpf,
    pub(crate) targets: &'a Targets,
    pub(crate) coverage: &'a Coverage,
    /// Start on CLOCK_MONOTONIC, which is also the clock of BPF programs.
    pub(crate) started_ns: u64,
    /// End on the same clock.
    pub(crate) stopped_ns: u64,
}

impl BpfInstrument {
    /// The program that this kernel does not need.
    fn unused_program(&self, kernel: &Kernel) -> Option<&'static str> {
        let preferred = self.preferred.as_ref()?;
        let available = kernel.has_tracepoint(preferred.tracepoint);
        Some(if available { preferred.fallback } else { preferred.program })
    }

    fn load(&self, kernel: &Kernel) -> Result<Bpf, crate::bpf::LoadError> {
        Bpf::load(self.object, kernel, self.unused_program(kernel).as_slice())
    }
}

impl Instrument for BpfInstrument {
    fn name(&self) -> InstrumentName {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let by_process = self.by_process.then(|| kernel.lacks_same_ids()).flatten();
        if let Some(support) = kernel.lacks(self.tracepoints).or(by_process) {
            return support;
        }
        if let Err(error) = self.load(kernel) {
            return error.support(LINUX_MIN);
        }
        let base = |tracepoints: &[&str]| format!("BPF at {}", tracepoints.join(", "));
        match &self.preferred {
            None => Support::Usable { base: base(self.tracepoints) },
            Some(preferred) if kernel.has_tracepoint(preferred.tracepoint) => {
                Support::Usable { base: base(&[preferred.tracepoint]) }
            }
            Some(preferred) => Support::Fallback {
                base: base(self.tracepoints),
                why: format!("the kernel has no tracepoint {}: {}", preferred.tracepoint, preferred.drawback),
                remedy: preferred.remedy.to_owned(),
            },
        }
    }

    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        _: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let mut bpf = self.load(kernel)?;
        bpf.set_targets(targets)?;
        bpf.attach_in_windows(windows, self.whole_run)?;
        let (targets, started_ns) = (targets.clone(), now_ns());
        Ok(Box::new(RunningBpf { bpf, targets, read: self.read, started_ns, stopped_ns: 0 }))
    }
}

/// Time on the clock of BPF programs, in ns.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

struct RunningBpf {
    bpf: Bpf,
    targets: Targets,
    read: fn(&Measurement<'_>) -> Result<ObservationData, InstrumentError>,
    started_ns: u64,
    stopped_ns: u64,
}

impl RunningInstrument for RunningBpf {
    fn stop(&mut self) {
        self.bpf.stop();
        self.stopped_ns = now_ns();
    }

    fn read(&mut self, _: &Files, coverage: &Coverage) -> Result<Output, InstrumentError> {
        let RunningBpf { bpf, targets, started_ns, stopped_ns, .. } = &*self;
        let (started_ns, stopped_ns) = (*started_ns, *stopped_ns);
        let data = (self.read)(&Measurement { bpf, targets, coverage, started_ns, stopped_ns })?;
        Ok(Output {
            data,
            cost: self.bpf.cost(coverage),
            share_of_time: Some(coverage.share),
            files: Vec::new(),
        })
    }
}
