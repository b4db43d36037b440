//! The kernel's log, where it says why it has unloaded a scheduler.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use klatch_host::privileges::as_root;
use rustix::fs::OFlags;

const LOG: &str = "/dev/kmsg";
/// What the lines of sched_ext start with.
const SCHED_EXT: &str = "sched_ext: ";
/// Longest record that the kernel returns (`PRINTKRB_RECORD_MAX`), and some more.
const RECORD_BYTES: usize = 8192;

/// The log from a moment on. Without the right to read it, it is empty.
pub(crate) struct KernelLog {
    log: Option<File>,
    lines: Vec<String>,
}

impl KernelLog {
    /// The log from now on.
    pub(crate) fn from_now() -> KernelLog {
        let open = || {
            let mut log =
                OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(LOG)?;
            log.seek(SeekFrom::End(0))?;
            Ok::<_, std::io::Error>(log)
        };
        KernelLog { log: as_root(open).ok(), lines: Vec::new() }
    }

    /// Why a scheduler was unloaded, if it was not its program that did it; `None` if the log does not say.
    pub(crate) fn reason(&mut self) -> Option<String> {
        let mut record = vec![0; RECORD_BYTES];
        loop {
            // Each read returns one record.
            match self.log.as_mut()?.read(&mut record) {
                Ok(0) => break,
                Ok(length) => {
                    self.lines.extend(about_schedulers(&String::from_utf8_lossy(&record[..length])));
                }
                // Records that were overwritten meanwhile.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => break,
            }
        }
        (!self.lines.is_empty()).then(|| self.lines.join("; "))
    }
}

/// The message of a record (`priority,number,time,flags;message`) about a scheduler that the kernel has unloaded by itself.
fn about_schedulers(record: &str) -> Option<String> {
    let message = record.split_once(';')?.1.lines().next()?;
    let said = message.strip_prefix(SCHED_EXT)?;
    let is_reason = !said.ends_with(" enabled") && !said.contains("unregistered from user space");
    is_reason.then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_a_line_of_sched_ext() {
        let stall = "3,410,31002817,-;sched_ext: lavd: klatch[120] failed to run for 30.012s\n SUBSYSTEM=x\n";
        assert_eq!(about_schedulers(stall).as_deref(), Some("lavd: klatch[120] failed to run for 30.012s"));
        for other in [
            "6,409,30000000,-;sched_ext: BPF scheduler \"lavd\" enabled\n",
            "6,411,32000000,-;sched_ext: BPF scheduler \"lavd\" disabled (unregistered from user space)\n",
            "6,412,33000000,-;tcp: out of memory\n",
            "",
        ] {
            assert_eq!(about_schedulers(other), None, "{other}");
        }
    }
}
