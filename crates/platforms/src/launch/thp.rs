//! Transparent huge pages of a process (`PR_SET_THP_DISABLE(2const)`); inherited over fork and exec.
#![allow(unsafe_code)]

use std::io;
use std::sync::Arc;

use libc::c_ulong;

use super::{ProcessSetting, Refusal};

pub(super) const HELP: &str =
    "transparent huge pages: never, or madvise (only where the program asks for them; Linux 6.18 or newer)";
const SYSTEM: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// `PR_THP_DISABLE_EXCEPT_ADVISED`, available from Linux 6.18 on.
const EXCEPT_ADVISED: c_ulong = 1 << 1;

/// Flags of the call; 0 disables huge pages completely.
#[derive(Debug)]
struct Thp(c_ulong);

pub(super) fn parse(text: &str) -> Result<Arc<dyn ProcessSetting>, String> {
    match text {
        "never" => Ok(Arc::new(Thp(0))),
        "madvise" => {
            let system = std::fs::read_to_string(SYSTEM).map_err(|error| format!("{SYSTEM}: {error}"))?;
            match system.contains("[never]") {
                true => {
                    Err(format!("transparent huge pages are off on this system; `echo madvise > {SYSTEM}`"))
                }
                false => Ok(Arc::new(Thp(EXCEPT_ADVISED))),
            }
        }
        "always" => {
            Err(format!("a process can only have fewer than the system gives; `echo always > {SYSTEM}`"))
        }
        _ => Err("must be never or madvise".to_owned()),
    }
}

impl ProcessSetting for Thp {
    fn set(&self) -> io::Result<()> {
        let (on, none): (c_ulong, c_ulong) = (1, 0);
        // SAFETY: the call takes numbers only.
        match unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, on, self.0, none, none) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn in_force(&self) -> io::Result<bool> {
        let none: c_ulong = 0;
        // SAFETY: the call takes numbers only.
        let flags = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, none, none, none, none) };
        Ok(flags as c_ulong == 1 | self.0)
    }

    fn advice(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::Error(error) if self.0 != 0 && error.raw_os_error() == Some(libc::EINVAL) => {
                "this kernel does not support it; Linux 6.18 or newer does".to_owned()
            }
            Refusal::Error(error) => error.to_string(),
            Refusal::Ignored => "the kernel accepted it but did not apply it".to_owned(),
        }
    }
}
