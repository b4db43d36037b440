//! CPU time by the kernel's per-process clocks, which `rustix` does not offer.
#![allow(unsafe_code)]

use std::io::{Error, Result};

/// CPU time of process `pid` since its start, in ns, all threads together.
///
/// One system call reads it, so the cost does not grow with the number of threads.
///
/// # Errors
/// There is no such process.
pub fn cpu_time_ns(pid: u32) -> Result<u64> {
    let mut clock = 0;
    // SAFETY: `clock` lives until the call returns, which writes to nothing else.
    let error = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) };
    if error != 0 {
        // This function returns its error instead of setting errno.
        return Err(Error::from_raw_os_error(error));
    }
    read_clock(clock)
}

/// CPU time of the children of this process that have ended and were waited for, with their own such children, seconds.
pub fn children_cpu_s() -> Option<f64> {
    let usage = usage_of(libc::RUSAGE_CHILDREN)?;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

/// Voluntary and involuntary context switches of this process since its start, of all threads, also of those that have ended.
pub(crate) fn own_switches() -> Option<(u64, u64)> {
    let usage = usage_of(libc::RUSAGE_SELF)?;
    Some((usage.ru_nvcsw as u64, usage.ru_nivcsw as u64))
}

/// The kernel's counters of this process, or of its children.
fn usage_of(target: libc::c_int) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes only `usage`, which is valid in any state: it consists of integers.
    unsafe { (libc::getrusage(target, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

fn read_clock(clock: libc::clockid_t) -> Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` lives until the call returns, which writes to nothing else.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn a_child_that_was_waited_for_adds_its_time() {
        let before = children_cpu_s().unwrap();
        let loops = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let status = std::process::Command::new("sh").args(["-c", loops]).status().unwrap();
        assert!(status.success());
        let used = children_cpu_s().unwrap() - before;
        assert!((0.005..60.0).contains(&used), "{used}");
    }

    /// Uses `seconds` of CPU time, measured by the calling thread's own clock.
    pub(crate) fn burn(seconds: f64) {
        let used_s = || read_clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap() as f64 / 1e9;
        let end_s = used_s() + seconds;
        while used_s() < end_s {}
    }

    #[test]
    fn a_busy_thread_adds_to_its_process() {
        let before_ns = cpu_time_ns(std::process::id()).unwrap();
        burn(0.02);
        assert!(cpu_time_ns(std::process::id()).unwrap() >= before_ns + 20_000_000);
    }

    #[test]
    fn an_unknown_process_has_no_clock() {
        // The kernel allows at most 2^22 processes.
        const PID_BEYOND_MAX: u32 = (1 << 22) + 1;
        assert_eq!(cpu_time_ns(PID_BEYOND_MAX).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}
