//! Tasks over a few threads (many-to-many): tokio's multi-threaded runtime, and for each connection a task that reads
//! and dispatches commands, and a task that waits for lines and writes them. Where nobody but the reading task has something
//! to write, it writes too, and is alone.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use klatch_protocol::service::{Flow, Service, Visit};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use tokio::io::AsyncReadExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::admission::{ACCEPT_PAUSE, AdmissionControl, HalfOpen};
use crate::linger::close;
use crate::request_clock::RequestClock;
use crate::send_queue::{Next, SendQueue, Writer};
use crate::{ServeError, ServeOptions};

/// So many bytes are written together at most, and a line.
const BATCH_BYTES: usize = 64 * 1024;

/// A connection as its writing task sees it.
pub(crate) struct ConnectionIo {
    stream: OwnedWriteHalf,
    lines: Notify,
    broken: AtomicBool,
    /// No more input is wanted. Input that arrives after the shutdown can still be read.
    stopped: AtomicBool,
}

struct Server<S> {
    coalesce: bool,
    sendq_bytes: usize,
    patience: Duration,
    service: Arc<S>,
    admission: Arc<AdmissionControl>,
}

pub(crate) fn run<S: Service<SendQueue<ConnectionIo>>>(
    service: &Arc<S>,
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: crate::Ready<'_>,
) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(options.loops())
        .enable_all()
        .build()
        .map_err(ServeError::system("start a runtime"))?;
    let server = Arc::new(Server {
        coalesce: options.coalesce,
        sendq_bytes: options.sendq_bytes,
        patience: options.patience(),
        service: Arc::clone(service),
        admission: AdmissionControl::new(options),
    });
    let in_runtime = runtime.enter();
    let listener =
        TcpListener::from_std(listener.into()).map_err(ServeError::system("wait for connections"))?;
    drop(in_runtime);
    runtime.spawn(server.accept(listener));
    ready()?;
    // This thread is none of the runtime's, so it may block.
    while let Err(errno) = poll(&mut [PollFd::from_borrowed_fd(stop, PollFlags::IN)], None) {
        if errno != Errno::INTR {
            return Err(ServeError::system("wait for the end")(errno));
        }
    }
    Ok(())
}

impl<S: Service<SendQueue<ConnectionIo>>> Server<S> {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, from)) => self.add_connection(stream, from),
                Err(error) => match Errno::from_io_error(&error) {
                    // It went away before it was accepted.
                    None | Some(Errno::CONNABORTED | Errno::PROTO | Errno::INTR) => {}
                    Some(errno) => {
                        self.admission.warn_accept_failed(errno);
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }

    fn add_connection(self: &Arc<Self>, stream: TcpStream, from: SocketAddr) {
        let Some(half_open) = self.admission.admit(&stream) else {
            return;
        };
        let (reading, writing) = stream.into_split();
        let wire = ConnectionIo {
            stream: writing,
            lines: Notify::new(),
            broken: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        };
        tokio::spawn(Arc::clone(self).serve(
            reading,
            SendQueue::new(self.sendq_bytes, wire),
            from,
            half_open,
        ));
    }

    /// The task that reads. It starts the other, and ends after it.
    async fn serve(
        self: Arc<Self>,
        mut stream: OwnedReadHalf,
        out: SendQueue<ConnectionIo>,
        from: SocketAddr,
        half_open: HalfOpen,
    ) {
        let mut visit = self.service.enter(from.ip(), out.clone());
        let mut writer = (!S::REPLIES_ONLY).then(|| tokio::spawn(write(out.clone(), self.coalesce)));
        let end = self.read(&mut visit, &out, &mut stream, half_open).await;
        if out.overflowed() {
            visit.hang_up(b"SendQ exceeded");
            out.close_with(S::closing_message(b"SendQ exceeded"));
        } else {
            let broken = out.writer().broken.load(Ordering::Relaxed);
            match end {
                Ok(()) if !broken => visit.hang_up(b"Connection closed"),
                // The kernel's own time-out, of a client that takes no bytes, has a number.
                Err(error) if error.kind() == ErrorKind::TimedOut && error.raw_os_error().is_none() => {
                    visit.close(if visit.registered() {
                        b"Request timed out"
                    } else {
                        b"Registration timed out"
                    });
                }
                _ => visit.hang_up(b"Connection reset"),
            }
            out.close();
        }
        if S::REPLIES_ONLY {
            // The client may be gone, or not read.
            let _ = timeout(self.patience, write_replies(&out)).await;
        }
        // Its last lines have as much time as a registration.
        if let Some(writer) = &mut writer
            && timeout(self.patience, &mut *writer).await.is_err()
        {
            writer.abort();
        }
        // Other tasks may still hold the socket for a moment; its output ends now.
        close(stream.as_ref(), visit.may_send_more());
    }

    /// Reads until the end of the input or of the session.
    async fn read(
        &self,
        visit: &mut S::Visit,
        out: &SendQueue<ConnectionIo>,
        stream: &mut OwnedReadHalf,
        half_open: HalfOpen,
    ) -> io::Result<()> {
        let mut buffer = vec![0; S::READ_BYTES];
        let deadline = Instant::now() + self.patience;
        while !visit.registered() {
            let count = read_before(deadline, stream, &mut buffer).await?;
            if count == 0
                || out.writer().stopped.load(Ordering::Relaxed)
                || feed::<S>(visit, out, &buffer[..count]).await? == Flow::Close
            {
                return Ok(());
            }
        }
        drop(half_open);
        let mut request = RequestClock::default();
        loop {
            request.follow(visit.incomplete_request());
            let count = match request.deadline(self.patience) {
                Some(deadline) => read_before(deadline.into(), stream, &mut buffer).await?,
                None => stream.read(&mut buffer).await?,
            };
            if count == 0
                || out.writer().stopped.load(Ordering::Relaxed)
                || feed::<S>(visit, out, &buffer[..count]).await? == Flow::Close
            {
                return Ok(());
            }
        }
    }
}

/// Reads until a deadline. It also ends a client whose next byte is always there.
async fn read_before(deadline: Instant, stream: &mut OwnedReadHalf, buffer: &mut [u8]) -> io::Result<usize> {
    if deadline <= Instant::now() {
        return Err(ErrorKind::TimedOut.into());
    }
    timeout_at(deadline, stream.read(buffer)).await?
}

/// Handles received bytes, and writes the replies if no other task does.
async fn feed<S: Service<SendQueue<ConnectionIo>>>(
    visit: &mut S::Visit,
    out: &SendQueue<ConnectionIo>,
    bytes: &[u8],
) -> io::Result<Flow> {
    let flow = visit.feed(bytes);
    if S::REPLIES_ONLY {
        write_replies(out).await?;
    }
    Ok(flow)
}

/// Writes what waits, for a connection without a task that writes.
async fn write_replies(out: &SendQueue<ConnectionIo>) -> io::Result<()> {
    while let Next::Write(reply) = out.next() {
        out.writer().write(&reply).await?;
    }
    Ok(())
}

/// The task that writes: each line by itself, or with `coalesce` all that wait together.
async fn write(out: SendQueue<ConnectionIo>, coalesce: bool) {
    let wire = out.writer();
    if wire.write_lines(&out, coalesce).await.is_err() {
        wire.broken.store(true, Ordering::Relaxed);
        wire.stop_reading();
    }
}

impl ConnectionIo {
    async fn write_lines(&self, out: &SendQueue<ConnectionIo>, coalesce: bool) -> io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let next = out.next();
            if let Next::Write(line) = &next {
                if !coalesce {
                    self.write(line).await?;
                    continue;
                }
                batch.extend_from_slice(line);
                if batch.len() < BATCH_BYTES {
                    continue;
                }
            }
            self.write(&batch).await?;
            batch.clear();
            match next {
                Next::Write(_) => {}
                Next::Wait => self.lines.notified().await,
                Next::Stop => return Ok(()),
            }
        }
    }

    async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stream.try_write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Writer for ConnectionIo {
    fn wake(&self) {
        self.lines.notify_one();
    }

    fn stop_reading(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Fails only for a connection that is gone already, and then nobody reads.
        let _ = shutdown(self.stream.as_ref(), Shutdown::Read);
    }
}
