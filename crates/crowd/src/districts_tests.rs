use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use klatch_exchange::orders::MemoryBusiness;
use klatch_record::CrowdResult;

use super::*;
use crate::parties::{AfterEnd, Parties};
use crate::shared::{ControlMessage, Shared, Wake};
use crate::worker::WorkerState;

const MS: u64 = 1_000_000;

/// Districts and a business that answers each request after 2 ms.
struct Crowd {
    districts: Districts,
    business: MemoryBusiness,
    shared: Arc<Shared>,
    control: Receiver<ControlMessage>,
    now_ns: u64,
}

fn orders() -> OrdersWorkload {
    let usual = OrdersWorkload::default();
    OrdersWorkload { injection_rate: 4, population: 4, suppliers: 4, ramp_s: 2.0, duration_s: 30.0, ..usual }
}

impl Crowd {
    /// Connections that have joined, and whose gate has opened.
    fn new(workload: &OrdersWorkload, earlier: &Ledgers, business: MemoryBusiness) -> Crowd {
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let (sender, control) = channel();
        let worker = Worker::new(0, shared.clone(), sender);
        let factories = Factories::new(workload.injection_rate);
        let (seed, range) = (earlier.seed_of_next_run(1), 0..workload.injection_rate);
        let districts = Districts::new(worker, workload, seed, range, earlier, factories);
        let mut crowd = Crowd { districts, business, shared, control, now_ns: 0 };
        for index in 0..crowd.districts.connections() {
            crowd.districts.write_handshake(index);
            crowd.answer(index);
        }
        assert!(matches!(crowd.control.try_recv(), Ok(ControlMessage::Joined)));
        crowd.shared.open_gate();
        crowd.now_ns = crowd.shared.gate_ns();
        crowd
    }

    /// Answers the request that a connection has sent, if it has.
    fn answer(&mut self, index: usize) -> bool {
        let request = std::mem::take(&mut self.districts.link(index).out);
        if request.is_empty() {
            return false;
        }
        let (status, body) = self.business.reply(std::str::from_utf8(&request).unwrap());
        let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        assert_eq!(self.districts.on_bytes(index, reply.as_bytes(), self.now_ns), reply.len());
        true
    }

    /// Lets 2 ms pass: sends what is due, and answers it. Returns whether anything was sent.
    fn step(&mut self) -> bool {
        let mut sent = false;
        for index in 0..self.districts.connections() {
            self.districts.queue_due(index, self.now_ns);
        }
        while let Some(index) = self.districts.next_ready() {
            self.districts.queue_due(index, self.now_ns);
        }
        self.now_ns += 2 * MS;
        for index in 0..self.districts.connections() {
            sent |= self.answer(index);
        }
        sent
    }

    fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.step();
        }
    }

    fn is_complete(&self) -> bool {
        self.districts.worker.state == WorkerState::Complete
    }

    fn run(&mut self) {
        for _ in 0..50_000 {
            if self.is_complete() {
                return;
            }
            self.step();
        }
        panic!("the run does not end");
    }

    /// The result, and the ledgers after those of earlier runs.
    fn result(mut self, earlier: Ledgers) -> (CrowdResult, Ledgers, MemoryBusiness) {
        self.districts.settle();
        let mut stats = self.districts.worker_mut().take_stats();
        let ledgers = std::mem::take(&mut stats.order_ledgers).after(earlier);
        (stats.into_result(), ledgers, self.business)
    }
}

fn business(plant: &'static str) -> MemoryBusiness {
    MemoryBusiness::new(population(&orders()), plant)
}

fn count(result: &CrowdResult, name: &str) -> u64 {
    result.results.kinds().iter().find(|one| one.name == name).map_or(0, |one| one.count)
}

#[test]
fn a_run_has_its_rate_its_mix_and_a_clean_audit() {
    let mut crowd = Crowd::new(&orders(), &Ledgers::default(), business(""));
    crowd.run();
    let (result, ledgers, business) = crowd.result(Ledgers::default());
    assert_eq!((result.wrong, result.lost, &result.faults), (0, 0, &Vec::new()));
    assert_eq!(business.broken_rules(&ledgers), [], "everything that has begun is complete");
    let entries: u64 = ["new_order", "change_order", "order_status", "customer_status"]
        .iter()
        .map(|name| count(&result, name))
        .sum();
    assert!((90..150).contains(&entries), "4 a second for 30 s: {entries}");
    let work_orders = count(&result, "work_order");
    assert!((60..120).contains(&work_orders), "0.75 for each entry: {work_orders}");
    assert_eq!(result.results.in_window(), Some(entries + work_orders));
    assert_eq!(result.latency_ns.iter().map(|(_, count)| count).sum::<u64>(), entries);
    let slowest = result.results.kinds().iter().find(|one| one.name == "work_order").unwrap();
    let (least_ns, _) = slowest.latency.counts_ns().unwrap()[0];
    assert!((999 * MS..1_030 * MS).contains(&least_ns), "three pauses and four replies: {least_ns}");
    assert_eq!(result.results.orders().unwrap().steady_s, 30.0);
    assert!(result.sent == result.received && result.sent > entries + work_orders, "{result:?}");
}

#[test]
fn a_second_run_continues_from_the_ledgers_of_the_first() {
    let mut first = Crowd::new(&orders(), &Ledgers::default(), business(""));
    first.run();
    let (_, ledgers, business) = first.result(Ledgers::default());
    let mut second = Crowd::new(&orders(), &ledgers, business);
    second.run();
    let (result, both, business) = second.result(ledgers.clone());
    assert_eq!((result.wrong, both.runs), (0, 2));
    assert!(both.production.complete > ledgers.production.complete);
    assert_eq!(business.broken_rules(&both), []);
}

#[test]
fn missing_components_are_waited_for_and_delivered() {
    let mut business = business("");
    business.empty_the_store();
    let mut crowd = Crowd::new(&orders(), &Ledgers::default(), business);
    // Only a purchase fills the store, and nothing is purchased before a work order takes something.
    crowd.steps(20_000);
    let (result, ..) = crowd.result(Ledgers::default());
    assert!(result.results.orders().unwrap().short > 10, "{:?}", result.results);
}

#[test]
fn a_pause_lets_work_orders_end_and_the_schedule_stand_still() {
    let mut crowd = Crowd::new(&orders(), &Ledgers::default(), business(""));
    crowd.steps(3_000);
    crowd.shared.pause();
    crowd.districts.follow_phase();
    let mut steps = 0;
    while crowd.districts.worker.state == WorkerState::Pausing {
        crowd.step();
        steps += 1;
    }
    assert!((1..1_200).contains(&steps), "what has begun ends within seconds: {steps}");
    let paused = crowd.control.try_iter().any(|message| matches!(message, ControlMessage::Paused(_)));
    assert!(paused && crowd.districts.nothing_in_flight());
    assert!(!crowd.step(), "nothing is sent in a pause");
}

#[test]
fn a_wrong_reply_and_a_lost_connection_are_faults_with_a_place() {
    let mut crowd = Crowd::new(&orders(), &Ledgers::default(), business("order"));
    crowd.steps(5_000);
    let index = (0..crowd.districts.connections())
        .find(|index| {
            crowd.districts.queue_due(*index, crowd.now_ns + 9_000 * MS);
            index % CONNECTIONS < DEALERS && crowd.districts.seat(*index).state == State::InFlight
        })
        .unwrap();
    assert_eq!(crowd.districts.on_end(index, crowd.now_ns), AfterEnd::Reconnect);
    let (result, ..) = crowd.result(Ledgers::default());
    assert!(result.wrong > 1, "{result:?}");
    let detail = result.faults[0].detail.as_deref().unwrap();
    assert!(detail.starts_with("district ") && detail.contains(", order: order: 1"), "{detail}");
    let closed = result.faults.iter().filter_map(|fault| fault.detail.as_deref());
    assert!(result.wrong > 20 || closed.clone().any(|detail| detail.ends_with("is to be kept open")));
}

#[test]
fn no_reply_is_lost_and_its_change_may_be_stored_or_not() {
    let mut crowd = Crowd::new(&orders(), &Ledgers::default(), business(""));
    crowd.steps(4_000);
    // Every second request is stored, and no reply arrives.
    for index in 0..crowd.districts.connections() {
        crowd.districts.queue_due(index, crowd.now_ns + 20_000 * MS);
        let request = std::mem::take(&mut crowd.districts.link(index).out);
        if index % 2 == 0 && !request.is_empty() {
            crowd.business.reply(std::str::from_utf8(&request).unwrap());
        }
    }
    let (result, ledgers, business) = crowd.result(Ledgers::default());
    assert!(result.lost > 10, "{result:?}");
    assert_eq!(business.broken_rules(&ledgers), []);
}
