//! The districts as parties of a worker: bytes in, bytes out.

use klatch_exchange::orders::Dealer;
use klatch_record::{Failure, FailureKind, FaultKind, OrdersCounts, OrdersScore, PartyCounts, Results};

use super::{CONNECTIONS, DEALERS, Districts, FACTORY, SUPPLIER, State};
use crate::http_reply::next_reply;
use crate::link::Link;
use crate::pace::Turn;
use crate::parties::{AfterEnd, Parties};
use crate::protocol::UserId;
use crate::site::HOST;
use crate::worker::{Worker, WorkerState};

impl Districts {
    /// The reply by which a connection joins: a customer of its dealer.
    fn on_joined(&mut self, index: usize, status: u16, body: &[u8]) {
        let connections = self.connections();
        let (district, place) = (&mut self.districts[index / CONNECTIONS], index % CONNECTIONS);
        let reply = district.dealers[place.min(DEALERS - 1)].on_reply(&mut self.ids, status, body);
        if let Some(error) = reply.error {
            let detail = format!("the reply to the first request is wrong: {error}");
            return self.fail(Some(index), FailureKind::Join, detail);
        }
        district.seats[place].link.joined = true;
        district.seats[place].state = State::Idle;
        self.worker.record_joined(connections);
    }
}

impl Parties for Districts {
    /// The longest page: a customer, or twenty purchases.
    const UNIT_BYTES_MAX: usize = 64 * 1024;

    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }

    fn connections(&self) -> usize {
        self.districts.len() * CONNECTIONS
    }

    fn link(&mut self, index: usize) -> &mut Link {
        &mut self.seat(index).link
    }

    fn id(&self, index: usize) -> UserId {
        let room = self.districts[index / CONNECTIONS].number;
        UserId { room, user: (index % CONNECTIONS) as u32, users: CONNECTIONS as u32 }
    }

    fn failure(&self, index: Option<usize>, kind: FailureKind, detail: String) -> Failure {
        let connection = index.map(|index| self.connection(index));
        Failure { kind, connection, room: None, user: None, detail }
    }

    /// A customer, which changes nothing and is not counted.
    fn write_handshake(&mut self, index: usize) {
        let (district, place) = (&mut self.districts[index / CONNECTIONS], index % CONNECTIONS);
        let (dealer, seat) = (&mut district.dealers[place.min(DEALERS - 1)], &mut district.seats[place]);
        dealer.join();
        dealer.write_request(HOST, &mut seat.link.out);
        seat.state = State::InFlight;
    }

    fn on_bytes(&mut self, index: usize, input: &[u8], now_ns: u64) -> usize {
        let mut rest = input;
        while !rest.is_empty() {
            if self.seat(index).state != State::InFlight {
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
            rest = &rest[response.bytes..];
            let (status, body) = (response.head.status, &response.body[..]);
            if !self.seat(index).link.joined {
                self.on_joined(index, status, body);
                continue;
            }
            self.seat(index).state = State::Idle;
            match index % CONNECTIONS {
                FACTORY => self.on_factory_reply(index / CONNECTIONS, (status, body), now_ns),
                SUPPLIER => self.on_supplier_reply(index / CONNECTIONS, (status, body), now_ns),
                _ => self.on_dealer_reply(index, (status, body), now_ns),
            }
        }
        input.len() - rest.len()
    }

    /// Only pairs of threads ask for this, and they do not carry the workload.
    fn turn(&self, _: usize, _: u64) -> Turn {
        Turn::WaitForOthers
    }

    fn queue_due(&mut self, index: usize, now_ns: u64) -> Option<u64> {
        let is_active = matches!(self.worker.state, WorkerState::Running | WorkerState::Pausing);
        if !self.is_open() || !is_active {
            return None;
        }
        match index % CONNECTIONS {
            FACTORY => self.queue_factory(index / CONNECTIONS, now_ns),
            SUPPLIER => self.queue_supplier(index / CONNECTIONS, now_ns),
            _ => self.queue_dealer(index, now_ns),
        }
    }

    fn next_ready(&mut self) -> Option<usize> {
        self.ready.pop()
    }

    fn nothing_in_flight(&self) -> bool {
        self.in_flight == 0 && self.factories.in_progress() == 0
    }

    fn on_end(&mut self, index: usize, now_ns: u64) -> AfterEnd {
        if !self.seat(index).link.joined {
            return AfterEnd::Failure;
        }
        if self.worker.state == WorkerState::Leaving || self.seat(index).state == State::Done {
            return AfterEnd::Done;
        }
        let was_in_flight = self.seat(index).state == State::InFlight;
        let error = "the server closed a connection that is to be kept open";
        self.record_fault(index, FaultKind::Wrong, &error);
        if was_in_flight {
            self.on_lost(index);
            self.seat(index).state = State::Idle;
            match index % CONNECTIONS {
                FACTORY => self.end_work_order(index / CONNECTIONS),
                SUPPLIER => self.end_batch(index / CONNECTIONS),
                _ => self.end_operation(index, now_ns),
            }
        }
        AfterEnd::Reconnect
    }

    fn settle(&mut self) {
        for index in 0..self.connections() {
            if self.seat(index).state == State::InFlight && self.seat(index).link.joined {
                self.record_fault(index, FaultKind::Lost, &"no complete reply");
                self.on_lost(index);
            }
        }
        let stats = &mut self.worker.stats;
        for district in &mut self.districts {
            district.factory.leave(&mut self.production);
            stats.order_ledgers.customers.extend(district.dealers.iter_mut().flat_map(Dealer::take_ledgers));
        }
        stats.order_ledgers.production.add(&self.production);
        let parties = PartyCounts::from_counts(self.districts.iter().map(|district| district.verified));
        let kinds = stats.kinds();
        let counts = OrdersCounts { steady_s: self.steady_s(), ..self.counts };
        let score = OrdersScore::new(self.districts.len() as u32, counts, &kinds);
        let in_window = self.in_steady;
        self.worker.stats.results = Some(Results::Orders { parties, in_window, kinds, score });
    }
}
