//! SIGTERM and SIGINT, as something to wait for.

use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::ServeError;

/// A socket that becomes readable on SIGTERM or SIGINT, unless they were ignored when this process started.
pub(crate) fn term_and_int() -> Result<UnixStream, ServeError> {
    let listen_for = || {
        let (receiver, sender) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT].into_iter().filter(|signal| !is_ignored(*signal)) {
            pipe::register(signal, sender.try_clone()?)?;
        }
        // Without a writer the socket would be readable.
        std::mem::forget(sender);
        Ok(receiver)
    };
    listen_for().map_err(ServeError::system::<std::io::Error>("listen for signals"))
}

/// Whether this process ignores a signal now, as `nohup`, `trap ''` and shells for background jobs arrange; `false` if the kernel does
/// not say it.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, signal)
}

/// Whether the text of `/proc/PID/status` has a signal in its mask of ignored ones.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask.checked_shr(signal.wrapping_sub(1).cast_unsigned()).is_some_and(|bits| bits & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_has_a_bit_for_each_ignored_signal() {
        let status = "Name:\tklatch\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001003\nSigCgt:\t0\n";
        let ignored = |signal| ignores(status, signal);
        assert!(ignored(1) && ignored(SIGINT) && ignored(13));
        assert!(!ignored(SIGTERM) && !ignored(64) && !ignored(0) && !ignored(99));
        assert!(!ignores("", 1));
    }
}
