//! Two threads a user, as in VolanoMark's crowd: a receiver reads and checks, and a sender waits for the user's turn and
//! writes. All calls block. The users of some parties share their accounts under one lock, which is never held during a
//! system call.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, Thread, current, park, park_timeout, yield_now};
use std::time::Duration;

use klatch_record::FailureKind;
use rustix::net::{SendFlags, send};

use crate::addresses::Addresses;
use crate::channel::{Channel, ClientEndpoint, too_long};
use crate::connections::connect_user;
use crate::event_loop::{LEAVE_NS, closed_early};
use crate::link::check_waiting;
use crate::pace::Turn;
use crate::parties::Parties;
use crate::shared::{Phase, Shared, Wake};
use crate::stats::CrowdStats;
use crate::worker::WorkerState;

/// Stack of one thread in bytes. Each user needs two.
const STACK_BYTES: usize = 128 * 1024;
/// How often a blocked sender checks whether the crowd stops.
const WRITE_TIMEOUT: Duration = Duration::from_millis(200);

/// Flags of the attempt to send that does not wait for the server.
const FIRST_TRY: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

/// How the server took what was written.
#[derive(Clone, Copy)]
enum Wrote {
    AtOnce,
    /// Its buffers were full.
    Blocked,
}

/// How users are connected, and what their threads do besides.
pub(crate) struct UserLinks {
    pub(crate) addresses: Addresses,
    pub(crate) connect_timeout: Duration,
    pub(crate) server: ClientEndpoint,
    /// Yield the CPU after each packet received and each batch sent.
    pub(crate) yields: bool,
}

/// Joins all users of these parties, one after another, and starts two threads for each. Returns the statistics of each
/// worker when the crowd stops.
pub(crate) fn run<P: Parties>(shared: &Shared, parties: Vec<P>, links: &UserLinks) -> Vec<CrowdStats> {
    let workers: Vec<_> = parties.into_iter().map(|parties| Arc::new(Mutex::new(parties))).collect();
    shared.workers.iter().for_each(|worker| register_thread(&worker.wake, current()));
    let mut threads = Vec::new();
    'joining: for parties in &workers {
        let users = lock(parties).connections();
        for index in 0..users {
            if let Err((kind, detail)) = connect(parties, index, links, &mut threads) {
                lock(parties).fail(Some(index), kind, detail);
                break 'joining;
            }
            while !lock(parties).link(index).joined && shared.phase() == Phase::Join {
                park();
            }
        }
    }
    while shared.phase() != Phase::Stop {
        workers.iter().for_each(follow_phase);
        park();
    }
    for thread in threads {
        // A thread that panicked has printed the reason, and its messages count as missing.
        let _ = thread.join();
    }
    let stats = |parties: &Arc<Mutex<P>>| {
        let mut parties = lock(parties);
        parties.settle();
        parties.worker_mut().take_stats()
    };
    workers.iter().map(stats).collect()
}

/// Lets the users of these parties follow the crowd into or out of a pause. Wakes only senders that may send: to wake all of
/// them for every pause would cost more than the pause measures.
fn follow_phase<P: Parties>(parties: &Arc<Mutex<P>>) {
    let mut parties = lock(parties);
    if !parties.follow_phase() {
        return;
    }
    let (number, shared) = (parties.worker().number, parties.worker().shared.clone());
    let now_ns = shared.now_ns();
    let may_send = |&index: &usize| parties.turn(index, now_ns) != Turn::WaitForOthers;
    let senders: Vec<usize> = (0..parties.connections()).filter(may_send).collect();
    drop(parties);
    shared.workers[number].wake.wake_senders(&senders);
}

/// Connects a user and starts its threads.
fn connect<P: Parties>(
    parties: &Arc<Mutex<P>>,
    index: usize,
    links: &UserLinks,
    threads: &mut Vec<JoinHandle<()>>,
) -> Result<(), (FailureKind, String)> {
    let (id, number, shared) = {
        let parties = lock(parties);
        (parties.id(index), parties.worker().number, parties.worker().shared.clone())
    };
    let not_connected = |error| {
        let first = shared.connected.load(Ordering::Relaxed) == 0;
        let kind = if first { FailureKind::Connect } else { FailureKind::Join };
        (kind, format!("cannot connect: {error}"))
    };
    let stream = connect_user(&links.addresses, id, links.connect_timeout, None).map_err(not_connected)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(not_connected)?;
    shared.connected.fetch_add(1, Ordering::Relaxed);
    lock(parties).write_handshake(index);
    let user = Arc::new(UserThreads {
        parties: parties.clone(),
        index,
        stream,
        channel: Channel::new(&links.server, id).map(Mutex::new),
        yields: links.yields,
        starter: current(),
        ended: AtomicBool::new(false),
    });
    let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let name = format!("{name}-r{}u{}", id.room, id.user);
        let started = Builder::new().name(name).stack_size(STACK_BYTES).spawn(run);
        started.map_err(|error| (FailureKind::Join, format!("cannot start a thread: {error}")))
    };
    let sending = user.clone();
    let sender = start("send", Box::new(move || sending.send()))?;
    register_thread(&shared.workers[number].wake, sender.thread().clone());
    let sender_thread = sender.thread().clone();
    threads.push(sender);
    threads.push(start("receive", Box::new(move || user.receive(&sender_thread)))?);
    Ok(())
}

/// What a user's two threads share.
struct UserThreads<P> {
    parties: Arc<Mutex<P>>,
    index: usize,
    stream: TcpStream,
    /// What lies between the protocol and the socket; never locked during a system call.
    channel: Option<Mutex<Box<Channel>>>,
    /// Yield the CPU after each packet received and each batch sent.
    yields: bool,
    /// The thread that waits until this user has joined.
    starter: Thread,
    /// The receiver has ended.
    ended: AtomicBool,
}

impl<P: Parties> UserThreads<P> {
    fn receive(&self, sender: &Thread) {
        // A read through a channel may add a TLS record and fragments of a message that arrived before.
        let units = if self.channel.is_some() { 5 } else { 2 };
        let mut buffer = vec![0; units * P::UNIT_BYTES_MAX];
        let mut partial_len = 0;
        // The records of TLS are numbered, so only the sender makes and writes them.
        let sends = self.channel.is_none() && lock(&self.parties).receiver_sends();
        let mut out = Vec::new();
        let mut raw = vec![0; if self.channel.is_some() { P::UNIT_BYTES_MAX } else { 0 }];
        while let Some(bytes) = self.read(&mut buffer[partial_len..], &mut raw, sender) {
            let (taken, must_send, has_joined, waiting) = {
                let mut parties = lock(&self.parties);
                let now_ns = parties.worker().shared.now_ns();
                let had_joined = parties.link(self.index).joined;
                let taken = parties.on_bytes(self.index, &buffer[..partial_len + bytes], now_ns);
                parties.worker_mut().publish();
                let turn = parties.turn(self.index, now_ns);
                let link = parties.link(self.index);
                let may_send = match turn {
                    Turn::Send(_) => true,
                    Turn::WaitUntil(moment_ns) => moment_ns != link.timer_ns,
                    Turn::WaitForOthers => false,
                };
                let has_joined = link.joined && !had_joined;
                if sends && may_send {
                    parties.queue_due(self.index, now_ns);
                    std::mem::swap(&mut parties.link(self.index).out, &mut out);
                    (taken, false, has_joined, 0)
                } else {
                    (taken, may_send || !link.out.is_empty(), has_joined, link.out.len())
                }
            };
            if let Err(error) = check_waiting(waiting) {
                self.fail(format!("the connection broke: {error}"));
                break;
            }
            if !out.is_empty() {
                if let Err(error) = (&self.stream).write_all(&out) {
                    self.fail(format!("the connection broke: {}", explain(error)));
                    break;
                }
                out.clear();
            }
            // After the lock is released: both threads would block on it.
            if must_send {
                sender.unpark();
            }
            if has_joined {
                self.starter.unpark();
            }
            if self.yields {
                // A packet of VolanoMark's is a line.
                memchr::memchr_iter(b'\n', &buffer[..taken]).for_each(|_| yield_now());
            }
            buffer.copy_within(taken..partial_len + bytes, 0);
            partial_len = partial_len + bytes - taken;
            if partial_len > P::UNIT_BYTES_MAX {
                self.fail(too_long(P::UNIT_BYTES_MAX).to_string());
                break;
            }
        }
        self.ended.store(true, Ordering::Release);
        sender.unpark();
    }

    /// Reads once. `None` at the end of the stream or on an error, which it reports. `raw` is memory for a channel.
    fn read(&self, buffer: &mut [u8], raw: &mut [u8], sender: &Thread) -> Option<usize> {
        loop {
            let read = match &self.channel {
                None => (&self.stream).read(buffer),
                Some(channel) => self.read_through(channel, raw, buffer, sender),
            };
            match read {
                Ok(0) if self.channel.is_some() => {}
                Ok(0) => {
                    let joined = lock(&self.parties).link(self.index).joined;
                    self.fail(closed_early(joined));
                    return None;
                }
                Ok(bytes) => return Some(bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fail(format!("the connection broke: {error}"));
                    return None;
                }
            }
        }
    }

    /// Reads once through the channel. Returns the number of plain bytes, which may be none.
    fn read_through(
        &self,
        channel: &Mutex<Box<Channel>>,
        raw: &mut [u8],
        buffer: &mut [u8],
        sender: &Thread,
    ) -> std::io::Result<usize> {
        let bytes = (&self.stream).read(raw)?;
        let mut channel = lock(channel);
        if bytes == 0 {
            return Err(channel.end_error());
        }
        let mut plain = Vec::new();
        channel.receive(&raw[..bytes], &mut plain)?;
        check_waiting(channel.waiting_bytes())?;
        let must_reply = channel.has_output();
        drop(channel);
        if must_reply {
            sender.unpark();
        }
        let Some(place) = buffer.get_mut(..plain.len()) else { return Err(too_long(buffer.len())) };
        place.copy_from_slice(&plain);
        Ok(plain.len())
    }

    /// Replaces the plain bytes of `out` by those for the socket.
    fn encode(&self, out: &mut Vec<u8>) {
        if let Some(channel) = &self.channel {
            let mut raw = Vec::new();
            lock(channel).send(out, &mut raw);
            *out = raw;
        }
    }

    fn send(&self) {
        let shared = lock(&self.parties).worker().shared.clone();
        let mut out = Vec::new();
        // Since the last yield.
        let mut wrote = false;
        while shared.phase() != Phase::Stop {
            let now_ns = shared.now_ns();
            let until_ns = {
                let mut parties = lock(&self.parties);
                let until_ns = parties.queue_due(self.index, now_ns);
                parties.worker_mut().publish();
                let link = parties.link(self.index);
                link.timer_ns = until_ns.unwrap_or(0);
                std::mem::swap(&mut link.out, &mut out);
                until_ns
            };
            self.encode(&mut out);
            if !out.is_empty() {
                match self.write(&out, &shared) {
                    Ok(Wrote::AtOnce) => {}
                    Ok(Wrote::Blocked) => lock(&self.parties).on_unblocked(self.index, shared.now_ns()),
                    Err(error) => {
                        self.fail(format!("the connection broke: {error}"));
                        break;
                    }
                }
                out.clear();
                wrote = true;
                continue;
            }
            if self.yields && std::mem::take(&mut wrote) {
                yield_now();
            }
            if let Some(until_ns) = until_ns {
                park_timeout(Duration::from_nanos(until_ns.saturating_sub(now_ns)));
            } else {
                park();
            }
        }
        while shared.phase() != Phase::Stop {
            park();
        }
        self.leave(&shared, out);
    }

    /// Quits, and waits until the receiver sees the connection close: duplicates may still arrive.
    fn leave(&self, shared: &Shared, mut out: Vec<u8>) {
        {
            let mut parties = lock(&self.parties);
            parties.worker_mut().state = WorkerState::Leaving;
            parties.write_quit(self.index);
            out.append(&mut parties.link(self.index).out);
        }
        self.encode(&mut out);
        if let Some(channel) = &self.channel {
            let mut channel = lock(channel);
            if let Some(session) = channel.tls_session() {
                lock(&self.parties).worker_mut().stats.record_tls(session);
            }
            channel.close();
            channel.send(&[], &mut out);
        }
        // The connection may already be broken.
        let _ = self.write(&out, shared);
        let _ = self.stream.shutdown(Shutdown::Write);
        let deadline_ns = shared.now_ns() + LEAVE_NS;
        while !self.ended.load(Ordering::Acquire) && shared.now_ns() < deadline_ns {
            park_timeout(Duration::from_nanos(deadline_ns.saturating_sub(shared.now_ns())));
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Writes everything. Fails if the server reads nothing while the crowd stops.
    ///
    /// The first attempts do not block, because only they show whether the thread would have had to wait for the server.
    fn write(&self, mut out: &[u8], shared: &Shared) -> std::io::Result<Wrote> {
        let mut wrote = Wrote::AtOnce;
        while !out.is_empty() {
            let written = match wrote {
                Wrote::AtOnce => send(&self.stream, out, FIRST_TRY).map_err(Error::from),
                Wrote::Blocked => (&self.stream).write(out),
            };
            match written {
                Ok(bytes) => out = &out[bytes..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && shared.phase() != Phase::Stop => {
                    wrote = Wrote::Blocked;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(wrote)
    }

    fn fail(&self, detail: String) {
        lock(&self.parties).fail(Some(self.index), FailureKind::Disconnect, detail);
    }
}

/// A write that took longer than its time limit reports only that it would block.
fn explain(error: Error) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock => Error::other("the server does not read"),
        _ => error,
    }
}

fn register_thread(wake: &Wake, thread: Thread) {
    if let Wake::Threads(threads) = wake {
        threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }
}

fn lock<P>(parties: &Mutex<P>) -> MutexGuard<'_, P> {
    parties.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use klatch_record::{ChatWorkload, Endpoint, Pacing, ProtocolName, Workload};

    use super::*;
    use crate::options::{Options, Threads};

    /// How long the server of the test reads nothing.
    const FROZEN: Duration = Duration::from_millis(800);
    /// More than the buffers of a connection on loopback hold, about 3 MB, is due after half of that time.
    const RATE_PER_S: u32 = 20_000;
    const COUNT: u32 = 16_000;

    /// Lets a user in, reads nothing for a while, and then everything.
    fn serve(mut stream: TcpStream) -> std::io::Result<u64> {
        stream.write_all(b":s 001 x :hello\r\n:s 366 x #klatch-1 :End of /NAMES list.\r\n")?;
        std::thread::sleep(FROZEN);
        std::io::copy(&mut stream, &mut std::io::sink())
    }

    #[test]
    fn a_write_that_waits_for_the_server_is_not_the_crowds_lateness() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = std::thread::spawn(move || {
            let clients = (0..2).map(|_| listener.accept().unwrap().0);
            clients.map(|client| std::thread::spawn(move || serve(client))).collect::<Vec<_>>()
        });
        let workload = Workload::Chat(ChatWorkload {
            rooms: 1,
            users: 2,
            count: COUNT,
            size_bytes: 400,
            start: 1,
            pacing: Pacing::Rate { per_user_per_s: Some(RATE_PER_S.into()) },
            pause_s: 0.0,
            churn_per_user_per_s: 0.0,
            duration_s: None,
            stages: None,
            arrivals: klatch_record::Arrivals::Even,
            mqtt: klatch_record::MqttSettings::default(),
        });
        let options = Options {
            workload,
            threads: Threads::TwoPerUser { yields: false },
            timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(5),
            seed: 1,
            gate: None,
            gate_timeout: Duration::from_secs(5),
            ledger: None,
            login: None,
            request: None,
            steered: false,
        };
        let (control, inbox) = crate::control_channel();
        let server: ClientEndpoint = Endpoint::plain(ProtocolName::Irc, "127.0.0.1".to_owned(), port);
        // Nothing is delivered, so the crowd does not end by itself; all is sent when it is reported.
        let mut on_event = |event: &klatch_record::CrowdEvent| {
            if matches!(event, klatch_record::CrowdEvent::Progress { sent, .. } if *sent == u64::from(2 * COUNT))
            {
                control.stop("all is sent");
            }
        };
        let result = crate::run(&server, &options, inbox, &mut on_event).unwrap();
        assert_eq!(result.sent, u64::from(2 * COUNT), "{:?}", result.failure);
        // Those that were due when a write blocked come first afterwards, as many as a write takes.
        let late = result.send_lag_ns.iter().filter(|(ns, _)| *ns > FROZEN.as_nanos() as u64 / 4);
        let late: u64 = late.map(|(_, count)| count).sum();
        assert!(late * 500 < result.sent, "{late} of {}: {:?}", result.sent, result.send_lag_ns);
        for client in accepted.join().unwrap() {
            client.join().unwrap().unwrap();
        }
    }
}
