//! Runs a whole crowd: starts its threads, supervises them, and merges their results.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, available_parallelism};

use klatch_record::{CrowdEvent, CrowdResult, Failure, FailureKind, Gate, ProtocolName, Workload};

use crate::connections::Connections;
use crate::gate_client;
use crate::irc::Irc;
use crate::mqtt::Mqtt;
use crate::nats::Nats;
use crate::options::{CrowdError, Options, Threads};
use crate::pace::Pace;
use crate::pauses::Pauses;
use crate::protocol::{Protocol, UserId};
use crate::redis::Redis;
use crate::room_loop::RoomLoop;
use crate::rooms::Rooms;
use crate::schedule::jitter;
use crate::shared::{ControlMessage, Phase, Shared, Wake};
use crate::stats::CrowdStats;
use crate::supervisor::Supervisor;
use crate::user::User;
use crate::user_threads;

/// Controls a crowd from another thread.
#[derive(Clone)]
pub struct ControlSender(Sender<ControlMessage>);

/// The crowd's end of a [`ControlSender`].
pub struct ControlReceiver(Receiver<ControlMessage>, Sender<ControlMessage>);

/// Creates the two ends of the channel that controls a crowd.
pub fn control_channel() -> (ControlSender, ControlReceiver) {
    let (sender, receiver) = channel();
    (ControlSender(sender.clone()), ControlReceiver(receiver, sender))
}

impl ControlSender {
    /// Opens the gate of a steered crowd when all users have joined.
    pub fn go(&self) {
        self.send(ControlMessage::Go);
    }

    /// Ends a steered crowd after its last delivery.
    pub fn quit(&self) {
        self.send(ControlMessage::Quit);
    }

    /// Makes a crowd that talks send nothing more. It reports [`CrowdEvent::Paused`] when all that it sent is delivered.
    pub fn pause(&self) {
        self.send(ControlMessage::Pause);
    }

    /// Continues a paused crowd.
    pub fn resume(&self) {
        self.send(ControlMessage::Resume);
    }

    /// Ends a crowd in a pause, although its users have not sent all their messages.
    pub fn finish(&self) {
        self.send(ControlMessage::Finish);
    }

    /// Stops the crowd in any phase. The result gets a failure with this reason.
    pub fn stop(&self, reason: &str) {
        let detail = reason.to_owned();
        self.send(ControlMessage::Failed(Failure {
            kind: FailureKind::Stopped,
            room: None,
            user: None,
            detail,
        }));
    }

    fn send(&self, message: ControlMessage) {
        // The receiver is gone only when the crowd has ended.
        let _ = self.0.send(message);
    }
}

/// Runs a crowd to its end and reports events on the way.
///
/// # Errors
/// The crowd could not start. Later failures are part of the result.
pub fn run(
    options: &Options,
    inbox: ControlReceiver,
    on_event: impl FnMut(&CrowdEvent),
) -> Result<CrowdResult, CrowdError> {
    match options.protocol {
        ProtocolName::Irc => run_over::<Irc>(options, inbox, on_event),
        ProtocolName::Redis => run_over::<Redis>(options, inbox, on_event),
        ProtocolName::Nats => run_over::<Nats>(options, inbox, on_event),
        ProtocolName::Mqtt => run_over::<Mqtt>(options, inbox, on_event),
    }
}

fn run_over<P: Protocol>(
    options: &Options,
    inbox: ControlReceiver,
    on_event: impl FnMut(&CrowdEvent),
) -> Result<CrowdResult, CrowdError> {
    let addresses = options.check()?;
    let rooms = options.workload.rooms as usize;
    let (workers, wakes) = match options.threads {
        Threads::Loops(loops) => {
            let loops = loops.clamp(1, rooms);
            (loops, (0..loops).map(|_| Wake::event_loop()).collect::<std::io::Result<_>>()?)
        }
        // One lock for each CPU is enough, and every worker has a fixed cost.
        Threads::TwoPerUser => {
            let cpus = available_parallelism().map_or(1, usize::from).min(rooms);
            (cpus, (0..cpus).map(|_| Wake::Threads(Mutex::default())).collect())
        }
    };
    let shared = Arc::new(Shared::new(wakes));
    let worker = |number| {
        let users = create_users(
            &options.workload,
            options.seed,
            shard_range(options.workload.rooms, number, workers),
        );
        Rooms::<P>::new(number, shared.clone(), inbox.1.clone(), options.workload.clone(), users)
    };
    let threads = start(options, &shared, (0..workers).map(worker).collect(), &addresses)?;
    let start_gate_client = |gate: &Gate| {
        gate_client::spawn::<P>(options, gate.clone(), addresses.clone(), shared.clone(), inbox.1.clone())
    };
    let supervisor = Supervisor {
        options,
        shared: &shared,
        inbox: inbox.0,
        on_event,
        start_gate_client,
        workers,
        pauses: Pauses::default(),
    };
    let (join_s, failure) = supervisor.run();
    shared.enter(Phase::Stop);
    let opened_ns = shared.opened_machine_ns();
    let finished = shared.finished();
    let mut result = CrowdResult { join_s, failure, opened_ns, finished, ..CrowdResult::default() };
    for thread in threads {
        for stats in thread.join().map_err(|_| std::io::Error::other("a thread of the crowd died"))? {
            let elapsed_ns = stats.last_ns.saturating_sub(shared.gate_ns());
            result.elapsed_s = result.elapsed_s.max(elapsed_ns as f64 / 1e9);
            stats.merge_into(&mut result);
        }
    }
    Ok(result)
}

/// Starts the threads that run these rooms. They return the statistics of each worker.
fn start<P: Protocol>(
    options: &Options,
    shared: &Arc<Shared>,
    workers: Vec<Rooms<P>>,
    addresses: &[SocketAddr],
) -> std::io::Result<Vec<JoinHandle<Vec<CrowdStats>>>> {
    let addresses = || addresses.to_vec();
    let connect_timeout = options.connect_timeout;
    if options.threads == Threads::TwoPerUser {
        let (shared, addresses) = (shared.clone(), addresses());
        let run = move || user_threads::run(&shared, workers, &addresses, connect_timeout);
        return Ok(vec![Builder::new().name("crowd".to_owned()).spawn(run)?]);
    }
    let mut threads = Vec::new();
    for rooms in workers {
        let Wake::Loop(wake) = &shared.workers[rooms.number].wake else { unreachable!("it is a loop") };
        let connections = Connections::new(addresses(), connect_timeout, wake)?;
        let thread = Builder::new().name(format!("crowd-{}", rooms.number));
        threads.push(thread.spawn(move || vec![RoomLoop::new(rooms, connections).run()])?);
    }
    Ok(threads)
}

/// The rooms of worker `number` out of `workers`: whole rooms, as evenly as possible.
fn shard_range(rooms: u32, number: usize, workers: usize) -> Range<u32> {
    let cut = |number: usize| (u64::from(rooms) * number as u64 / workers as u64) as u32;
    cut(number)..cut(number + 1)
}

pub(crate) fn create_users<P: Protocol>(workload: &Workload, seed: u64, rooms: Range<u32>) -> Vec<User<P>> {
    let mut users = Vec::with_capacity(rooms.len() * workload.users as usize);
    for room in rooms {
        for user in 0..workload.users {
            let room = workload.start + room;
            let pace = Pace::new(workload, user, jitter(seed, room, user));
            users.push(User::new(UserId { room, user, users: workload.users }, pace));
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_whole_rooms_and_even() {
        let ranges: Vec<_> = (0..3).map(|number| shard_range(10, number, 3)).collect();
        assert_eq!(ranges, [0..3, 3..6, 6..10]);
    }
}
