//! The scheduling policy of a process (`sched_setscheduler(2)`).
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use libc::{c_int, sched_param};

use super::{ProcessSetting, Refusal};

pub(super) const HELP: &str =
    "scheduling policy: other, batch, idle, fifo:1 to fifo:99, rr:1 to rr:99 (both need root)";

#[derive(Debug)]
struct Policy {
    number: c_int,
    /// 0 for policies that are not real-time.
    priority: c_int,
}

pub(super) fn parse(text: &str) -> Result<Arc<dyn ProcessSetting>, String> {
    let wrong = || "must be other, batch, idle, fifo:1 to fifo:99, or rr:1 to rr:99".to_owned();
    let (name, priority) = match text.split_once(':') {
        Some((name, priority)) => (name, Some(priority.parse().map_err(|_| wrong())?)),
        None => (text, None),
    };
    let (number, priority) = match (name, priority) {
        ("other", None) => (libc::SCHED_OTHER, 0),
        ("batch", None) => (libc::SCHED_BATCH, 0),
        ("idle", None) => (libc::SCHED_IDLE, 0),
        ("fifo", Some(priority @ 1..=99)) => (libc::SCHED_FIFO, priority),
        ("rr", Some(priority @ 1..=99)) => (libc::SCHED_RR, priority),
        _ => return Err(wrong()),
    };
    Ok(Arc::new(Policy { number, priority }))
}

impl ProcessSetting for Policy {
    fn set(&self) -> io::Result<()> {
        let parameters = sched_param { sched_priority: self.priority };
        // SAFETY: the parameters outlive the call.
        match unsafe { libc::sched_setscheduler(0, self.number, &parameters) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn in_force(&self) -> io::Result<bool> {
        let mut parameters = MaybeUninit::<sched_param>::zeroed();
        // SAFETY: the parameters outlive the call, which fills them, and zero is a valid value.
        let (number, failed, parameters) = unsafe {
            let number = libc::sched_getscheduler(0);
            let failed = libc::sched_getparam(0, parameters.as_mut_ptr());
            (number, failed, parameters.assume_init())
        };
        if number < 0 || failed != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(number == self.number && parameters.sched_priority == self.priority)
    }

    fn advice(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::Error(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let priority = self.priority;
                let groups =
                    "; a control group without real-time runtime (cpu.rt_runtime_us is 0) refuses it too";
                let (limit, groups) = if priority > 0 { (priority, groups) } else { (1, "") };
                format!(
                    "needs permission; run klatch as root, or allow it with `ulimit -r {limit}` \
                     (as root, or in /etc/security/limits.conf){groups}"
                )
            }
            Refusal::Error(error) => error.to_string(),
            Refusal::Ignored => "the kernel accepted it but did not apply it".to_owned(),
        }
    }
}
