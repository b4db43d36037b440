//! Waits for kernel locks.

use std::collections::BTreeMap;

use klatch_record::observed::{LockCaller, LockKind, Locks, Waiter};
use klatch_record::{InstrumentName, ObservationData};
use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Histogram, bpf_error, numbers, object};
use crate::bpf_instrument::{BpfInstrument, Measurement};
use crate::error::InstrumentError;
use crate::symbols::{Symbols, UNKNOWN};
use crate::targets::Side;
use crate::usable_cpus::{of_usable, usable_cpus};

pub(crate) static LOCK_WAITS: BpfInstrument = BpfInstrument {
    name: InstrumentName::Locks,
    description: "waiting for locks of the kernel, by kind and caller",
    object: object!("locks"),
    tracepoints: &["contention_begin", "contention_end"],
    by_process: true,
    whole_run: &["on_end"],
    preferred: None,
    read,
};

/// `SAMPLED_ONE_IN` of locks.bpf.c: waits per sampled caller.
const SAMPLED_ONE_IN: u64 = 4;
/// In the order of the `enum` in locks.bpf.c.
const KINDS: [&str; 7] = ["spinlock", "rwlock", "mutex", "rwsem", "rtmutex", "percpu-rwsem", "other"];
/// Kinds whose waiters occupy their CPU.
const SPINNING: [&str; 2] = ["spinlock", "rwlock"];
/// Index of `side_ns` in `struct kind` of locks.bpf.c, after the histogram.
const SIDE_NS: usize = 4;
/// Index of `untimed` there.
const UNTIMED: usize = 8;

/// Callers of each side in the record, and of other programs.
const CALLERS_MAX: usize = 10;

/// Prefixes of the routines that implement locks or tracing, which are skipped on the way to the caller.
const NOT_CALLERS: [&str; 19] = [
    "bpf_",
    "__bpf",
    "__traceiter",
    "trace_",
    "native_",
    "__pv_",
    "pv_",
    "queued_",
    "_raw_",
    "__raw",
    "do_raw",
    "mutex_",
    "__mutex",
    "rwsem_",
    "down",
    "__down",
    "percpu_",
    "rt_mutex",
    "osq_",
];

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let mut locks = Locks {
        kinds: Vec::new(),
        callers: read_callers(measurement)?,
        caller_sampled_one_in: SAMPLED_ONE_IN,
        cpu_waiting_share: 0.0,
        untimed: 0,
    };
    // On the CPUs that the run may use.
    let mut spinning_ns = 0;
    for (number, kind) in KINDS.iter().enumerate() {
        if SPINNING.contains(kind) {
            let by_cpu = bpf.numbers_by_cpu("kinds", number as u32)?;
            let waits = |numbers: &Vec<u64>| Histogram::new(&numbers[..Histogram::NUMBERS]).sum();
            spinning_ns += of_usable(&by_cpu).map(waits).sum::<u64>();
        }
        let numbers = bpf.numbers("kinds", number as u32)?;
        let (waits, counts) = numbers.split_at(Histogram::NUMBERS);
        let waits = Histogram::new(waits);
        locks.untimed += coverage.scaled(counts[UNTIMED]);
        let seconds = |ns: u64| ns as f64 / 1e9 / coverage.share;
        if waits.count() > 0 {
            locks.kinds.push(LockKind {
                kind: (*kind).to_owned(),
                server: coverage.scaled(counts[Side::Server as usize]),
                crowd: coverage.scaled(counts[Side::Crowd as usize]),
                all: coverage.scaled(waits.count()),
                server_wait_s: seconds(counts[SIDE_NS + Side::Server as usize]),
                crowd_wait_s: seconds(counts[SIDE_NS + Side::Crowd as usize]),
                wait_s: seconds(waits.sum()),
                wait_us: waits.distribution(1e-3),
            });
        }
    }
    let spinning_s = spinning_ns as f64 / 1e9 / coverage.share;
    locks.cpu_waiting_share = spinning_s / (coverage.elapsed_s * usable_cpus());
    Ok(ObservationData::Locks(locks))
}

fn read_callers(measurement: &Measurement<'_>) -> Result<Vec<LockCaller>, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let (table, stacks) = (bpf.map("callers")?, bpf.map("stacks")?);
    let mut symbols = Symbols::new();
    let mut callers: Vec<LockCaller> = Vec::new();
    for key in table.keys() {
        // `struct caller` of locks.bpf.c.
        let (stack, kind_and_side) = key.split_at(8);
        let frames = stacks.lookup(stack, MapFlags::ANY).map_err(bpf_error)?.unwrap_or_default();
        let name = caller_name(&mut symbols, &numbers(&frames));
        let kind = KINDS[usize::from(kind_and_side[0]).min(KINDS.len() - 1)];
        let waiter = match u32::from(kind_and_side[4]) {
            side if side == Side::Server as u32 => Waiter::Server,
            side if side == Side::Crowd as u32 => Waiter::Crowd,
            _ => Waiter::Others,
        };
        let sum = numbers(&table.lookup(&key, MapFlags::ANY).map_err(bpf_error)?.unwrap_or_default());
        let [waits, ns] = sum[..] else { continue };
        let waits = coverage.scaled(waits * SAMPLED_ONE_IN);
        let wait_s = (ns * SAMPLED_ONE_IN) as f64 / 1e9 / coverage.share;
        let is_same = |caller: &&mut LockCaller| {
            caller.caller == name && caller.kind == kind && caller.waiter == waiter
        };
        match callers.iter_mut().find(is_same) {
            Some(caller) => {
                caller.waits += waits;
                caller.wait_s += wait_s;
            }
            None => callers.push(LockCaller { caller: name, kind: kind.to_owned(), waiter, waits, wait_s }),
        }
    }
    callers.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    let mut listed = BTreeMap::new();
    callers.retain(|caller| {
        let count: &mut usize = listed.entry(caller.waiter).or_default();
        *count += 1;
        *count <= CALLERS_MAX
    });
    Ok(callers)
}

/// The innermost routine that does not implement the lock itself.
fn caller_name(symbols: &mut Symbols, frames: &[u64]) -> String {
    let frames = frames.iter().take_while(|address| **address != 0);
    let names = frames.map(|address| symbols.kernel(*address).to_owned());
    let of_lock = |name: &String| NOT_CALLERS.iter().any(|start| name.starts_with(start));
    names.filter(|name| name != UNKNOWN).find(|name| !of_lock(name)).unwrap_or_else(|| UNKNOWN.to_owned())
}
