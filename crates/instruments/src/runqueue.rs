//! Run queue length at each scheduling decision.

use klatch_record::observed::{LengthCount, LengthMoment, Lengths, Runqueue};
use klatch_record::{InstrumentName, ObservationData};

use crate::bpf::object;
use crate::bpf_instrument::{BpfInstrument, Measurement, Preferred};
use crate::error::InstrumentError;

pub(crate) static RUNQUEUE_LENGTH: BpfInstrument = BpfInstrument {
    name: InstrumentName::Runqueue,
    description: "length of the run queue at each scheduling decision",
    object: object!("runqueue"),
    tracepoints: &["sched_switch"],
    by_process: false,
    whole_run: &[],
    preferred: Some(Preferred {
        tracepoint: "sched_entry_tp",
        program: "on_entry",
        fallback: "on_switch",
        drawback: "decisions that lead to no switch are not seen",
        remedy: "boot a kernel 6.14 or newer",
    }),
    read,
};

/// `LENGTHS` of runqueue.bpf.c; the last entry counts all longer queues, too.
const LENGTHS: u32 = 1024;
/// `SLOT_BITS` of runqueue.bpf.c: a slot covers 2^28 ns.
const SLOT_BITS: u32 = 28;
/// `SLOTS` of runqueue.bpf.c: the ring holds 18 minutes.
const SLOTS: u64 = 4096;

/// Moments over time in the record.
const MOMENTS_MAX: usize = 60;

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    let mut cpus: Vec<Vec<u64>> = Vec::new();
    for length in 0..LENGTHS {
        let counts = measurement.bpf.numbers_by_cpu("lengths", length)?;
        cpus.resize(counts.len(), Vec::new());
        cpus.iter_mut().zip(counts).for_each(|(cpu, count)| cpu.extend(count));
    }
    let sum = |length: usize| cpus.iter().map(|cpu| cpu[length]).sum();
    let all: Vec<u64> = (0..LENGTHS as usize).map(sum).collect();
    let counts = all.iter().enumerate().filter(|(_, decisions)| **decisions > 0);
    Ok(ObservationData::Runqueue(Runqueue {
        all: length_statistics(&all),
        cpus: cpus.iter().map(|cpu| length_statistics(cpu)).collect(),
        lengths: counts
            .map(|(length, &decisions)| LengthCount { length: length as u64, decisions })
            .collect(),
        over_time: over_time(measurement)?,
    }))
}

fn over_time(measurement: &Measurement<'_>) -> Result<Vec<LengthMoment>, InstrumentError> {
    let (started_ns, stopped_ns) = (measurement.started_ns, measurement.stopped_ns);
    let (first, last) = (started_ns >> SLOT_BITS, stopped_ns >> SLOT_BITS);
    if last - first >= SLOTS {
        // The run was longer than the ring of slots, so each slot mixes two periods.
        return Ok(Vec::new());
    }
    let slots_per_moment = ((last - first + 1) as usize).div_ceil(MOMENTS_MAX) as u64;
    let mut moments = Vec::new();
    for start in (first..=last).step_by(slots_per_moment as usize) {
        let (mut decisions, mut sum, mut max) = (0, 0, 0);
        for slot in start..(start + slots_per_moment).min(last + 1) {
            for cpu in measurement.bpf.numbers_by_cpu("moments", (slot % SLOTS) as u32)? {
                // `struct moment` of runqueue.bpf.c.
                decisions += cpu[0];
                sum += cpu[1];
                max = max.max(cpu[2]);
            }
        }
        if decisions == 0 {
            continue;
        }
        let at_s = (start << SLOT_BITS).saturating_sub(started_ns) as f64 / 1e9;
        moments.push(LengthMoment { at_s, decisions, mean: sum as f64 / decisions as f64, max });
    }
    Ok(moments)
}

/// Mean, standard deviation and maximum of lengths; `counts` is indexed by length.
fn length_statistics(counts: &[u64]) -> Lengths {
    let decisions: u64 = counts.iter().sum();
    if decisions == 0 {
        return Lengths::default();
    }
    let weighted = |term: &dyn Fn(f64) -> f64| {
        let terms = counts.iter().enumerate().map(|(length, &count)| term(length as f64) * count as f64);
        terms.sum::<f64>() / decisions as f64
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
    fn mean_deviation_and_maximum_of_lengths() {
        // 1, 1, 2, 4
        let lengths = length_statistics(&[0, 2, 1, 0, 1]);
        assert_eq!((lengths.decisions, lengths.mean, lengths.max), (4, 2.0, 4));
        assert!((lengths.sd - 1.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(length_statistics(&[0; 4]), Lengths::default());
    }
}
