//! Samples of both sides of a duet at once, so that they are taken under the same noise.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::Instant;

use super::CODE;
use super::places_of::Places;
use super::stacks::{folded, process_name, samples};
use crate::bpf::{Bpf, Coverage, LINUX_MIN, SampleTrigger, enable_stats};
use crate::error::InstrumentError;
use crate::jdk::is_jvm;
use crate::kernel::Kernel;
use crate::targets::{Side, Targets};

/// Takes samples of CPU time of the servers and crowds of two sides. It stops when this is dropped.
pub struct PairSampler {
    bpf: Bpf,
    sides: [Targets; 2],
    /// While this is open the kernel measures what the samples cost.
    statistics: Option<OwnedFd>,
    began: Instant,
    elapsed_s: f64,
}

/// The samples of one side.
#[derive(Clone, Debug, Default)]
pub struct SampledSide {
    /// Of its servers.
    pub server: Places,
    /// Of its crowds.
    pub crowd: Places,
    /// Samples by stack: `side;process;outermost;…;innermost`.
    pub folded: BTreeMap<String, u64>,
}

impl PairSampler {
    /// Five times the rate of instrument `profile`, and no multiple or divisor of common timer rates either.
    pub const FREQUENCY_HZ: u64 = 499;

    /// Starts to take samples on every CPU.
    ///
    /// # Errors
    /// The kernel refuses the programs or the timers; the text has the reason and, if one is known, the remedy.
    pub fn start(kernel: &Kernel, sides: [Targets; 2]) -> Result<PairSampler, InstrumentError> {
        if let Some(lack) = kernel.lacks(&[]).or_else(|| kernel.lacks_same_ids()) {
            return Err(InstrumentError::lacking(&lack));
        }
        let mut bpf = Bpf::load(CODE, kernel, &[])
            .map_err(|error| InstrumentError::lacking(&error.support(LINUX_MIN)))?;
        let both = union(&sides);
        bpf.set_targets(&both)?;
        let statistics = enable_stats();
        let trigger = SampleTrigger::TimeHz(PairSampler::FREQUENCY_HZ);
        let events = trigger.open_on_all().map_err(|error| {
            InstrumentError(format!("the timers of the samples cannot be opened {error}"))
        })?;
        for event in events {
            bpf.attach_event("sample", event)?;
        }
        Ok(PairSampler { bpf, sides, statistics, began: Instant::now(), elapsed_s: 0.0 })
    }

    /// Takes no more samples.
    pub fn stop(&mut self) {
        self.bpf.stop();
        self.elapsed_s = self.began.elapsed().as_secs_f64();
    }

    /// The samples of each side, and the CPU time that it took to take them, s; `None` if the kernel does not tell. The processes must still
    /// exist.
    ///
    /// # Errors
    /// The samples cannot be read.
    pub fn read(mut self) -> Result<([SampledSide; 2], Option<f64>), InstrumentError> {
        let measured_s = if self.statistics.take().is_some() { self.elapsed_s } else { 0.0 };
        let coverage = Coverage { elapsed_s: self.elapsed_s, share: 1.0, cost_measured_s: measured_s };
        let cost_s = self.bpf.cost(&coverage).map(|cost| cost.cpu_s);
        let mut sides = [SampledSide::default(), SampledSide::default()];
        let mut names: BTreeMap<u32, (String, bool)> = BTreeMap::new();
        for sample in samples(&self.bpf, &union(&self.sides))? {
            let tgid = sample.tgid;
            let Some(place) = self.sides.iter().position(|side| side.side_of(tgid).is_some()) else {
                continue;
            };
            let (name, is_jvm) = names.entry(tgid).or_insert_with(|| (process_name(tgid), is_jvm(tgid)));
            let side = &mut sides[place];
            *side.folded.entry(folded(&sample, name)).or_default() += sample.count;
            match self.sides[place].side_of(tgid) {
                Some(Side::Server) => side.server.add(&sample, *is_jvm),
                _ => side.crowd.add(&sample, *is_jvm),
            }
        }
        Ok((sides, cost_s))
    }
}

fn union([a, b]: &[Targets; 2]) -> Targets {
    Targets { servers: [&a.servers[..], &b.servers].concat(), crowds: [&a.crowds[..], &b.crowds].concat() }
}
