//! Two threads a connection (one-to-one, as VolanoMark's server had them): a receiver that reads and
//! dispatches commands, and a sender that waits for lines and writes each by itself. All calls block. Where nobody but the
//! receiver has something to write, it writes too, and there is no sender.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use klatch_protocol::service::{Flow, Service, Visit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use crate::admission::{self, ACCEPT_PAUSE, AdmissionControl, HalfOpen};
use crate::linger::close;
use crate::request_clock::RequestClock;
use crate::send_queue::{Next, SendQueue, Writer};
use crate::{ServeError, ServeOptions, thread_limits};

/// Stack of one thread in bytes.
const STACK_BYTES: usize = 64 * 1024;

/// A connection as its sender sees it.
pub(crate) struct ConnectionIo {
    stream: TcpStream,
    sender: OnceLock<Thread>,
    /// No more input is wanted. Input that arrives after the shutdown can still be read.
    stopped: AtomicBool,
}

impl Writer for ConnectionIo {
    fn wake(&self) {
        if let Some(sender) = self.sender.get() {
            sender.unpark();
        }
    }

    fn stop_reading(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Fails only for a connection that is gone already, and then nobody reads.
        let _ = self.stream.shutdown(Shutdown::Read);
    }
}

struct Server<S> {
    yields: bool,
    sendq_bytes: usize,
    patience: Duration,
    threads_max: usize,
    service: Arc<S>,
    admission: Arc<AdmissionControl>,
    /// The connections that have threads.
    connections: Mutex<HashMap<u64, SendQueue<ConnectionIo>>>,
}

pub(crate) fn run<S: Service<SendQueue<ConnectionIo>>>(
    service: &Arc<S>,
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: crate::Ready<'_>,
) -> Result<(), ServeError> {
    ready()?;
    accept_until(stop, &listener, &Server::new(service, options, thread_limits::threads_max()))
}

fn accept_until<S: Service<SendQueue<ConnectionIo>>>(
    stop: BorrowedFd<'_>,
    listener: &OwnedFd,
    server: &Arc<Server<S>>,
) -> Result<(), ServeError> {
    let mut serial = 0;
    let mut paused = false;
    loop {
        let interest = if paused { PollFlags::empty() } else { PollFlags::IN };
        let mut fds = [PollFd::from_borrowed_fd(stop, PollFlags::IN), PollFd::new(listener, interest)];
        let pause = Timespec { tv_sec: 0, tv_nsec: ACCEPT_PAUSE.as_nanos() as i64 };
        match poll(&mut fds, paused.then_some(&pause)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(ServeError::system("wait for connections")(errno)),
        }
        if !fds[0].revents().is_empty() {
            server.shutdown();
            return Ok(());
        }
        match admission::accept(listener, SocketFlags::empty()) {
            Ok((socket, from)) => {
                serial += 1;
                paused = false;
                server.add_connection(serial, socket.into(), from);
            }
            Err(Errno::AGAIN) => paused = false,
            Err(errno) => {
                paused = true;
                server.admission.warn_accept_failed(errno);
            }
        }
    }
}

impl<S: Service<SendQueue<ConnectionIo>>> Server<S> {
    fn new(service: &Arc<S>, options: &ServeOptions, threads_max: usize) -> Arc<Server<S>> {
        Arc::new(Server {
            yields: options.yields,
            sendq_bytes: options.sendq_bytes,
            patience: options.patience(),
            threads_max,
            service: Arc::clone(service),
            admission: AdmissionControl::new(options),
            connections: Mutex::default(),
        })
    }

    fn add_connection(self: &Arc<Self>, serial: u64, stream: TcpStream, from: SocketAddr) {
        let Some(half_open) = self.admission.admit(&stream) else {
            return;
        };
        let out = SendQueue::new(
            self.sendq_bytes,
            ConnectionIo { stream, sender: OnceLock::new(), stopped: AtomicBool::new(false) },
        );
        let threads = threads_per_connection::<S>() * {
            let mut connections = self.connections();
            connections.insert(serial, out.clone());
            connections.len()
        };
        if let Err(error) = self.start_threads(serial, threads, &out, from, half_open) {
            self.connections().remove(&serial);
            admission::reject(&out.writer().stream, "Out of threads");
            out.shutdown();
            self.admission
                .warn_once(&format!("closed a connection: {error}"), &thread_limits::nearest(threads));
        }
    }

    fn start_threads(
        self: &Arc<Self>,
        serial: u64,
        threads: usize,
        out: &SendQueue<ConnectionIo>,
        from: SocketAddr,
        half_open: HalfOpen,
    ) -> io::Result<()> {
        if threads > self.threads_max {
            return Err(io::Error::other("no thread can be started for it"));
        }
        // The sender reports a broken connection through this channel, and drops its end when it is done.
        let (sending, sender_status) = mpsc::channel();
        let named = |name: &str| thread::Builder::new().name(name.into()).stack_size(STACK_BYTES);
        if S::REPLIES_ONLY {
            drop(sending);
        } else {
            let (server, to_write) = (Arc::clone(self), out.clone());
            named("sender").spawn(move || server.write(&to_write, sending))?;
        }
        let (server, out) = (Arc::clone(self), out.clone());
        named("receiver").spawn(move || {
            let visit = server.service.enter(from.ip(), out.clone());
            server.receive(visit, &out, half_open, &sender_status);
            server.connections().remove(&serial);
        })?;
        Ok(())
    }

    /// The sending thread of a connection.
    fn write(&self, out: &SendQueue<ConnectionIo>, broken: Sender<()>) {
        let wire = out.writer();
        let _ = wire.sender.set(thread::current());
        let mut yielded = true;
        loop {
            match out.next() {
                Next::Write(line) => {
                    if (&wire.stream).write_all(&line).is_err() {
                        let _ = broken.send(());
                        return wire.stop_reading();
                    }
                    yielded = false;
                }
                Next::Wait if self.yields && !yielded => {
                    thread::yield_now(); // a batch is out
                    yielded = true;
                }
                Next::Wait => thread::park(),
                Next::Stop => return,
            }
        }
    }

    /// The receiving thread of a connection.
    fn receive(
        &self,
        mut visit: S::Visit,
        out: &SendQueue<ConnectionIo>,
        half_open: HalfOpen,
        sender_status: &Receiver<()>,
    ) {
        let stream = &out.writer().stream;
        let end = self.read(&mut visit, out, half_open);
        if out.overflowed() {
            visit.hang_up(b"SendQ exceeded");
            out.close_with(S::closing_message(b"SendQ exceeded"));
        } else {
            match end {
                Ok(()) if sender_status.try_recv().is_err() => visit.hang_up(b"Connection closed"),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
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
            // The client may be gone.
            let _ = write_replies(out);
        }
        // Its last lines have as much time as a registration.
        let _ = sender_status.recv_timeout(self.patience);
        // Other threads may still hold the socket for a moment; its output ends now.
        close(stream, visit.may_send_more());
    }

    /// Reads until the end of the input or of the session.
    fn read(
        &self,
        visit: &mut S::Visit,
        out: &SendQueue<ConnectionIo>,
        half_open: HalfOpen,
    ) -> io::Result<()> {
        let mut stream = &out.writer().stream;
        let mut buffer = vec![0; S::READ_BYTES];
        let mut half_open = Some((half_open, Instant::now() + self.patience));
        let mut request = RequestClock::default();
        let mut has_deadline = false;
        loop {
            half_open = half_open.filter(|_| !visit.registered());
            let deadline =
                half_open.as_ref().map(|(_, deadline)| *deadline).or(request.deadline(self.patience));
            if has_deadline || deadline.is_some() {
                has_deadline = deadline.is_some();
                let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    // Also of a client whose next byte is always there.
                    return Err(ErrorKind::WouldBlock.into());
                }
                stream.set_read_timeout(left)?;
            }
            match stream.read(&mut buffer) {
                Ok(_) if out.writer().stopped.load(Ordering::Relaxed) => return Ok(()),
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let flow = self.feed(visit, &buffer[..count]);
                    if S::REPLIES_ONLY {
                        write_replies(out)?;
                    }
                    if flow == Flow::Close {
                        return Ok(());
                    }
                    request.follow(visit.incomplete_request());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn feed(&self, visit: &mut S::Visit, bytes: &[u8]) -> Flow {
        if !self.yields {
            return visit.feed(bytes);
        }
        for packet in bytes.split_inclusive(|&byte| byte == b'\n') {
            if visit.feed(packet) == Flow::Close {
                return Flow::Close;
            }
            thread::yield_now();
        }
        Flow::Continue
    }

    /// Ends all connections at once, without QUIT lines to the others.
    fn shutdown(&self) {
        let connections = self.connections();
        connections.values().for_each(SendQueue::shutdown);
        for out in connections.values() {
            let _ = out.writer().stream.shutdown(Shutdown::Both);
        }
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, SendQueue<ConnectionIo>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads of one connection.
fn threads_per_connection<S: Service<SendQueue<ConnectionIo>>>() -> usize {
    if S::REPLIES_ONLY { 1 } else { 2 }
}

/// Writes what waits, for a connection without a sender.
fn write_replies(out: &SendQueue<ConnectionIo>) -> io::Result<()> {
    while let Next::Write(reply) = out.next() {
        (&out.writer().stream).write_all(&reply)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::listener;

    #[test]
    fn without_threads_for_it_a_connection_is_closed_and_the_others_live_on() {
        let options = ServeOptions::default();
        let (listener, address) = listener::listen("127.0.0.1:0", options.patience()).unwrap();
        let (mut stop, stopped) = UnixStream::pair().unwrap();
        let server = Server::new(
            &<crate::served::Chat as crate::served::Served>::start(&options).unwrap(),
            &options,
            4,
        );
        let running = thread::spawn(move || accept_until(stopped.as_fd(), &listener, &server));
        let connect = || BufReader::new(TcpStream::connect(address).unwrap());
        let answer = |client: &mut BufReader<TcpStream>| {
            let mut line = String::new();
            client.get_mut().write_all(b"PING x\r\n").unwrap();
            client.read_line(&mut line).unwrap();
            line
        };
        let (mut first, mut second) = (connect(), connect());
        assert!(answer(&mut first).contains("PONG"));
        assert!(answer(&mut second).contains("PONG"));
        assert_eq!(answer(&mut connect()), "ERROR :Out of threads\r\n");
        assert!(answer(&mut first).contains("PONG"));
        stop.write_all(b"x").unwrap();
        running.join().unwrap().unwrap();
    }
}
