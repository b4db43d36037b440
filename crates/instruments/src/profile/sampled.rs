//! Profiles by samples: a BPF program at each event.

use super::profile_of::{Counted, profile_of};
use super::stacks::samples;
use super::{CODE, Profiler};
use crate::bpf::{Bpf, Coverage, SampleTrigger};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::{Side, Targets};

/// Starts sampling on every CPU.
pub(super) fn start(
    profiler: Profiler,
    trigger: SampleTrigger,
    kernel: &Kernel,
    targets: &Targets,
) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
    let mut bpf = Bpf::load(CODE, kernel, &[])?;
    bpf.set_targets(targets)?;
    let failed = |error| InstrumentError(format!("{} {error}", profiler.name.name()));
    for event in trigger.open_on_all().map_err(failed)? {
        bpf.attach_event("sample", event)?;
    }
    Ok(Box::new(RunningSamples { profiler, trigger, bpf, targets: targets.clone() }))
}

struct RunningSamples {
    profiler: Profiler,
    trigger: SampleTrigger,
    bpf: Bpf,
    targets: Targets,
}

impl RunningInstrument for RunningSamples {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, files: &Files, coverage: &Coverage) -> Result<Output, InstrumentError> {
        let all = samples(&self.bpf, &self.targets)?;
        let mut samples = 0;
        for side in 0..=Side::Crowd as u32 {
            samples += self.bpf.numbers("taken", side)?[0];
        }
        let counted = Counted {
            frequency_hz: self.trigger.frequency_hz(),
            events_per_sample: self.trigger.events_per_sample(),
            samples: Some(samples),
            calls_lost: 0,
            data: Vec::new(),
        };
        let (data, name) = profile_of(&self.profiler, counted, all.into_iter(), &self.targets, files)?;
        Ok(Output { data, cost: self.bpf.cost(coverage), share_of_time: None, files: vec![name] })
    }
}
