//! System calls by side, and the outcome of each `sched_yield`.

use std::collections::BTreeMap;

use klatch_record::observed::{SideCalls, Yields};
use klatch_record::{InstrumentName, ObservationData};
use syscalls::Sysno;

use crate::bpf::object;
use crate::bpf_instrument::{BpfInstrument, Measurement};
use crate::error::InstrumentError;
use crate::targets::Side;

pub(crate) static SYSCALL_COUNTS: BpfInstrument = BpfInstrument {
    name: InstrumentName::Syscalls,
    description: "system calls; what yields led to",
    object: object!("syscalls"),
    tracepoints: &["sys_enter", "sched_switch", "sys_exit"],
    by_process: true,
    whole_run: &[],
    preferred: None,
    read,
};

/// `CALLS` of syscalls.bpf.c: entries per side.
const CALLS: u32 = 512;

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    Ok(ObservationData::Syscalls(measurement.targets.sides(|side| read_side(measurement, side))?))
}

fn read_side(measurement: &Measurement<'_>, side: Side) -> Result<SideCalls, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let mut calls = BTreeMap::new();
    for number in 0..CALLS {
        let count = bpf.numbers("calls", side as u32 * CALLS + number)?[0];
        if count > 0 {
            calls.insert(name(number), coverage.scaled(count));
        }
    }
    // `struct yields` of syscalls.bpf.c.
    let counts: Vec<u64> =
        bpf.numbers("yields", side as u32)?.into_iter().map(|count| coverage.scaled(count)).collect();
    let [all, only, same, higher, lower, continued] = counts[..] else {
        return Err(InstrumentError("the map of yields has another layout than expected".to_owned()));
    };
    Ok(SideCalls { calls, yields: Yields { all, only, same, higher, lower, continued } })
}

/// The name of a call, or its number if it is newer than the list.
fn name(number: u32) -> String {
    Sysno::new(number as usize).map_or_else(|| number.to_string(), |call| call.name().to_owned())
}
