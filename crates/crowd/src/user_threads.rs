//! Two threads a user, as VolanoMark's crowd had them: a receiver that reads and checks, and a sender that waits for its
//! user's turn and writes. All calls block. The users of some rooms share the accounts, under one lock that nobody holds
//! during a call of the system.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, Thread, current, park, park_timeout};
use std::time::Duration;

use klatch_record::FailureKind;

use crate::links::connect_user;
use crate::pace::Turn;
use crate::protocol::Protocol;
use crate::room_loop::LEAVE_NS;
use crate::rooms::{Rooms, State};
use crate::shared::{Phase, Shared, Wake};
use crate::tally::Tally;
use crate::user::LINE_MAX;

/// Enough for what these threads do; a user needs two of them.
const STACK_BYTES: usize = 128 * 1024;
/// How often a sender looks whether the crowd stops, while the server takes nothing.
const BLOCKED: Duration = Duration::from_millis(200);

/// Joins all users of these rooms, one after another, each with two threads from then on; runs until the crowd stops, and
/// gives what was found in each part.
pub(crate) fn run<W: Protocol>(
    shared: &Shared,
    rooms: Vec<Rooms<W>>,
    addresses: &[SocketAddr],
    connect_timeout: Duration,
) -> Vec<Tally> {
    let rooms: Vec<_> = rooms.into_iter().map(|room| Arc::new(Mutex::new(room))).collect();
    shared.posts.iter().for_each(|post| wakes(&post.wake, current()));
    let mut threads = Vec::new();
    'joining: for room in &rooms {
        let users = locked(room).users.len();
        for who in 0..users {
            if let Err((kind, detail)) = join(room, who, addresses, connect_timeout, &mut threads) {
                locked(room).fail(Some(who), kind, detail);
                break 'joining;
            }
            while !locked(room).users[who].joined && shared.phase() == Phase::Join {
                park();
            }
        }
    }
    while shared.phase() != Phase::Stop {
        park();
    }
    for thread in threads {
        // One that died has told why on standard error, and its messages are missing.
        let _ = thread.join();
    }
    let tally = |room: &Arc<Mutex<Rooms<W>>>| {
        let mut room = locked(room);
        room.settle();
        std::mem::replace(&mut room.tally, Tally::new())
    };
    rooms.iter().map(tally).collect()
}

/// Connects a user and starts its threads.
fn join<W: Protocol>(
    room: &Arc<Mutex<Rooms<W>>>,
    who: usize,
    addresses: &[SocketAddr],
    connect_timeout: Duration,
    threads: &mut Vec<JoinHandle<()>>,
) -> Result<(), (FailureKind, String)> {
    let (seat, number, shared) = {
        let room = locked(room);
        (room.users[who].seat, room.number, room.shared.clone())
    };
    let not_connected = |error| {
        let first = shared.connected.load(Ordering::Relaxed) == 0;
        let kind = if first { FailureKind::Connect } else { FailureKind::Join };
        (kind, format!("cannot connect: {error}"))
    };
    let stream = connect_user(addresses, seat, connect_timeout).map_err(not_connected)?;
    stream.set_write_timeout(Some(BLOCKED)).map_err(not_connected)?;
    shared.connected.fetch_add(1, Ordering::Relaxed);
    {
        let user = &mut locked(room).users[who];
        user.protocol.hello(&mut user.out);
    }
    let user = Arc::new(Threads {
        room: room.clone(),
        who,
        stream,
        starter: current(),
        ended: AtomicBool::new(false),
    });
    let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let name = format!("{name}-r{}u{}", seat.room, seat.user);
        let started = Builder::new().name(name).stack_size(STACK_BYTES).spawn(run);
        started.map_err(|error| (FailureKind::Join, format!("cannot start a thread: {error}")))
    };
    let sending = user.clone();
    let sender = start("send", Box::new(move || sending.send()))?;
    wakes(&shared.posts[number].wake, sender.thread().clone());
    let wakes_sender = sender.thread().clone();
    threads.push(sender);
    threads.push(start("hear", Box::new(move || user.receive(&wakes_sender)))?);
    Ok(())
}

/// A user as its two threads know it.
struct Threads<W> {
    room: Arc<Mutex<Rooms<W>>>,
    who: usize,
    stream: TcpStream,
    /// Who waits until this user has joined.
    starter: Thread,
    /// Nothing is received any more.
    ended: AtomicBool,
}

impl<W: Protocol> Threads<W> {
    fn receive(&self, sender: &Thread) {
        let mut buffer = vec![0; 2 * LINE_MAX];
        let mut kept = 0;
        while let Some(bytes) = self.read(&mut buffer[kept..]) {
            let (taken, is_wanted, has_joined) = {
                let mut room = locked(&self.room);
                let now_ns = room.shared.now_ns();
                let was_there = room.users[self.who].joined;
                let taken = room.hear(self.who, &buffer[..kept + bytes], now_ns);
                room.post();
                let user = &room.users[self.who];
                let may_speak = match room.turn(self.who, now_ns) {
                    Turn::Speak(_) => true,
                    Turn::Until(moment_ns) => moment_ns != user.timer_ns,
                    Turn::Listen => false,
                };
                (taken, may_speak || !user.out.is_empty(), user.joined && !was_there)
            };
            // After the lock, which they would wait for.
            if is_wanted {
                sender.unpark();
            }
            if has_joined {
                self.starter.unpark();
            }
            buffer.copy_within(taken..kept + bytes, 0);
            kept = kept + bytes - taken;
            if kept > LINE_MAX {
                self.fail(format!("the server sent a line of over {LINE_MAX} bytes"));
                break;
            }
        }
        self.ended.store(true, Ordering::Release);
        sender.unpark();
    }

    /// Reads once; `None` at the end.
    fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            match (&self.stream).read(buffer) {
                Ok(0) => {
                    self.fail("the server closed the connection".to_owned());
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

    fn send(&self) {
        let shared = locked(&self.room).shared.clone();
        let mut out = Vec::new();
        while shared.phase() != Phase::Stop {
            let now_ns = shared.now_ns();
            let until_ns = {
                let mut room = locked(&self.room);
                let until_ns = room.say(self.who, now_ns);
                room.post();
                let user = &mut room.users[self.who];
                user.timer_ns = until_ns.unwrap_or(0);
                std::mem::swap(&mut user.out, &mut out);
                until_ns
            };
            if !out.is_empty() {
                if let Err(error) = self.write(&out, &shared) {
                    self.fail(format!("the connection broke: {error}"));
                    break;
                }
                out.clear();
            } else if let Some(until_ns) = until_ns {
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

    /// Says good-bye, and lets the receiver listen until the connection is closed: what comes too often shows only now.
    fn leave(&self, shared: &Shared, mut out: Vec<u8>) {
        {
            let mut room = locked(&self.room);
            room.state = State::Leaving;
            room.users[self.who].protocol.bye(&mut out);
        }
        // A connection that is gone needs no good-bye.
        let _ = self.write(&out, shared);
        let _ = self.stream.shutdown(Shutdown::Write);
        let deadline_ns = shared.now_ns() + LEAVE_NS;
        while !self.ended.load(Ordering::Acquire) && shared.now_ns() < deadline_ns {
            park_timeout(Duration::from_nanos(deadline_ns.saturating_sub(shared.now_ns())));
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Writes all; gives up when the server takes nothing and the crowd stops.
    fn write(&self, mut out: &[u8], shared: &Shared) -> std::io::Result<()> {
        while !out.is_empty() {
            match (&self.stream).write(out) {
                Ok(bytes) => out = &out[bytes..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && shared.phase() != Phase::Stop => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn fail(&self, detail: String) {
        locked(&self.room).fail(Some(self.who), FailureKind::Disconnect, detail);
    }
}

fn wakes(wake: &Wake, thread: Thread) {
    if let Wake::Threads(threads) = wake {
        threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }
}

fn locked<W>(room: &Mutex<Rooms<W>>) -> MutexGuard<'_, Rooms<W>> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}
