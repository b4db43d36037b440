//! The traders of workload `trade`, without any I/O: each sends the requests of its operations, and checks every field of the replies.

use std::ops::Range;

use klatch_exchange::trade::{Mix, Player, Population, Progress};
use klatch_record::{
    CONTENT_SEED, FailureKind, Fault, FaultKind, PartyCounts, Results, TradeMix, TradeWorkload,
};

use crate::http_reply::next_reply;
use crate::link::Link;
use crate::pace::Turn;
use crate::parties::{AfterEnd, Parties, one_connection_each};
use crate::schedule::{Rate, Schedule};
use crate::worker::{Worker, WorkerState};

/// The progress of a trader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next operation may begin.
    Idle,
    /// The next request of the same operation may be sent.
    Between,
    /// A reply is missing.
    InFlight,
    /// Nothing more is to be sent.
    Done,
}

struct Seat<P> {
    number: u32,
    link: Link,
    player: P,
    state: State,
    /// The server has announced that it closes the connection, and may do so.
    closing: bool,
    /// The intended moment of the operation in progress, ns.
    meant_ns: u64,
    /// Before this time no operation begins, ns.
    rest_until_ns: u64,
    /// When the trader was free for its next operation, ns.
    free_ns: u64,
    /// When operations are due; `None` for a closed loop.
    schedule: Option<Schedule>,
    /// Operations begun so far.
    begun: u32,
    /// Operations whose replies were all right.
    verified: u64,
}

pub(crate) struct Traders<P: Player> {
    worker: Worker,
    workload: TradeWorkload,
    market: P::Market,
    seats: Vec<Seat<P>>,
    /// The value of the header Host.
    host: String,
    /// Operations that are not complete, of all traders.
    in_flight: u64,
    done: usize,
    /// Right operations that were complete before the end of the time for which operations begin.
    in_window: u64,
}

/// The population that a server loads for this workload.
pub(crate) fn population(workload: &TradeWorkload) -> Population {
    Population { seed: CONTENT_SEED, users: workload.users, quotes: workload.quotes }
}

/// The mix of the players of this workload.
pub(crate) fn mix(workload: &TradeWorkload) -> Mix {
    match workload.mix {
        TradeMix::Standard => Mix::Standard,
        TradeMix::HighVolume => Mix::HighVolume,
        TradeMix::Equal => Mix::Equal,
    }
}

impl<P: Player> Traders<P> {
    /// The traders `range`, counted from the first of the workload. `player` makes one from its number and its users.
    pub(crate) fn new(
        mut worker: Worker,
        workload: &TradeWorkload,
        host: &str,
        range: Range<u32>,
        seed: u64,
        market: P::Market,
        player: impl Fn(u32, Range<u32>) -> P,
    ) -> Traders<P> {
        worker.stats.begin_stages(workload.stages.as_ref());
        let rate = Rate::of(workload.rate_per_trader_per_s, workload.stages.as_ref());
        let seat = |index| {
            let number = workload.start + index;
            let first_user = (number - 1) * workload.users_per_trader;
            let own_users = first_user..first_user + workload.users_per_trader;
            Seat {
                number,
                link: Link::default(),
                player: player(number, own_users),
                state: State::Idle,
                closing: false,
                meant_ns: 0,
                rest_until_ns: 0,
                free_ns: 0,
                schedule: rate.map(|rate| Schedule::new(seed, number, 0, rate, workload.arrivals)),
                begun: 0,
                verified: 0,
            }
        };
        Traders {
            worker,
            market,
            seats: range.map(seat).collect(),
            host: host.to_owned(),
            workload: workload.clone(),
            in_flight: 0,
            done: 0,
            in_window: 0,
        }
    }

    /// The end of the time for which operations begin, ns.
    fn end_ns(&self) -> u64 {
        self.worker.shared.gate_ns() + (self.workload.duration_s * 1e9) as u64
    }

    fn on_reply(&mut self, index: usize, progress: Progress, now_ns: u64) {
        let seat = &mut self.seats[index];
        if !seat.link.joined {
            if let Progress::Failed(error) = progress {
                let detail = format!("the reply to the first request is wrong: {error}");
                return self.fail(Some(index), FailureKind::Join, detail);
            }
            seat.link.joined = true;
            seat.state = State::Idle;
            return self.worker.record_joined(self.seats.len());
        }
        match progress {
            Progress::Next => seat.state = State::Between,
            Progress::Complete => {
                seat.verified += 1;
                let (operation, meant_ns) = (seat.player.operation(), seat.meant_ns);
                self.in_window += u64::from(now_ns <= self.end_ns());
                let gate_ns = self.worker.shared.gate_ns();
                self.worker.stats.record_delivery(gate_ns, now_ns, meant_ns);
                self.worker.stats.record_operation(operation.name(), now_ns.saturating_sub(meant_ns));
                self.end_operation(index, now_ns);
            }
            Progress::Failed(error) => {
                self.record_fault(index, FaultKind::Wrong, &error);
                self.end_operation(index, now_ns);
            }
        }
    }

    fn end_operation(&mut self, index: usize, now_ns: u64) {
        let seat = &mut self.seats[index];
        seat.state = State::Idle;
        seat.free_ns = now_ns;
        seat.rest_until_ns = now_ns + (self.workload.think_s * 1e9) as u64;
        self.in_flight -= 1;
        self.report_pause_if_complete();
    }

    fn record_fault(&mut self, index: usize, kind: FaultKind, error: &dyn std::fmt::Display) {
        let seat = &self.seats[index];
        let detail = format!("user {}, {}: {error}", seat.player.user_name(), seat.player.request_name());
        let sequence = seat.begun.saturating_sub(1);
        self.worker.stats.record_fault(Fault::of_connection(kind, seat.number, sequence, Some(detail)));
    }

    /// When the next operation of an idle trader is due, ns.
    fn due_ns(&self, seat: &Seat<P>, now_ns: u64) -> u64 {
        match &seat.schedule {
            Some(schedule) if schedule.is_over() => self.end_ns(),
            Some(schedule) => self.worker.shared.gate_ns() + schedule.due_ns(),
            None => now_ns.max(seat.rest_until_ns),
        }
    }
}

impl<P: Player> Parties for Traders<P> {
    /// The longest page: a portfolio of some hundred holdings.
    const UNIT_BYTES_MAX: usize = 256 * 1024;

    one_connection_each!(seats);

    /// A quote, which changes nothing and is not counted.
    fn write_handshake(&mut self, index: usize) {
        let seat = &mut self.seats[index];
        seat.player.join();
        seat.player.write_request(&self.host, &mut seat.link.out);
        seat.state = State::InFlight;
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        while !rest.is_empty() {
            if self.seats[index].state != State::InFlight {
                let error = format!("{} bytes that no request asked for", rest.len());
                self.record_fault(index, FaultKind::Unexpected, &error);
                return input.len();
            }
            let response = match next_reply(rest) {
                Ok(Some(response)) => response,
                Ok(None) => break,
                Err(detail) => {
                    self.fail(Some(index), FailureKind::Refused, detail);
                    return input.len();
                }
            };
            let cookie = response.head.set_cookie(P::COOKIE);
            let seat = &mut self.seats[index];
            seat.closing = P::MAY_CLOSE && !response.head.keep_alive;
            let player = &mut seat.player;
            let progress = player.on_reply(&mut self.market, response.head.status, cookie, &response.body);
            rest = &rest[response.bytes..];
            self.on_reply(index, progress, now_ns);
        }
        input.len() - rest.len()
    }

    fn turn(&self, index: usize, now_ns: u64) -> Turn {
        let seat = &self.seats[index];
        match (seat.state, self.worker.state) {
            // The next request is for a new connection.
            _ if seat.closing => Turn::WaitForOthers,
            // An operation that has begun goes on into a pause.
            (State::Between, WorkerState::Running | WorkerState::Pausing) => Turn::Send(now_ns),
            (State::Idle, WorkerState::Running) if self.worker.shared.gate_ns() > 0 => {
                let due_ns = self.due_ns(seat, now_ns);
                // At the end the trader is marked as done, at once.
                match due_ns.min(self.end_ns()) {
                    moment_ns if moment_ns > now_ns => Turn::WaitUntil(moment_ns),
                    _ => Turn::Send(due_ns),
                }
            }
            _ => Turn::WaitForOthers,
        }
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let due_ns = match self.turn(index, now_ns) {
            Turn::Send(due_ns) => due_ns,
            Turn::WaitUntil(moment_ns) => return Some(moment_ns),
            Turn::WaitForOthers => return None,
        };
        let end_ns = self.end_ns();
        let seat = &mut self.seats[index];
        if seat.state == State::Idle {
            if due_ns >= end_ns {
                seat.state = State::Done;
                self.done += 1;
                if self.done == self.seats.len() {
                    self.worker.report_complete();
                }
                return None;
            }
            seat.player.begin();
            seat.meant_ns = due_ns;
            seat.begun += 1;
            seat.schedule.iter_mut().for_each(Schedule::advance);
            self.in_flight += 1;
            self.worker.stats.sent += 1;
            if self.workload.is_scheduled() {
                self.worker.stats.record_due(self.worker.shared.gate_ns(), due_ns, 1);
                // A trader that waited for a reply is not late by itself.
                self.worker.stats.record_lag(now_ns.saturating_sub(due_ns.max(seat.free_ns)));
            }
        }
        seat.player.write_request(&self.host, &mut seat.link.out);
        seat.state = State::InFlight;
        None
    }

    fn nothing_in_flight(&self) -> bool {
        self.in_flight == 0
    }

    fn on_end(&mut self, index: usize, now_ns: u64) -> AfterEnd {
        let seat = &mut self.seats[index];
        if !seat.link.joined {
            return AfterEnd::Failure;
        }
        if self.worker.state == WorkerState::Leaving || seat.state == State::Done {
            return AfterEnd::Done;
        }
        if std::mem::take(&mut seat.closing) {
            return AfterEnd::Reconnect;
        }
        let was_in_flight = seat.state == State::InFlight;
        if was_in_flight {
            seat.player.on_lost();
        }
        let error = "the server closed a connection that is to be kept open";
        self.record_fault(index, FaultKind::Wrong, &error);
        if was_in_flight {
            self.end_operation(index, now_ns);
        }
        AfterEnd::Reconnect
    }

    fn settle(&mut self) {
        let parties = PartyCounts::from_counts(self.seats.iter().map(|seat| seat.verified));
        let kinds = self.worker.stats.kinds();
        self.worker.stats.results = Some(Results::Trade { parties, in_window: self.in_window, kinds });
        for index in 0..self.seats.len() {
            let seat = &mut self.seats[index];
            if seat.state == State::InFlight && seat.link.joined {
                seat.player.on_lost();
                self.record_fault(index, FaultKind::Lost, &"no complete reply");
            }
            self.worker.stats.ledgers.extend(self.seats[index].player.take_ledgers());
        }
    }
}
