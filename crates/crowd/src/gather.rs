//! A whole crowd: starts its threads, opens the gate, watches, and puts the results together.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, available_parallelism};

use klatch_record::{CrowdEvent, CrowdResult, Failure, FailureKind, Gate, ProtocolName, Workload};

use crate::at_gate;
use crate::irc::Irc;
use crate::links::Links;
use crate::mqtt::Mqtt;
use crate::nats::Nats;
use crate::options::{CrowdError, Options, Threads};
use crate::pace::Pace;
use crate::protocol::{Protocol, Seat};
use crate::redis::Redis;
use crate::room_loop::RoomLoop;
use crate::rooms::Rooms;
use crate::schedule::jitter;
use crate::shared::{Notice, Phase, Shared, Wake};
use crate::tally::Tally;
use crate::user::User;
use crate::user_threads;
use crate::watch::Watch;

/// Steers a crowd from another thread.
#[derive(Clone)]
pub struct Remote(Sender<Notice>);

/// The crowd's end of a [`Remote`].
pub struct Inbox(Receiver<Notice>, Sender<Notice>);

/// Makes the two ends through which a crowd is steered.
pub fn remote_control() -> (Remote, Inbox) {
    let (sender, receiver) = channel();
    (Remote(sender.clone()), Inbox(receiver, sender))
}

impl Remote {
    /// Opens the gate of a steered crowd, once all have joined.
    pub fn go(&self) {
        self.send(Notice::Go);
    }

    /// Lets a steered crowd leave, once it is done.
    pub fn quit(&self) {
        self.send(Notice::Quit);
    }

    /// Stops the crowd wherever it is.
    pub fn stop(&self, why: &str) {
        let detail = why.to_owned();
        self.send(Notice::Failed(Failure { kind: FailureKind::Stopped, room: None, user: None, detail }));
    }

    fn send(&self, notice: Notice) {
        // A crowd that has ended needs no steering.
        let _ = self.0.send(notice);
    }
}

/// Runs a crowd to its end, and tells what happens on the way.
///
/// # Errors
/// It could not even try. Whatever happens later is told in the result.
pub fn run(
    options: &Options,
    inbox: Inbox,
    tell: impl FnMut(&CrowdEvent),
) -> Result<CrowdResult, CrowdError> {
    match options.protocol {
        ProtocolName::Irc => run_over::<Irc>(options, inbox, tell),
        ProtocolName::Redis => run_over::<Redis>(options, inbox, tell),
        ProtocolName::Nats => run_over::<Nats>(options, inbox, tell),
        ProtocolName::Mqtt => run_over::<Mqtt>(options, inbox, tell),
    }
}

fn run_over<W: Protocol>(
    options: &Options,
    inbox: Inbox,
    tell: impl FnMut(&CrowdEvent),
) -> Result<CrowdResult, CrowdError> {
    let addresses = options.check()?;
    let rooms = options.workload.rooms as usize;
    let (parts, wakes) = match options.threads {
        Threads::Loops(loops) => {
            let loops = loops.clamp(1, rooms);
            (loops, (0..loops).map(|_| Wake::of_loop()).collect::<std::io::Result<_>>()?)
        }
        // A lock for each CPU is enough, and the accounts of a part cost something however few messages there are.
        Threads::TwoPerUser => {
            let cpus = available_parallelism().map_or(1, usize::from).min(rooms);
            (cpus, (0..cpus).map(|_| Wake::Threads(Mutex::default())).collect())
        }
    };
    let shared = Arc::new(Shared::new(wakes));
    let part = |number| {
        let users = seat(&options.workload, options.seed, share_of(options.workload.rooms, number, parts));
        Rooms::<W>::new(number, shared.clone(), inbox.1.clone(), options.workload.clone(), users)
    };
    let threads = start(options, &shared, (0..parts).map(part).collect(), &addresses)?;
    let to_gate = |gate: &Gate| {
        at_gate::wait::<W>(options, gate.clone(), addresses.clone(), shared.clone(), inbox.1.clone())
    };
    let watch = Watch { options, shared: &shared, inbox: inbox.0, tell, to_gate, parts };
    let (join_s, failure) = watch.until_done();
    shared.enter(Phase::Stop);
    let opened_ns = shared.opened_machine_ns();
    let mut result = CrowdResult { join_s, failure, opened_ns, ..CrowdResult::default() };
    for thread in threads {
        for tally in thread.join().map_err(|_| std::io::Error::other("a thread of the crowd died"))? {
            let elapsed_ns = tally.last_ns.saturating_sub(shared.gate_ns());
            result.elapsed_s = result.elapsed_s.max(elapsed_ns as f64 / 1e9);
            tally.pour_into(&mut result);
        }
    }
    Ok(result)
}

/// Starts what runs these rooms. It gives what was found in them.
fn start<W: Protocol>(
    options: &Options,
    shared: &Arc<Shared>,
    parts: Vec<Rooms<W>>,
    addresses: &[SocketAddr],
) -> std::io::Result<Vec<JoinHandle<Vec<Tally>>>> {
    let addresses = || addresses.to_vec();
    let connect_timeout = options.connect_timeout;
    if options.threads == Threads::TwoPerUser {
        let (shared, addresses) = (shared.clone(), addresses());
        let run = move || user_threads::run(&shared, parts, &addresses, connect_timeout);
        return Ok(vec![Builder::new().name("crowd".to_owned()).spawn(run)?]);
    }
    let mut threads = Vec::new();
    for rooms in parts {
        let Wake::Loop(wake) = &shared.posts[rooms.number].wake else { unreachable!("it is a loop") };
        let links = Links::new(addresses(), connect_timeout, wake)?;
        let thread = Builder::new().name(format!("crowd-{}", rooms.number));
        threads.push(thread.spawn(move || vec![RoomLoop::new(rooms, links).run()])?);
    }
    Ok(threads)
}

/// The rooms of part `number` of `parts`: whole rooms, as even as can be.
fn share_of(rooms: u32, number: usize, parts: usize) -> Range<u32> {
    let cut = |number: usize| (u64::from(rooms) * number as u64 / parts as u64) as u32;
    cut(number)..cut(number + 1)
}

pub(crate) fn seat<W: Protocol>(workload: &Workload, seed: u64, rooms: Range<u32>) -> Vec<User<W>> {
    let mut users = Vec::with_capacity(rooms.len() * workload.users as usize);
    for room in rooms {
        for user in 0..workload.users {
            let room = workload.start + room;
            let pace = Pace::new(workload, user, jitter(seed, room, user));
            users.push(User::new(Seat { room, user, users: workload.users }, pace));
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_shared_out_whole_and_evenly() {
        let shares: Vec<_> = (0..3).map(|number| share_of(10, number, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }
}
