//! Where CPU time goes, instructions are executed, caches miss: samples of both stacks at each tick of a clock.

mod shares;
mod stacks;

use klatch_record::observed::{Profile, Sides};
use klatch_record::{Found, InstrumentName, Support};

use crate::bpf::{Bpf, CROWD, Clock, Looked, SERVER, Windows, object, online_cpus};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;
use shares::Tally;
use stacks::{samples, write_folded};

const CODE: &[u8] = object!("profile");

/// An instrument that takes samples.
#[derive(Clone, Copy)]
pub(crate) struct Profiler {
    name: InstrumentName,
    shows: &'static str,
    base: &'static str,
    clock: Clock,
    found: fn(Profile) -> Found,
    /// How the file of the folded stacks ends.
    ending: &'static str,
}

/// By time. 99 divides nothing that timers of programs use, so that samples do not fall into step with them; five times as
/// often cost 5 % of all CPU time (docs/reference/instruments.md). The other two are primes, and give some hundred samples a second
/// on a busy CPU.
pub(crate) static CPU_TIME: Profiler = Profiler {
    name: InstrumentName::Profile,
    shows: "where CPU time goes: kernel routines, shares, stacks",
    base: "BPF at a timer of 99 Hz on each CPU (cpu-clock)",
    clock: Clock::TimeHz(99),
    found: Found::Profile,
    ending: "folded",
};

/// By instructions.
pub(crate) static INSTRUCTIONS: Profiler = Profiler {
    name: InstrumentName::Instructions,
    shows: "where instructions are executed, by the CPU's counter",
    base: "BPF every 4,000,037 instructions of a CPU, by its counter",
    clock: Clock::Instructions(4_000_037),
    found: Found::Instructions,
    ending: "instructions.folded",
};

/// By cache misses.
pub(crate) static CACHE_MISSES: Profiler = Profiler {
    name: InstrumentName::CacheMisses,
    shows: "where the last cache misses, by the CPU's counter",
    base: "BPF every 20,011 cache misses of a CPU, by its counter",
    clock: Clock::CacheMisses(20_011),
    found: Found::CacheMisses,
    ending: "cache-misses.folded",
};

impl Instrument for Profiler {
    fn name(&self) -> InstrumentName {
        self.name
    }

    fn shows(&self) -> &'static str {
        self.shows
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        if let Some(lack) = kernel.lacks(&[]) {
            return lack;
        }
        match Bpf::probe(CODE, kernel, &[], self.base) {
            Support::Usable { base } => match self.clock.open(0) {
                Ok(_) => Support::Usable { base },
                Err(error) => self.not_opened(&error),
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
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.watch(targets)?;
        for cpu in online_cpus() {
            let failed = |error| InstrumentError(format!("{:?} on CPU {cpu}: {error}", self.name.name()));
            bpf.attach_event("sample", self.clock.open(cpu).map_err(failed)?)?;
        }
        Ok(Box::new(Watch { profiler: *self, bpf, targets: targets.clone() }))
    }
}

impl Profiler {
    /// A clock that does not start. Time never stands in for a counter: what it shows is another thing.
    fn not_opened(&self, error: &std::io::Error) -> Support {
        let counter = matches!(self.clock, Clock::Instructions(_) | Clock::CacheMisses(_));
        let absent = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV));
        let (why, remedy) = match counter && absent {
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

struct Watch {
    profiler: Profiler,
    bpf: Bpf,
    targets: Targets,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, files: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let all = samples(&self.bpf, &self.targets)?;
        let mut stored = 0;
        let mut stacks_lost = 0;
        let (mut machine, mut server, mut crowd) = (Tally::default(), Tally::default(), Tally::default());
        for alike in &all {
            stored += alike.count;
            let of_side = match alike.side {
                SERVER => Some(&mut server),
                CROWD => Some(&mut crowd),
                _ => None,
            };
            for tally in std::iter::once(&mut machine).chain(of_side) {
                match &alike.kernel {
                    Some(stack) => tally.add(stack, alike.count),
                    None => tally.add_unknown(alike.count),
                }
            }
            if alike.kernel.is_none() || alike.user.is_none() {
                stacks_lost += alike.count;
            }
        }
        let mut samples = 0;
        for side in 0..=CROWD {
            samples += self.bpf.numbers("taken", side as u32)?[0];
        }
        let (name, path) = files.named(self.profiler.ending);
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        write_folded(&all, std::fs::File::create(&path).map_err(failed)?).map_err(failed)?;
        let found = Profile {
            frequency_hz: self.profiler.clock.frequency_hz(),
            events_per_sample: self.profiler.clock.events_per_sample(),
            samples,
            stacks_lost: stacks_lost + samples.saturating_sub(stored),
            machine: machine.side(),
            sides: Sides {
                server: (!self.targets.servers.is_empty()).then(|| server.side()),
                crowd: (!self.targets.crowds.is_empty()).then(|| crowd.side()),
            },
        };
        Ok(Seen {
            found: (self.profiler.found)(found),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: None,
            files: vec![name],
        })
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;
    use crate::instrument::Files;

    /// Counters of instructions are not on every machine; that of page faults is, and is sampled in the same way.
    #[test]
    fn a_sample_is_taken_each_time_the_counter_has_counted_so_far() {
        needs!(Need::Bpf);
        const PAGES: usize = 20_000;
        const EVERY: u64 = 10;
        let profiler = Profiler { clock: Clock::PageFaults(EVERY), ..INSTRUCTIONS };
        let kernel = Kernel::here();
        let support = profiler.probe(&kernel);
        assert!(support.works(), "{support:?}");
        let folder = tempfile::tempdir().unwrap();
        let files = Files { folder: folder.path().to_owned(), stem: "one".to_owned() };
        let targets = Targets { servers: vec![std::process::id()], crowds: Vec::new() };
        let mut watch = profiler.start(&kernel, &targets, &files, &mut Windows::default()).unwrap();
        // Small pages, each written for the first time.
        nix::sys::prctl::set_thp_disable(true).unwrap();
        let mut pages = vec![0_u8; PAGES * 4096];
        pages.chunks_mut(4096).for_each(|page| page[0] = 1);
        std::hint::black_box(&pages);
        watch.stop();
        let seen = watch.read(&files, &Looked::NOT).unwrap();
        let Found::Instructions(profile) = seen.found else { panic!("another finding") };
        assert_eq!((profile.frequency_hz, profile.events_per_sample), (None, Some(EVERY)));
        let (samples, expected) = (profile.sides.server.unwrap().samples, PAGES as u64 / EVERY);
        // Each CPU has a counter of its own, and what is left in it makes no sample.
        assert!(
            (expected * 9 / 10..expected * 2).contains(&samples),
            "{samples} samples of {PAGES} page faults"
        );
        assert_eq!(seen.files, ["one.instructions.folded"]);
    }

    #[test]
    fn a_cpu_without_the_counter_says_so_and_time_does_not_stand_in() {
        let absent = std::io::Error::from_raw_os_error(libc::ENOENT);
        let Support::NotAvailable { why, remedy } = CACHE_MISSES.not_opened(&absent) else { panic!() };
        assert!(why.starts_with("the CPU shows no counter for it") && remedy.contains("pmu=on"));
        let forbidden = std::io::Error::from_raw_os_error(libc::EACCES);
        let Support::NotAvailable { remedy, .. } = INSTRUCTIONS.not_opened(&forbidden) else { panic!() };
        assert!(remedy.contains("perf_event_paranoid"));
    }
}
