//! A whole crowd: starts the event loops, opens the gate, watches, and puts the results together.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use klatch_record::{CrowdEvent, CrowdResult, Failure, FailureKind, Gate, WireName, Workload};

use crate::at_gate;
use crate::irc::Irc;
use crate::links::Links;
use crate::mqtt::Mqtt;
use crate::nats::Nats;
use crate::options::{CrowdError, Options};
use crate::pace::Pace;
use crate::redis::Redis;
use crate::room_loop::RoomLoop;
use crate::shared::{Notice, Phase, Shared};
use crate::user::User;
use crate::wire::{Seat, Wire};

/// How often progress is told.
const PROGRESS_PERIOD: Duration = Duration::from_millis(500);

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
    match options.wire {
        WireName::Irc => run_over::<Irc>(options, inbox, tell),
        WireName::Redis => run_over::<Redis>(options, inbox, tell),
        WireName::Nats => run_over::<Nats>(options, inbox, tell),
        WireName::Mqtt => run_over::<Mqtt>(options, inbox, tell),
    }
}

fn run_over<W: Wire>(
    options: &Options,
    inbox: Inbox,
    tell: impl FnMut(&CrowdEvent),
) -> Result<CrowdResult, CrowdError> {
    let addresses = options.check()?;
    let loops = options.loops.clamp(1, options.workload.rooms as usize);
    let shared = Arc::new(Shared::new(loops)?);
    let mut threads = Vec::new();
    for number in 0..loops {
        let links = Links::new(addresses.clone(), options.connect_timeout, &shared.posts[number].wake)?;
        let rooms = share_of(options.workload.rooms, number, loops);
        let users = seat(&options.workload, options.seed, rooms);
        let (shared, notices) = (shared.clone(), inbox.1.clone());
        let room_loop = RoomLoop::<W>::new(number, shared, notices, links, options.workload.clone(), users);
        let thread = std::thread::Builder::new().name(format!("crowd-{number}"));
        threads.push(thread.spawn(move || room_loop.run())?);
    }
    let to_gate = |gate: &Gate| {
        at_gate::wait::<W>(options, gate.clone(), addresses.clone(), shared.clone(), inbox.1.clone())
    };
    let watch = Watch { options, shared: &shared, inbox: inbox.0, tell, to_gate, loops };
    let (join_s, failure) = watch.until_done();
    shared.enter(Phase::Stop);
    let opened_ns = shared.opened_machine_ns();
    let mut result = CrowdResult { join_s, failure, opened_ns, ..CrowdResult::default() };
    for thread in threads {
        let tally = thread.join().map_err(|_| std::io::Error::other("an event loop of the crowd died"))?;
        let elapsed_ns = tally.last_ns.saturating_sub(shared.gate_ns());
        result.elapsed_s = result.elapsed_s.max(elapsed_ns as f64 / 1e9);
        tally.pour_into(&mut result);
    }
    Ok(result)
}

/// The rooms of loop `number` of `loops`: whole rooms, as even as can be.
fn share_of(rooms: u32, number: usize, loops: usize) -> Range<u32> {
    let cut = |number: usize| (u64::from(rooms) * number as u64 / loops as u64) as u32;
    cut(number)..cut(number + 1)
}

pub(crate) fn seat<W: Wire>(workload: &Workload, seed: u64, rooms: Range<u32>) -> Vec<User<W>> {
    let mut users = Vec::with_capacity(rooms.len() * workload.users as usize);
    for room in rooms {
        for user in 0..workload.users {
            // By the room's own number: shards speak as a whole crowd would.
            let place = u64::from(workload.start + room) * u64::from(workload.users) + u64::from(user);
            let pace = Pace::new(workload, user, jitter(seed, place));
            users.push(User::new(Seat { room: workload.start + room, user, users: workload.users }, pace));
        }
    }
    users
}

/// A number in 0..1 that looks random and is the same for the same seed and place.
fn jitter(seed: u64, place: u64) -> f64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (seed, place).hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Watches the loops from the first connect to the last delivery.
struct Watch<'a, F, G> {
    options: &'a Options,
    shared: &'a Shared,
    inbox: Receiver<Notice>,
    tell: F,
    /// Sends somebody to the gate.
    to_gate: G,
    loops: usize,
}

impl<F: FnMut(&CrowdEvent), G: Fn(&Gate) -> std::io::Result<()>> Watch<'_, F, G> {
    /// Gives the time it took to join, and why it ended if not well.
    fn until_done(mut self) -> (f64, Option<Failure>) {
        let mut join_s = 0.0;
        let failure = self.talk(&mut join_s).err();
        (self.tell)(&CrowdEvent::Done);
        let stopped = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Stopped);
        if self.options.steered && !stopped {
            self.until_quit();
        }
        (join_s, failure)
    }

    fn talk(&mut self, join_s: &mut f64) -> Result<(), Failure> {
        let started = Instant::now();
        let workload = &self.options.workload;
        let expected = workload.sent_expected() + workload.received_expected();
        self.until_all(|notice| matches!(notice, Notice::Joined), |_, (joined, ..)| joined)?;
        *join_s = started.elapsed().as_secs_f64();
        (self.tell)(&CrowdEvent::Joined { join_s: *join_s });
        if let Some(gate) = &self.options.gate {
            (self.to_gate)(gate).map_err(|error| stopped(format!("cannot wait at the gate: {error}")))?;
        }
        if self.options.steered || self.options.gate.is_some() {
            self.until_go()?;
        }
        (self.tell)(&CrowdEvent::Open);
        self.shared.open_gate();
        self.until_all(
            |notice| matches!(notice, Notice::Complete),
            |watch, (_, sent, received)| {
                let latency_ns = watch.shared.take_fresh().into_iter().collect();
                (watch.tell)(&CrowdEvent::Progress { sent, received, expected, latency_ns });
                sent + received
            },
        )
    }

    /// Waits until each loop has sent the notice; fails if the `progress` made of the loops' sums stands still.
    fn until_all(
        &mut self,
        wanted: impl Fn(&Notice) -> bool,
        progress: impl Fn(&mut Self, (u64, u64, u64)) -> u64,
    ) -> Result<(), Failure> {
        let mut missing = self.loops;
        let mut next_look = Instant::now() + PROGRESS_PERIOD;
        let (mut reached, mut moved_at) = (0, Instant::now());
        while missing > 0 {
            match self.inbox.recv_timeout(next_look.saturating_duration_since(Instant::now())) {
                Ok(Notice::Failed(failure)) => return Err(failure),
                Ok(notice) => missing -= usize::from(wanted(&notice)),
                Err(RecvTimeoutError::Timeout) => {
                    next_look += PROGRESS_PERIOD;
                    let now_reached = progress(self, self.shared.sums());
                    if now_reached != reached {
                        (reached, moved_at) = (now_reached, Instant::now());
                    } else if moved_at.elapsed() >= self.options.timeout {
                        return Err(self.stalled());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        }
        Ok(())
    }

    fn stalled(&self) -> Failure {
        let detail = format!("nothing came for {} s", self.options.timeout.as_secs_f64());
        Failure { kind: FailureKind::Timeout, room: None, user: None, detail }
    }

    fn until_go(&mut self) -> Result<(), Failure> {
        loop {
            match self.inbox.recv() {
                Ok(Notice::Go) => return Ok(()),
                Ok(Notice::Failed(failure)) => return Err(failure),
                Ok(Notice::Here(here)) => {
                    let shards = self.options.gate.as_ref().map_or(0, |gate| gate.shards);
                    (self.tell)(&CrowdEvent::Gate { here, shards });
                }
                Ok(_) => {}
                Err(_) => return Err(died()),
            }
        }
    }

    /// Connections may break now, but not the word of whoever steers.
    fn until_quit(&mut self) {
        let ends = |notice: Notice| match notice {
            Notice::Quit => true,
            Notice::Failed(failure) => failure.kind == FailureKind::Stopped,
            _ => false,
        };
        while self.inbox.recv().is_ok_and(|notice| !ends(notice)) {}
    }
}

fn died() -> Failure {
    stopped("the event loops of the crowd ended by themselves".to_owned())
}

fn stopped(detail: String) -> Failure {
    Failure { kind: FailureKind::Stopped, room: None, user: None, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_shared_out_whole_and_evenly() {
        let shares: Vec<_> = (0..3).map(|number| share_of(10, number, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }

    #[test]
    fn jitter_is_spread_over_the_period_and_repeats() {
        let jitters: Vec<f64> = (0..1000).map(|place| jitter(1, place)).collect();
        let mean = jitters.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "mean {mean}");
        assert!(jitters.iter().all(|jitter| (0.0..1.0).contains(jitter)));
        assert_eq!(jitter(1, 7), jitters[7]);
        assert_ne!(jitter(2, 7), jitters[7]);
    }
}
