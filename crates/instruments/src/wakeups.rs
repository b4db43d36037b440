//! From waking to running.

use klatch_record::observed::{SideWakeups, Sides};
use klatch_record::{Found, InstrumentName, Support};

use crate::bpf::{Bpf, CROWD, Histogram, Looked, SERVER, Windows, object};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;

const CODE: &[u8] = object!("wakeups");
const TRACEPOINTS: [&str; 3] = ["sched_waking", "sched_switch", "sched_migrate_task"];

/// The instrument.
pub(crate) struct WakeupLatency;

impl Instrument for WakeupLatency {
    fn name(&self) -> InstrumentName {
        InstrumentName::Wakeups
    }

    fn shows(&self) -> &'static str {
        "from waking to running; preemptions by the woken; migrations"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS);
        lack.unwrap_or_else(|| {
            Bpf::probe(CODE, kernel, &[], "BPF at sched_waking, sched_switch, sched_migrate_task")
        })
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
        bpf.attach_by(windows, &["switched"])?;
        Ok(Box::new(Watch { bpf, targets: targets.clone() }))
    }
}

struct Watch {
    bpf: Bpf,
    targets: Targets,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let found = Sides {
            server: (!self.targets.servers.is_empty()).then(|| self.side(SERVER, looked)).transpose()?,
            crowd: (!self.targets.crowds.is_empty()).then(|| self.side(CROWD, looked)).transpose()?,
        };
        Ok(Seen {
            found: Found::Wakeups(found),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: Some(looked.share),
            files: Vec::new(),
        })
    }
}

impl Watch {
    fn side(&self, side: u64, looked: &Looked) -> Result<SideWakeups, InstrumentError> {
        let numbers = self.bpf.numbers("wakeups", side as u32)?;
        let (latency_ns, counts) = numbers.split_at(Histogram::NUMBERS);
        let latency_ns = Histogram::new(latency_ns);
        Ok(SideWakeups {
            wakeups: looked.scaled(counts[0]),
            wakeups_per_s: counts[0] as f64 / looked.open_s(),
            latency_us: latency_ns.distribution(1e-3),
            preemptions: looked.scaled(counts[1]),
            migrations: looked.scaled(counts[2]),
            untimed: looked.scaled(counts[0].saturating_sub(latency_ns.count())),
        })
    }
}
