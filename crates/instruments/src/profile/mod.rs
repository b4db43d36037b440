//! Profiles of CPU time, instructions and cache misses: samples of the kernel and the user stack.

mod shares;
mod stacks;

use klatch_record::observed::{Profile, Sides};
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Bpf, Coverage, SampleTrigger, Windows, object, online_cpus};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::{Side, Targets};
use shares::StackCounts;
use stacks::{samples, write_folded};

const CODE: &[u8] = object!("profile");

/// An instrument that samples stacks.
#[derive(Clone, Copy)]
pub(crate) struct Profiler {
    name: InstrumentName,
    description: &'static str,
    base: &'static str,
    trigger: SampleTrigger,
    data: fn(Profile) -> ObservationData,
    /// Ending of the file of folded stacks.
    ending: &'static str,
}

/// CPU time. 99 Hz is no multiple or divisor of common timer rates, so samples do not run in step with programs.
///
/// Five times that rate used 5 % of all CPU time (docs/reference/instruments.md).
pub(crate) static CPU_TIME: Profiler = Profiler {
    name: InstrumentName::Profile,
    description: "where CPU time goes: kernel routines, shares, stacks",
    base: "BPF at a timer of 99 Hz on each CPU (cpu-clock)",
    trigger: SampleTrigger::TimeHz(99),
    data: ObservationData::Profile,
    ending: "folded",
};

/// Instructions. The period is a prime, and yields some hundred samples per second on a busy CPU.
pub(crate) static INSTRUCTIONS: Profiler = Profiler {
    name: InstrumentName::Instructions,
    description: "where instructions are executed, by the CPU's counter",
    base: "BPF every 4,000,037 instructions of a CPU, by its counter",
    trigger: SampleTrigger::Instructions(4_000_037),
    data: ObservationData::Instructions,
    ending: "instructions.folded",
};

/// Last-level cache misses, with a prime period as above.
pub(crate) static CACHE_MISSES: Profiler = Profiler {
    name: InstrumentName::CacheMisses,
    description: "where the last cache misses, by the CPU's counter",
    base: "BPF every 20,011 cache misses of a CPU, by its counter",
    trigger: SampleTrigger::CacheMisses(20_011),
    data: ObservationData::CacheMisses,
    ending: "cache-misses.folded",
};

impl Instrument for Profiler {
    fn name(&self) -> InstrumentName {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        if let Some(lack) = kernel.lacks(&[]) {
            return lack;
        }
        match Bpf::probe(CODE, kernel, &[], self.base) {
            Support::Usable { base } => match self.trigger.open(0) {
                Ok(_) => Support::Usable { base },
                Err(error) => self.cannot_open(&error),
            },
            support => support,
        }
    }

    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        _: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.set_targets(targets)?;
        for cpu in online_cpus() {
            let failed = |error| InstrumentError(format!("{:?} on CPU {cpu}: {error}", self.name.name()));
            bpf.attach_event("sample", self.trigger.open(cpu).map_err(failed)?)?;
        }
        Ok(Box::new(RunningProfile { profiler: *self, bpf, targets: targets.clone() }))
    }
}

impl Profiler {
    /// The support if the event cannot be opened. Time never replaces a counter, because it measures something else.
    fn cannot_open(&self, error: &std::io::Error) -> Support {
        let counter = matches!(self.trigger, SampleTrigger::Instructions(_) | SampleTrigger::CacheMisses(_));
        let no_counter = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV));
        let (why, remedy) = match counter && no_counter {
            true => (
                "the CPU shows no counter for it".to_owned(),
                "measure on a machine, not a guest; or give the guest one (QEMU with KVM: -cpu host,pmu=on)",
            ),
            false => (
                format!("its event cannot be opened ({error})"),
                "run as root, or: sysctl kernel.perf_event_paranoid=-1",
            ),
        };
        Support::NotAvailable { why, remedy: remedy.to_owned() }
    }
}

struct RunningProfile {
    profiler: Profiler,
    bpf: Bpf,
    targets: Targets,
}

impl RunningInstrument for RunningProfile {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, files: &Files, coverage: &Coverage) -> Result<Output, InstrumentError> {
        let all = samples(&self.bpf, &self.targets)?;
        let mut stored = 0;
        let mut stacks_lost = 0;
        let (mut machine, mut server, mut crowd) =
            (StackCounts::default(), StackCounts::default(), StackCounts::default());
        for sample in &all {
            stored += sample.count;
            let of_side = match sample.side {
                Some(Side::Server) => Some(&mut server),
                Some(Side::Crowd) => Some(&mut crowd),
                None => None,
            };
            for counts in std::iter::once(&mut machine).chain(of_side) {
                match &sample.kernel {
                    Some(stack) => counts.add(stack, sample.count),
                    None => counts.add_without_stack(sample.count),
                }
            }
            if sample.kernel.is_none() || sample.user.is_none() {
                stacks_lost += sample.count;
            }
        }
        let mut samples = 0;
        for side in 0..=Side::Crowd as u32 {
            samples += self.bpf.numbers("taken", side)?[0];
        }
        let (name, path) = files.name_and_path(self.profiler.ending);
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        write_folded(&all, std::fs::File::create(&path).map_err(failed)?).map_err(failed)?;
        let profile = Profile {
            frequency_hz: self.profiler.trigger.frequency_hz(),
            events_per_sample: self.profiler.trigger.events_per_sample(),
            samples,
            stacks_lost: stacks_lost + samples.saturating_sub(stored),
            machine: machine.shares(),
            sides: Sides {
                server: (!self.targets.servers.is_empty()).then(|| server.shares()),
                crowd: (!self.targets.crowds.is_empty()).then(|| crowd.shares()),
            },
        };
        Ok(Output {
            data: (self.profiler.data)(profile),
            cost: Some(self.bpf.cost(coverage)),
            share_of_time: None,
            files: vec![name],
        })
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;

    /// Every machine has the page fault counter, which is sampled in the same way as the CPU's counters.
    #[test]
    fn a_counter_is_sampled_once_per_period() {
        needs!(Need::Bpf);
        const PAGES: usize = 20_000;
        const PERIOD: u64 = 10;
        let profiler = Profiler { trigger: SampleTrigger::PageFaults(PERIOD), ..INSTRUCTIONS };
        let kernel = Kernel::detect();
        let support = profiler.probe(&kernel);
        assert!(support.works(), "{support:?}");
        let folder = tempfile::tempdir().unwrap();
        let files = Files { folder: folder.path().to_owned(), stem: "one".to_owned() };
        let targets = Targets { servers: vec![std::process::id()], crowds: Vec::new() };
        let mut running = profiler.start(&kernel, &targets, &files, &mut Windows::default()).unwrap();
        // One fault per page, so the pages must be small.
        rustix::thread::disable_transparent_huge_pages(true).unwrap();
        let mut pages = vec![0_u8; PAGES * 4096];
        pages.chunks_mut(4096).for_each(|page| page[0] = 1);
        std::hint::black_box(&pages);
        running.stop();
        let output = running.read(&files, &Coverage::NO_WINDOWS).unwrap();
        let ObservationData::Instructions(profile) = output.data else {
            panic!("not a profile of instructions")
        };
        assert_eq!((profile.frequency_hz, profile.events_per_sample), (None, Some(PERIOD)));
        let (samples, expected) = (profile.sides.server.unwrap().samples, PAGES as u64 / PERIOD);
        // Each CPU has its own counter, whose remainder makes no sample.
        assert!(
            (expected * 9 / 10..expected * 2).contains(&samples),
            "{samples} samples of {PAGES} page faults"
        );
        assert_eq!(output.files, ["one.instructions.folded"]);
    }

    #[test]
    fn a_missing_counter_is_reported_and_not_replaced_by_time() {
        let absent = std::io::Error::from_raw_os_error(libc::ENOENT);
        let Support::NotAvailable { why, remedy } = CACHE_MISSES.cannot_open(&absent) else { panic!() };
        assert!(why.starts_with("the CPU shows no counter for it") && remedy.contains("pmu=on"));
        let forbidden = std::io::Error::from_raw_os_error(libc::EACCES);
        let Support::NotAvailable { remedy, .. } = INSTRUCTIONS.cannot_open(&forbidden) else { panic!() };
        assert!(remedy.contains("perf_event_paranoid"));
    }
}
