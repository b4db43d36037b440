//! Length of the run queue at each scheduling decision.

use klatch_record::observed::{LengthCount, LengthMoment, Lengths, Runqueue};
use klatch_record::{Found, InstrumentName, Support};
use rustix::time::{ClockId, clock_gettime};

use crate::bpf::{Bpf, Looked, Windows, object};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;

const CODE: &[u8] = object!("runqueue");

/// As in runqueue.bpf.c.
const LENGTHS: u32 = 1024;
const SLOT_BITS: u32 = 28;
const SLOTS: u64 = 4096;

/// Parts of the run in the record.
const PARTS_MAX: usize = 60;

/// The instrument.
pub(crate) struct RunqueueLength;

impl Instrument for RunqueueLength {
    fn name(&self) -> InstrumentName {
        InstrumentName::Runqueue
    }

    fn shows(&self) -> &'static str {
        "length of the run queue at each scheduling decision"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        if let Some(lack) = kernel.lacks(&["sched_switch"]) {
            return lack;
        }
        let at_entry = kernel.has_tracepoint("sched_entry_tp");
        let base = if at_entry { "BPF at sched_entry_tp" } else { "BPF at sched_switch" };
        match Bpf::probe(CODE, kernel, &[other(kernel)], base) {
            Support::Usable { base } if !at_entry => Support::Fallback {
                base,
                why: "the kernel has no tracepoint sched_entry_tp: decisions that lead to no switch are not seen".to_owned(),
                remedy: "boot a kernel 6.14 or newer".to_owned(),
            },
            support => support,
        }
    }

    fn start(
        &self,
        kernel: &Kernel,
        _: &Targets,
        _: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[other(kernel)])?;
        bpf.attach_by(windows, &[])?;
        Ok(Box::new(Watch { bpf, began_ns: now_ns(), ended_ns: 0 }))
    }
}

/// The program that is not used.
fn other(kernel: &Kernel) -> &'static str {
    if kernel.has_tracepoint("sched_entry_tp") { "fallback" } else { "entry" }
}

/// The clock of the programs.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

struct Watch {
    bpf: Bpf,
    began_ns: u64,
    ended_ns: u64,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
        self.ended_ns = now_ns();
    }

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let mut cpus: Vec<Vec<u64>> = Vec::new();
        for length in 0..LENGTHS {
            let counts = self.bpf.numbers_by_cpu("lengths", length)?;
            cpus.resize(counts.len(), Vec::new());
            cpus.iter_mut().zip(counts).for_each(|(cpu, count)| cpu.extend(count));
        }
        let sum = |length: usize| cpus.iter().map(|cpu| cpu[length]).sum();
        let all: Vec<u64> = (0..LENGTHS as usize).map(sum).collect();
        let met = all.iter().enumerate().filter(|(_, decisions)| **decisions > 0);
        let found = Runqueue {
            all: in_short(&all),
            cpus: cpus.iter().map(|cpu| in_short(cpu)).collect(),
            lengths: met
                .map(|(length, &decisions)| LengthCount { length: length as u64, decisions })
                .collect(),
            over_time: self.over_time()?,
        };
        Ok(Seen {
            found: Found::Runqueue(found),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: Some(looked.share),
            files: Vec::new(),
        })
    }
}

impl Watch {
    fn over_time(&self) -> Result<Vec<LengthMoment>, InstrumentError> {
        let (first, last) = (self.began_ns >> SLOT_BITS, self.ended_ns >> SLOT_BITS);
        if last - first >= SLOTS {
            // Slots were used twice: what is in them is of two times.
            return Ok(Vec::new());
        }
        let slots_a_part = ((last - first + 1) as usize).div_ceil(PARTS_MAX) as u64;
        let mut moments = Vec::new();
        for part in (first..=last).step_by(slots_a_part as usize) {
            let (mut decisions, mut sum, mut max) = (0, 0, 0);
            for slot in part..(part + slots_a_part).min(last + 1) {
                for cpu in self.bpf.numbers_by_cpu("moments", (slot % SLOTS) as u32)? {
                    decisions += cpu[0];
                    sum += cpu[1];
                    max = max.max(cpu[2]);
                }
            }
            if decisions == 0 {
                continue;
            }
            let at_s = (part << SLOT_BITS).saturating_sub(self.began_ns) as f64 / 1e9;
            moments.push(LengthMoment { at_s, decisions, mean: sum as f64 / decisions as f64, max });
        }
        Ok(moments)
    }
}

/// Mean, deviation and maximum of lengths that were met so often.
fn in_short(counts: &[u64]) -> Lengths {
    let decisions: u64 = counts.iter().sum();
    if decisions == 0 {
        return Lengths::default();
    }
    let weighted = |of: &dyn Fn(f64) -> f64| {
        let each = counts.iter().enumerate().map(|(length, &count)| of(length as f64) * count as f64);
        each.sum::<f64>() / decisions as f64
    };
    let mean = weighted(&|length| length);
    Lengths {
        decisions,
        mean,
        sd: weighted(&|length| (length - mean).powi(2)).sqrt(),
        max: counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_short() {
        // 1, 1, 2, 4
        let found = in_short(&[0, 2, 1, 0, 1]);
        assert_eq!((found.decisions, found.mean, found.max), (4, 2.0, 4));
        assert!((found.sd - 1.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(in_short(&[0; 4]), Lengths::default());
    }
}
