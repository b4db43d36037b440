//! Profiles of CPU time, instructions and cache misses: samples of the kernel and the user stack, or exact counts in the lab.

mod counted;
mod pair;
mod places_of;
mod profile_of;
mod sampled;
mod shares;
mod stacks;
mod user_routine;

pub use pair::{PairSampler, SampledSide};
pub use places_of::Places;

use klatch_record::observed::Profile;
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Bpf, LINUX_MIN, SampleTrigger, Windows, object};
use crate::counters::{Counters, Event, Events, Hardware};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

const CODE: &[u8] = object!("profile");

/// An instrument that counts or samples stacks.
#[derive(Clone, Copy)]
pub(crate) struct Profiler {
    name: InstrumentName,
    description: &'static str,
    /// The event that is sampled; `None` if only the lab has it.
    trigger: Option<(SampleTrigger, &'static str)>,
    /// What the lab's counters count; `None` if that is always sampled.
    count: Option<Count>,
    data: fn(Profile) -> ObservationData,
    /// Ending of the file of folded stacks.
    ending: &'static str,
}

/// A count of the lab's counters.
#[derive(Clone, Copy)]
enum Count {
    /// Of instructions, which need no model.
    Instructions,
    /// Of a model of caches.
    OfCaches(fn(&Events, &Hardware) -> u64),
}

/// CPU time. 99 Hz is no multiple or divisor of common timer rates, so samples do not run in step with programs.
///
/// Five times that rate used 5 % of all CPU time (docs/reference/instruments.md).
pub(crate) static CPU_TIME: Profiler = Profiler {
    name: InstrumentName::Profile,
    description: "where CPU time goes: kernel routines, shares, stacks",
    trigger: Some((SampleTrigger::TimeHz(99), "BPF at a timer of 99 Hz on each CPU (cpu-clock)")),
    count: None,
    data: ObservationData::Profile,
    ending: "folded",
};

/// Instructions. The period is a prime, and yields some hundred samples per second on a busy CPU.
pub(crate) static INSTRUCTIONS: Profiler = Profiler {
    name: InstrumentName::Instructions,
    description: "where instructions are executed, by the CPU's counter",
    trigger: Some((
        SampleTrigger::Instructions(4_000_037),
        "BPF every 4,000,037 instructions of a CPU, by its counter",
    )),
    count: Some(Count::Instructions),
    data: ObservationData::Instructions,
    ending: "instructions.folded",
};

/// Last-level cache misses, with a prime period as above.
pub(crate) static CACHE_MISSES: Profiler = Profiler {
    name: InstrumentName::CacheMisses,
    description: "where the last cache misses, by the CPU's counter",
    trigger: Some((
        SampleTrigger::CacheMisses(20_011),
        "BPF every 20,011 cache misses of a CPU, by its counter",
    )),
    count: Some(Count::OfCaches(|events, _| events.get(Event::L2Misses) + events.get(Event::Transfers))),
    data: ObservationData::CacheMisses,
    ending: "cache-misses.folded",
};

/// Cycles of the CPU that the lab models: instructions and the price of each miss.
pub(crate) static MODELLED_CYCLES: Profiler = Profiler {
    name: InstrumentName::ModelledCycles,
    description: "where the cycles of a modelled CPU go; in the lab only",
    trigger: None,
    count: Some(Count::OfCaches(|events, hardware| events.cycles(&hardware.cycles))),
    data: ObservationData::ModelledCycles,
    ending: "modelled-cycles.folded",
};

impl Instrument for Profiler {
    fn name(&self) -> InstrumentName {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        if let Some(counters) = self.count.and_then(|_| Counters::detect()) {
            return self.probe_counters(&counters);
        }
        let Some((trigger, base)) = self.trigger else {
            return Support::NotAvailable {
                why: "only the lab has a model of a CPU's caches".to_owned(),
                remedy: "klatch lab exec --counters -- run --instrument modelled_cycles".to_owned(),
            };
        };
        if let Some(lack) = kernel.lacks(&[]).or_else(|| kernel.lacks_same_ids()) {
            return lack;
        }
        match Bpf::probe(CODE, kernel, LINUX_MIN, base) {
            Support::Usable { base } => match trigger.open(0) {
                Ok(_) => Support::Usable { base },
                Err(error) => cannot_open(trigger, &error),
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
        if let Some((count, counters)) = self.count.zip(Counters::detect()) {
            return counted::start(*self, count, counters, targets);
        }
        let trigger = self.trigger.map(|(trigger, _)| trigger);
        let trigger = trigger.ok_or_else(|| InstrumentError("this machine has no counters".to_owned()))?;
        sampled::start(*self, trigger, kernel, targets)
    }
}

impl Profiler {
    fn probe_counters(&self, counters: &Counters) -> Support {
        match (self.count, counters.hardware()) {
            (Some(Count::OfCaches(_)), None) => Support::NotAvailable {
                why: "the lab counts instructions only".to_owned(),
                remedy: "klatch lab exec --counters=zen3, or other caches".to_owned(),
            },
            (Some(Count::OfCaches(_)), Some(hardware)) => Support::Usable {
                base: format!("the lab's counters, every event, caches of {}", hardware.name),
            },
            _ => Support::Usable { base: "the lab's counters, every instruction".to_owned() },
        }
    }
}

/// The support if the event cannot be opened. Time never replaces a counter, because it measures something else.
fn cannot_open(trigger: SampleTrigger, error: &std::io::Error) -> Support {
    let counter = matches!(trigger, SampleTrigger::Instructions(_) | SampleTrigger::CacheMisses(_));
    let no_counter = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV));
    let (why, remedy) = match counter && no_counter {
        true => (
            "the CPU shows no counter for it".to_owned(),
            "measure on a machine, not a guest; give the guest one (QEMU with KVM: -cpu host,pmu=on); or count in the \
             lab: klatch lab exec --counters",
        ),
        false => (
            format!("its event cannot be opened ({error})"),
            "run as root, or: sysctl kernel.perf_event_paranoid=-1",
        ),
    };
    Support::NotAvailable { why, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;
    use crate::bpf::Coverage;

    /// Samples this process at its page faults, and returns the profile and the folded stacks.
    ///
    /// Every machine has the page fault counter, which is sampled in the same way as the CPU's counters.
    fn at_page_faults(period: u64, work: impl FnOnce()) -> (Profile, String) {
        let profiler =
            Profiler { trigger: Some((SampleTrigger::PageFaults(period), "page faults")), ..INSTRUCTIONS };
        let kernel = Kernel::detect();
        let support = profiler.probe(&kernel);
        assert!(support.works(), "{support:?}");
        let folder = tempfile::tempdir().unwrap();
        let files = Files { folder: folder.path().to_owned(), stem: "one".to_owned() };
        let targets = Targets { servers: vec![std::process::id()], crowds: Vec::new() };
        let mut running = profiler.start(&kernel, &targets, &files, &mut Windows::default()).unwrap();
        work();
        running.stop();
        let output = running.read(&files, &Coverage::NO_WINDOWS).unwrap();
        assert_eq!(output.files, ["one.instructions.folded"]);
        let ObservationData::Instructions(profile) = output.data else {
            panic!("not a profile of instructions")
        };
        (profile, std::fs::read_to_string(folder.path().join(&output.files[0])).unwrap())
    }

    /// New memory, of which each small page is a fault when it is first written.
    fn small_pages(count: usize) -> Vec<u8> {
        rustix::thread::disable_transparent_huge_pages(true).unwrap();
        vec![0; count * PAGE_BYTES]
    }

    const PAGE_BYTES: usize = 4096;

    #[test]
    fn a_counter_is_sampled_once_per_period() {
        needs!(Need::Bpf);
        const PAGES: usize = 20_000;
        const PERIOD: u64 = 10;
        let (profile, _) = at_page_faults(PERIOD, || {
            let mut pages = small_pages(PAGES);
            pages.chunks_mut(PAGE_BYTES).for_each(|page| page[0] = 1);
            std::hint::black_box(&pages);
        });
        assert_eq!((profile.frequency_hz, profile.events_per_sample), (None, Some(PERIOD)));
        let (samples, expected) = (profile.sides.server.unwrap().samples, PAGES as u64 / PERIOD);
        // Each CPU has its own counter, whose remainder makes no sample.
        assert!(
            (expected * 9 / 10..expected * 2).contains(&samples),
            "{samples} samples of {PAGES} page faults"
        );
    }

    /// Writes to the next page at each end of a tree of calls, so each page fault has its own stack. In assembly, because the kernel follows
    /// frame pointers, which optimised Rust does not have.
    #[unsafe(naked)]
    #[allow(unsafe_code, reason = "the calls must have frame pointers")]
    extern "C" fn write_page_at_each_path(depth: u32, page: &mut *mut u8) {
        #[cfg(target_arch = "x86_64")]
        core::arch::naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rbx",
            "push r12",
            "mov r12, rsi",
            "test edi, edi",
            "jz 2f",
            "lea ebx, [rdi - 1]",
            "mov edi, ebx",
            "call {this}",
            "mov edi, ebx",
            "mov rsi, r12",
            "call {this}",
            "jmp 3f",
            "2:",
            "mov rax, [r12]",
            "mov byte ptr [rax], 1",
            "add qword ptr [r12], {page_bytes}",
            "3:",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            this = sym write_page_at_each_path,
            page_bytes = const PAGE_BYTES,
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::naked_asm!(
            "stp x29, x30, [sp, #-32]!",
            "mov x29, sp",
            "stp x19, x20, [sp, #16]",
            "mov x20, x1",
            "cbz w0, 2f",
            "sub w19, w0, #1",
            "mov w0, w19",
            "bl {this}",
            "mov w0, w19",
            "mov x1, x20",
            "bl {this}",
            "b 3f",
            "2:",
            "ldr x9, [x20]",
            "mov w10, #1",
            "strb w10, [x9]",
            "add x9, x9, #{page_bytes}",
            "str x9, [x20]",
            "3:",
            "ldp x19, x20, [sp, #16]",
            "ldp x29, x30, [sp], #32",
            "ret",
            this = sym write_page_at_each_path,
            page_bytes = const PAGE_BYTES,
        );
    }

    #[test]
    fn no_stack_of_thousands_is_lost() {
        needs!(Need::Bpf);
        const DEPTH: u32 = 12;
        let (profile, folded) = at_page_faults(1, || {
            let mut pages = small_pages((1 << DEPTH) + 1);
            // The allocator has written its header to the first page.
            write_page_at_each_path(DEPTH, &mut pages[PAGE_BYTES..].as_mut_ptr());
        });
        let paths = folded.lines().filter(|line| line.contains("write_page_at_each_path")).count();
        assert!(paths >= 1 << DEPTH, "{paths} of {} stacks", 1 << DEPTH);
        assert_eq!(profile.stacks_lost, 0);
    }

    #[test]
    fn a_missing_counter_is_reported_and_not_replaced_by_time() {
        let absent = std::io::Error::from_raw_os_error(libc::ENOENT);
        let Support::NotAvailable { why, remedy } = cannot_open(SampleTrigger::CacheMisses(1), &absent)
        else {
            panic!()
        };
        assert!(why.starts_with("the CPU shows no counter for it") && remedy.contains("pmu=on"));
        let forbidden = std::io::Error::from_raw_os_error(libc::EACCES);
        let Support::NotAvailable { remedy, .. } = cannot_open(SampleTrigger::Instructions(1), &forbidden)
        else {
            panic!()
        };
        assert!(remedy.contains("perf_event_paranoid"));
    }
}
