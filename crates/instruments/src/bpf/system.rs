//! The few calls of the kernel for which no library has a safe form.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libbpf_sys::{
    BPF_STATS_RUN_TIME, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_SW_CPU_CLOCK,
    PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, bpf_enable_stats, bpf_obj_get_info_by_fd, bpf_prog_info,
    bpf_raw_tracepoint_open, perf_event_attr,
};

/// As long as the returned descriptor is open, the kernel counts what BPF programs cost. `None` if it cannot.
pub(super) fn count_cost() -> Option<OwnedFd> {
    // SAFETY: the call takes a number and returns a new descriptor or an error.
    unsafe { owned(bpf_enable_stats(BPF_STATS_RUN_TIME)) }.ok()
}

/// Attaches a program to the tracepoint of the kernel's own types for which it was loaded, as long as the link is open.
pub(super) fn attach(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: without a name the call takes a number only, and returns a new descriptor or an error.
    unsafe { owned(bpf_raw_tracepoint_open(std::ptr::null(), program.as_raw_fd())) }
}

/// The calling thread runs as soon as it can, if that is allowed: to attach programs it sleeps and wakes many times, and meanwhile
/// those that are attached cost.
pub(super) fn come_first() {
    const ITSELF: libc::pid_t = 0;
    let least = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads `least`.
    let _ = unsafe { libc::sched_setscheduler(ITSELF, libc::SCHED_FIFO, &raw const least) };
}

/// What a program used so far, ns, and how often it ran.
pub(super) fn cost_of(program: BorrowedFd<'_>) -> (u64, u64) {
    // SAFETY: all zeros is a value of this plain C struct; the kernel writes at most `size` bytes into it.
    unsafe {
        let mut info: bpf_prog_info = std::mem::zeroed();
        let mut size = size_of::<bpf_prog_info>() as u32;
        match bpf_obj_get_info_by_fd(program.as_raw_fd(), (&raw mut info).cast(), &raw mut size) {
            0 => (info.run_time_ns, info.run_cnt),
            _ => (0, 0),
        }
    }
}

/// Kernel memory of a table or program, bytes.
pub(super) fn memory_of(fd: BorrowedFd<'_>) -> u64 {
    let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).unwrap_or_default();
    let line = about.lines().find_map(|line| line.strip_prefix("memlock:"));
    line.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}

/// The CPUs that run.
pub(crate) fn online_cpus() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// When a sample is taken on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// So many times a second of the CPU's time.
    TimeHz(u64),
    /// Every so many instructions, by the CPU's counter.
    Instructions(u64),
    /// Every so many misses of the last cache, by the CPU's counter.
    CacheMisses(u64),
    /// Every so many page faults: a counter that every kernel has, for tests.
    #[cfg(test)]
    PageFaults(u64),
}

impl Clock {
    /// How many samples a second, if it is time.
    pub(crate) fn frequency_hz(self) -> Option<u64> {
        if let Clock::TimeHz(frequency_hz) = self { Some(frequency_hz) } else { None }
    }

    /// How many events between two samples, if it is a counter.
    pub(crate) fn events_per_sample(self) -> Option<u64> {
        match self {
            Clock::TimeHz(_) => None,
            Clock::Instructions(every) | Clock::CacheMisses(every) => Some(every),
            #[cfg(test)]
            Clock::PageFaults(every) => Some(every),
        }
    }

    /// The event of this clock on `cpu`, for whatever runs there.
    pub(crate) fn open(self, cpu: u32) -> io::Result<OwnedFd> {
        let (kind, config, every) = match self {
            Clock::TimeHz(every) => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, every),
            Clock::Instructions(every) => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, every),
            Clock::CacheMisses(every) => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, every),
            #[cfg(test)]
            Clock::PageFaults(every) => (PERF_TYPE_SOFTWARE, libbpf_sys::PERF_COUNT_SW_PAGE_FAULTS, every),
        };
        let mut attributes = attributes(kind, u64::from(config));
        attributes.__bindgen_anon_1.sample_period = every;
        // The same field is a frequency then.
        attributes.set_freq(u64::from(matches!(self, Clock::TimeHz(_))));
        open_event(&attributes, cpu)
    }
}

fn attributes(kind: u32, config: u64) -> perf_event_attr {
    // SAFETY: all zeros is a value of this plain C struct, and the one that its manual asks for.
    let mut attributes: perf_event_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<perf_event_attr>() as u32;
    attributes.type_ = kind;
    attributes.config = config;
    attributes
}

fn open_event(attributes: &perf_event_attr, cpu: u32) -> io::Result<OwnedFd> {
    /// `PERF_FLAG_FD_CLOEXEC`.
    const CLOEXEC: libc::c_ulong = 8;
    const EVERYBODY: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    // SAFETY: the kernel reads `attributes`, whose size is in it, and returns a new descriptor or an error.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const *attributes,
            EVERYBODY,
            cpu as libc::c_int,
            NO_GROUP,
            CLOEXEC,
        );
        owned(fd as RawFd)
    }
}

/// # Safety
/// `fd` is negative, or a descriptor that nobody else owns.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: as asked of the caller.
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}
