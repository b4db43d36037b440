//! System calls for which no library offers a safe function.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libbpf_sys::{
    BPF_STATS_RUN_TIME, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_SW_CPU_CLOCK,
    PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, bpf_enable_stats, bpf_obj_get_info_by_fd, bpf_prog_info,
    bpf_raw_tracepoint_open, perf_event_attr,
};

/// Makes the kernel measure the run time of BPF programs until the returned descriptor is closed. `None` if it refuses.
pub(crate) fn enable_stats() -> Option<OwnedFd> {
    // SAFETY: the call takes only a number. It returns a new descriptor or an error.
    unsafe { owned(bpf_enable_stats(BPF_STATS_RUN_TIME)) }.ok()
}

/// Attaches a `tp_btf` program to its tracepoint until the returned link is closed.
pub(super) fn attach(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: without a name the call takes only a number. It returns a new descriptor or an error.
    unsafe { owned(bpf_raw_tracepoint_open(std::ptr::null(), program.as_raw_fd())) }
}

/// Gives the calling thread real-time priority, if the kernel allows it.
///
/// Attaching programs blocks many times. A thread that then waited for a CPU would leave the windows open for longer.
pub(super) fn raise_to_realtime() {
    const CALLING_THREAD: libc::pid_t = 0;
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel only reads `lowest`.
    let _ = unsafe { libc::sched_setscheduler(CALLING_THREAD, libc::SCHED_FIFO, &raw const lowest) };
}

/// Run time of a program in ns, and its number of runs, both while statistics were enabled. `None` if the kernel does not tell.
pub(super) fn run_time_of(program: BorrowedFd<'_>) -> Option<(u64, u64)> {
    // SAFETY: all zeros is a valid value of this plain C struct, and the kernel writes at most `size` bytes into it.
    unsafe {
        let mut info: bpf_prog_info = std::mem::zeroed();
        let mut size = size_of::<bpf_prog_info>() as u32;
        match bpf_obj_get_info_by_fd(program.as_raw_fd(), (&raw mut info).cast(), &raw mut size) {
            0 => Some((info.run_time_ns, info.run_cnt)),
            _ => None,
        }
    }
}

/// Kernel memory of a map or program, in bytes. `None` if the kernel does not tell.
pub(super) fn memory_of(fd: BorrowedFd<'_>) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("memlock:"))?.trim().parse().ok()
}

/// The event that triggers samples on a CPU, with its rate or period.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SampleTrigger {
    /// A timer, with this many samples per second.
    TimeHz(u64),
    /// The CPU's instruction counter, with one sample per this many instructions.
    Instructions(u64),
    /// The CPU's counter of last-level cache misses, with one sample per this many misses.
    CacheMisses(u64),
    /// The kernel's page fault counter, for tests: every machine has it.
    #[cfg(test)]
    PageFaults(u64),
}

impl SampleTrigger {
    /// Samples per second; `None` for counters.
    pub(crate) fn frequency_hz(self) -> Option<u64> {
        if let SampleTrigger::TimeHz(frequency_hz) = self { Some(frequency_hz) } else { None }
    }

    /// Events per sample; `None` for the timer.
    pub(crate) fn events_per_sample(self) -> Option<u64> {
        match self {
            SampleTrigger::TimeHz(_) => None,
            SampleTrigger::Instructions(period) | SampleTrigger::CacheMisses(period) => Some(period),
            #[cfg(test)]
            SampleTrigger::PageFaults(period) => Some(period),
        }
    }

    /// Opens the event on every CPU that is on. The kernel is asked for each, because what lists them may be a container's own list.
    ///
    /// # Errors
    /// The kernel refuses it on a CPU, with the number of the CPU, or none is on.
    pub(crate) fn open_on_all(self) -> io::Result<Vec<OwnedFd>> {
        let mut events = Vec::new();
        for cpu in 0_u32.. {
            match self.open(cpu) {
                Ok(event) => events.push(event),
                // A CPU that is off, or a gap in the numbers.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                // A number that no CPU of this kernel can have.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !events.is_empty() => break,
                Err(error) => return Err(io::Error::new(error.kind(), format!("on CPU {cpu}: {error}"))),
            }
        }
        Ok(events)
    }

    /// Opens the event on `cpu`, for all processes that run there.
    pub(crate) fn open(self, cpu: u32) -> io::Result<OwnedFd> {
        let (kind, config, period) = match self {
            SampleTrigger::TimeHz(period) => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, period),
            SampleTrigger::Instructions(period) => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, period),
            SampleTrigger::CacheMisses(period) => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, period),
            #[cfg(test)]
            SampleTrigger::PageFaults(period) => {
                (PERF_TYPE_SOFTWARE, libbpf_sys::PERF_COUNT_SW_PAGE_FAULTS, period)
            }
        };
        let mut attributes = attributes(kind, u64::from(config));
        attributes.__bindgen_anon_1.sample_period = period;
        // With `freq` the field above is a frequency instead of a period.
        attributes.set_freq(u64::from(matches!(self, SampleTrigger::TimeHz(_))));
        open_event(&attributes, cpu)
    }
}

fn attributes(kind: u32, config: u64) -> perf_event_attr {
    // SAFETY: all zeros is a valid value of this plain C struct, and the manual asks for it.
    let mut attributes: perf_event_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<perf_event_attr>() as u32;
    attributes.type_ = kind;
    attributes.config = config;
    attributes
}

fn open_event(attributes: &perf_event_attr, cpu: u32) -> io::Result<OwnedFd> {
    /// `PERF_FLAG_FD_CLOEXEC` of linux/perf_event.h, which libc lacks.
    const CLOEXEC: libc::c_ulong = 8;
    const ALL_PROCESSES: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    // SAFETY: the kernel reads `attributes`, which contains its own size. It returns a new descriptor or an error.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const *attributes,
            ALL_PROCESSES,
            cpu as libc::c_int,
            NO_GROUP,
            CLOEXEC,
        );
        owned(fd as RawFd)
    }
}

/// # Safety
/// `fd` is negative, or a descriptor without another owner.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the caller guarantees that the descriptor has no other owner.
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}
