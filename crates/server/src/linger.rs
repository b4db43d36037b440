//! Lingering close, for a connection whose client may still be sending.
//!
//! A socket that is closed with unread input resets the connection, and the client loses the last lines that it was sent. So
//! one thread reads on for all of them, until the client closes or a second is over.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags};

/// How long a client may go on sending; as in the Java, Go and Node servers.
const LINGER: Duration = Duration::from_secs(1);
/// Connections that are read on at the same time; of more, the oldest are closed.
const LINGERING_MAX: usize = 256;
/// Read at once from one connection.
const READ_BYTES: usize = 1 << 16;

struct Lingering {
    waiting: Mutex<VecDeque<OwnedFd>>,
    /// A byte for each that was added.
    wakeup_fd: UnixStream,
}

static LINGERING: OnceLock<Option<Lingering>> = OnceLock::new();

/// Ends the output of a connection, and reads on in the background until the client has closed it. The caller closes its own
/// descriptor. Returns whether there is another one for reading on, which keeps registrations in an epoll alive.
pub(crate) fn linger(socket: impl AsFd) -> bool {
    // Most have been read to their end, or send nothing more.
    let more = goes_on(&socket, &mut [0; 4096]);
    // Also wakes a thread that is still writing. Fails only for a connection that is gone.
    let _ = net::shutdown(&socket, if more { net::Shutdown::Write } else { net::Shutdown::Both });
    if !more {
        return false;
    }
    // Without a descriptor or a thread for it, the connection ends as it would without all this.
    let (Ok(owned), Some(lingering)) = (socket.as_fd().try_clone_to_owned(), lingering()) else {
        return false;
    };
    let mut waiting = lingering.waiting.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.len() >= LINGERING_MAX {
        waiting.pop_front();
    }
    waiting.push_back(owned);
    drop(waiting);
    // A full pipe rings already.
    let _ = (&lingering.wakeup_fd).write(&[1]);
    true
}

/// Ends the output of a connection, and lingers if its client may be sending.
pub(crate) fn close(socket: impl AsFd, may_send_more: bool) {
    if may_send_more {
        linger(socket);
    } else {
        // Fails only for a connection that is gone.
        let _ = net::shutdown(&socket, net::Shutdown::Write);
    }
}

fn lingering() -> Option<&'static Lingering> {
    let start = || {
        let (wakeup_fd, rung) = UnixStream::pair().ok()?;
        wakeup_fd.set_nonblocking(true).and(rung.set_nonblocking(true)).ok()?;
        let thread = std::thread::Builder::new().name("linger".to_owned()).stack_size(256 * 1024);
        thread.spawn(move || read_on(&rung)).ok()?;
        Some(Lingering { waiting: Mutex::default(), wakeup_fd })
    };
    LINGERING.get_or_init(start).as_ref()
}

fn read_on(rung: &UnixStream) {
    let mut all: VecDeque<(OwnedFd, Instant)> = VecDeque::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let limit = all.front().map(|(_, limit)| timespec(limit.saturating_duration_since(Instant::now())));
        let mut fds = vec![PollFd::new(rung, PollFlags::IN)];
        fds.extend(all.iter().map(|(stream, _)| PollFd::new(stream, PollFlags::IN)));
        // Interrupted or not, what can be read is read.
        let _ = poll(&mut fds, limit.as_ref());
        let ready: Vec<bool> = fds[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        let now = Instant::now();
        let mut ready = ready.into_iter();
        all.retain(|(stream, limit)| {
            let ready = ready.next().unwrap_or(false);
            *limit > now && (!ready || goes_on(stream, &mut buffer))
        });
        while let Ok(1..) = (&mut &*rung).read(&mut buffer) {}
        if let Some(lingering) = LINGERING.get().and_then(Option::as_ref) {
            let mut waiting = lingering.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(waiting.drain(..).map(|stream| (stream, now + LINGER)));
        }
        all.drain(..all.len().saturating_sub(LINGERING_MAX));
    }
}

/// Reads what has arrived; returns whether more may follow. The descriptor's mode is shared with other threads, so it is not changed.
fn goes_on(socket: impl AsFd, buffer: &mut [u8]) -> bool {
    match net::recv(socket, buffer, RecvFlags::DONTWAIT) {
        Ok((_, count)) => count > 0,
        Err(errno) => matches!(errno, Errno::AGAIN | Errno::INTR),
    }
}

fn timespec(duration: Duration) -> Timespec {
    // Rounded up: a limit is over when the wait for it is.
    let duration = duration + Duration::from_micros(1);
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: duration.subsec_nanos().into() }
}
