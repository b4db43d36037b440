//! Waiting for locks of the kernel.

use klatch_record::observed::{LockCaller, LockKind, Locks};
use klatch_record::{Found, InstrumentName, Support};
use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Bpf, CROWD, Histogram, Looked, SERVER, Windows, numbers, object, said};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;
use crate::symbols::{Symbols, UNKNOWN};

const CODE: &[u8] = object!("locks");
const TRACEPOINTS: [&str; 2] = ["contention_begin", "contention_end"];

/// As in locks.bpf.c.
const SAMPLED_ONE_IN: u64 = 4;
const KINDS: [&str; 7] = ["spinlock", "rwlock", "mutex", "rwsem", "rtmutex", "percpu-rwsem", "other"];
/// Kinds for which a CPU waits.
const SPINNING: [&str; 2] = ["spinlock", "rwlock"];

/// Callers in the record.
const CALLERS_MAX: usize = 10;

/// How the routines begin that are a lock's own, or the looking itself.
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

/// The instrument.
pub(crate) struct LockWaits;

impl Instrument for LockWaits {
    fn name(&self) -> InstrumentName {
        InstrumentName::Locks
    }

    fn shows(&self) -> &'static str {
        "waiting for locks of the kernel, by kind and caller"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS);
        lack.unwrap_or_else(|| Bpf::probe(CODE, kernel, &[], "BPF at contention_begin, contention_end"))
    }

    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        _: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.watch(targets)?;
        bpf.attach_by(windows, &["ends"])?;
        Ok(Box::new(Watch { bpf }))
    }
}

struct Watch {
    bpf: Bpf,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let mut locks = Locks {
            kinds: Vec::new(),
            callers: self.callers(looked)?,
            caller_sampled_one_in: SAMPLED_ONE_IN,
            cpu_waiting_share: 0.0,
            untimed: 0,
        };
        let mut cpus = 1;
        for (number, kind) in KINDS.iter().enumerate() {
            cpus = self.bpf.numbers_by_cpu("kinds", number as u32)?.len();
            let of_kind = self.bpf.numbers("kinds", number as u32)?;
            let (waits, counts) = of_kind.split_at(Histogram::NUMBERS);
            let waits = Histogram::new(waits);
            locks.untimed += looked.scaled(counts[4]);
            if waits.count() > 0 {
                locks.kinds.push(LockKind {
                    kind: (*kind).to_owned(),
                    server: looked.scaled(counts[SERVER as usize]),
                    crowd: looked.scaled(counts[CROWD as usize]),
                    all: looked.scaled(waits.count()),
                    wait_s: waits.sum() as f64 / 1e9 / looked.share,
                    wait_us: waits.distribution(1e-3),
                });
            }
        }
        let spinning = locks.kinds.iter().filter(|kind| SPINNING.contains(&kind.kind.as_str()));
        let spinning_s: f64 = spinning.map(|kind| kind.wait_s).sum();
        locks.cpu_waiting_share = spinning_s / (looked.elapsed_s * cpus as f64);
        Ok(Seen {
            found: Found::Locks(locks),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: Some(looked.share),
            files: Vec::new(),
        })
    }
}

impl Watch {
    fn callers(&self, looked: &Looked) -> Result<Vec<LockCaller>, InstrumentError> {
        let (table, stacks) = (self.bpf.map("callers")?, self.bpf.map("stacks")?);
        let mut symbols = Symbols::new();
        let mut callers: Vec<LockCaller> = Vec::new();
        for key in table.keys() {
            let (stack, kind) = key.split_at(4);
            let frames = stacks.lookup(stack, MapFlags::ANY).map_err(said)?.unwrap_or_default();
            let name = caller(&mut symbols, &numbers(&frames));
            let kind = KINDS[usize::from(kind[0]).min(KINDS.len() - 1)];
            let waited = numbers(&table.lookup(&key, MapFlags::ANY).map_err(said)?.unwrap_or_default());
            let [waits, ns] = waited[..] else { continue };
            let waits = looked.scaled(waits * SAMPLED_ONE_IN);
            let wait_s = (ns * SAMPLED_ONE_IN) as f64 / 1e9 / looked.share;
            match callers.iter_mut().find(|caller| caller.caller == name && caller.kind == kind) {
                Some(there) => {
                    there.waits += waits;
                    there.wait_s += wait_s;
                }
                None => callers.push(LockCaller { caller: name, kind: kind.to_owned(), waits, wait_s }),
            }
        }
        callers.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
        callers.truncate(CALLERS_MAX);
        Ok(callers)
    }
}

/// The first routine that is not of a lock's own.
fn caller(symbols: &mut Symbols, frames: &[u64]) -> String {
    let frames = frames.iter().take_while(|address| **address != 0);
    let names = frames.map(|address| symbols.kernel(*address).to_owned());
    let own = |name: &String| NOT_CALLERS.iter().any(|start| name.starts_with(start));
    names.filter(|name| name != UNKNOWN).find(|name| !own(name)).unwrap_or_else(|| UNKNOWN.to_owned())
}
