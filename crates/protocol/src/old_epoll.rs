//! Waiting for events on Linux before 5.11, which has no `epoll_pwait2`: its time-outs are whole milliseconds.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollEvent, EpollTimeout};

/// Events of one wait.
const EVENTS_MAX: usize = 512;

/// An epoll that is waited on by the older system call.
pub struct OldEpoll(Epoll);

impl OldEpoll {
    /// Waits on the same epoll.
    ///
    /// # Errors
    /// There is no free descriptor.
    pub fn new(epoll: impl AsFd) -> io::Result<OldEpoll> {
        let epoll: OwnedFd = epoll.as_fd().try_clone_to_owned()?;
        Ok(OldEpoll(Epoll(epoll)))
    }

    /// Waits for events, for at most `timeout_ms` (`None`: no limit), and hands the key and the flags of each to `take`. A signal ends the wait
    /// early.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn wait(&self, timeout_ms: Option<u64>, mut take: impl FnMut(u64, u32)) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS_MAX];
        let timeout = timeout_ms.map_or(EpollTimeout::NONE, |ms| {
            i32::try_from(ms).ok().and_then(|ms| EpollTimeout::try_from(ms).ok()).unwrap_or(EpollTimeout::MAX)
        });
        let count = match self.0.wait(&mut events, timeout) {
            Err(Errno::EINTR) => 0,
            waited => waited?,
        };
        events[..count].iter().for_each(|event| take(event.data(), event.events().bits().cast_unsigned()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use nix::sys::epoll::{EpollCreateFlags, EpollFlags};

    use super::*;

    #[test]
    fn events_have_their_keys_and_none_is_waited_for_in_vain() {
        let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        epoll.add(&far, EpollEvent::new(EpollFlags::EPOLLIN, u64::MAX - 1)).unwrap();
        let old = OldEpoll::new(&epoll.0).unwrap();
        let mut seen = Vec::new();
        old.wait(Some(0), |key, flags| seen.push((key, flags))).unwrap();
        assert!(seen.is_empty());
        near.write_all(b"x").unwrap();
        old.wait(None, |key, flags| seen.push((key, flags))).unwrap();
        assert_eq!(seen, [(u64::MAX - 1, 1)]);
    }
}
