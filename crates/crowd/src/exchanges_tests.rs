use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use klatch_record::CrowdResult;

use super::*;
use crate::requests::Echo;
use crate::shared::{ControlMessage, Shared, Wake};

struct Crowd {
    exchanges: Exchanges<Echo>,
    shared: Arc<Shared>,
    control: Receiver<ControlMessage>,
}

impl Crowd {
    /// Connections that have joined, and whose gate has opened.
    fn new(workload: RrWorkload) -> Crowd {
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let (sender, control) = channel();
        let worker = Worker::new(0, shared.clone(), sender);
        let range = 0..workload.connections;
        let mut crowd =
            Crowd { exchanges: Exchanges::new(worker, &workload, 1, &None, range), shared, control };
        for index in 0..crowd.exchanges.connections() {
            crowd.exchanges.write_handshake(index);
            let hello = crowd.taken(index);
            crowd.exchanges.on_bytes(index, &hello, 0);
        }
        assert!(matches!(crowd.control.try_recv(), Ok(ControlMessage::Joined)));
        crowd.shared.open_gate();
        crowd
    }

    /// What a connection has to send.
    fn taken(&mut self, index: usize) -> Vec<u8> {
        std::mem::take(&mut self.exchanges.link(index).out)
    }

    fn after_ns(&self, ns: u64) -> u64 {
        self.shared.gate_ns() + ns
    }

    fn queue(&mut self, index: usize, ns: u64) -> Option<u64> {
        self.exchanges.queue_due(index, self.after_ns(ns)).map(|moment_ns| moment_ns - self.shared.gate_ns())
    }

    fn reply(&mut self, index: usize, bytes: &[u8], ns: u64) {
        assert_eq!(self.exchanges.on_bytes(index, bytes, self.after_ns(ns)), bytes.len());
    }

    fn result(mut self) -> CrowdResult {
        self.exchanges.settle();
        self.exchanges.worker_mut().take_stats().into_result()
    }
}

fn rr() -> RrWorkload {
    RrWorkload { connections: 2, size_bytes: 12, depth: 2, duration_s: 1.0, ..RrWorkload::default() }
}

/// A connection with the requests 0 and 1 in flight, and those requests.
fn two_in_flight() -> (Crowd, Vec<Vec<u8>>) {
    let mut crowd = Crowd::new(RrWorkload { connections: 1, ..rr() });
    crowd.queue(0, 0);
    let requests = crowd.taken(0).chunks(12).map(<[u8]>::to_vec).collect();
    (crowd, requests)
}

#[test]
fn each_connection_keeps_its_depth_until_the_time_is_over() {
    let mut crowd = Crowd::new(rr());
    for index in 0..2 {
        assert_eq!(crowd.queue(index, 0), None);
        let requests = crowd.taken(index);
        assert_eq!(requests.len(), 24);
        crowd.reply(index, &requests[..12], 5_000);
        crowd.queue(index, 5_000);
        assert_eq!(crowd.taken(index).len(), 12, "a request follows a reply");
    }
    // The replies to two requests of each connection are missing when the time is over.
    crowd.exchanges.queue_due(0, crowd.after_ns(1_000_000_000));
    assert!(crowd.control.try_recv().is_err());
    let result = crowd.result();
    assert_eq!((result.sent, result.received, result.lost), (6, 2, 4));
    assert_eq!(
        result.results,
        Results::Rr {
            parties: PartyCounts { parties: 2, least: 1, most: 1 },
            kinds: Vec::new(),
            reopened: 0
        }
    );
    assert_eq!(result.faults[0].to_string(), "lost: connection 1, request 1");
}

#[test]
fn a_run_is_complete_with_the_last_reply_after_its_time() {
    let mut crowd = Crowd::new(RrWorkload { depth: 1, ..rr() });
    let mut requests = Vec::new();
    for index in 0..2 {
        crowd.queue(index, 0);
        requests.push(crowd.taken(index));
    }
    for (index, request) in requests.iter().enumerate() {
        assert!(crowd.control.try_recv().is_err(), "connection {index} is missing");
        crowd.reply(index, request, 1_000_000_000);
        assert_eq!(crowd.queue(index, 1_000_000_000), None);
        assert!(crowd.taken(index).is_empty());
    }
    assert!(matches!(crowd.control.try_recv(), Ok(ControlMessage::Complete)));
    let result = crowd.result();
    assert_eq!((result.sent, result.received, result.lost, result.faults.len()), (2, 2, 0, 0));
}

#[test]
fn a_schedule_is_kept_and_latency_counts_from_it() {
    let mut crowd =
        Crowd::new(RrWorkload { connections: 1, rate_per_connection_per_s: Some(1_000.0), ..rr() });
    let first_ns = crowd.queue(0, 0).expect("the first request is not due at once");
    assert!(first_ns < 1_000_000);
    // Late by three periods: two requests may be in flight, and both are sent at once.
    assert_eq!(crowd.queue(0, first_ns + 3_000_000), None);
    let requests = crowd.taken(0);
    assert_eq!(requests.len(), 24);
    crowd.reply(0, &requests, first_ns + 3_000_000);
    let latency_ns = crowd.result().latency_ns;
    let ms: Vec<u64> = latency_ns.iter().map(|(ns, _)| (ns + 500_000) / 1_000_000).collect();
    assert_eq!(ms, [2, 3]);
}

#[test]
fn an_altered_reply_is_corrupted() {
    let (mut crowd, requests) = two_in_flight();
    let mut altered = requests[0].clone();
    altered[11] ^= 1;
    crowd.reply(0, &altered, 9_000);
    crowd.reply(0, &requests[1], 9_000);
    let result = crowd.result();
    assert_eq!((result.corrupted, result.received, result.lost), (1, 1, 0));
    assert!(result.faults[0].to_string().starts_with("corrupted: connection 1, request 0 (got: "));
}

#[test]
fn replies_in_another_order_are_reordered() {
    let (mut crowd, requests) = two_in_flight();
    crowd.reply(0, &requests[1], 9_000);
    crowd.reply(0, &requests[0], 9_000);
    let result = crowd.result();
    assert_eq!((result.reordered, result.received, result.lost), (1, 2, 0));
    assert_eq!(result.faults[0].to_string(), "reordered: connection 1, request 0");
}

#[test]
fn a_missing_reply_is_lost_and_the_ones_after_it_are_right() {
    let (mut crowd, requests) = two_in_flight();
    crowd.reply(0, &requests[1], 9_000);
    let result = crowd.result();
    assert_eq!((result.lost, result.received, result.reordered), (1, 1, 0));
    assert_eq!(result.faults[0].to_string(), "lost: connection 1, request 0");
}

#[test]
fn a_second_reply_is_duplicated() {
    let (mut crowd, requests) = two_in_flight();
    crowd.reply(0, &requests[0], 9_000);
    crowd.reply(0, &requests[0], 9_000);
    crowd.reply(0, &requests[1], 9_000);
    let result = crowd.result();
    assert_eq!((result.duplicated, result.received, result.lost), (1, 2, 0));
}

#[test]
fn a_reply_after_the_last_is_unexpected() {
    let (mut crowd, requests) = two_in_flight();
    crowd.reply(0, &requests.concat(), 9_000);
    crowd.reply(0, b"twelve bytes", 9_000);
    let result = crowd.result();
    assert_eq!((result.unexpected, result.received), (1, 2));
    assert_eq!(result.faults[0].to_string(), "unexpected: connection 1, request 2 (got: twelve bytes)");
}

#[test]
fn a_pause_is_reported_when_nothing_is_in_flight() {
    let (mut crowd, requests) = two_in_flight();
    crowd.shared.pause();
    assert!(!crowd.exchanges.follow_phase());
    crowd.reply(0, &requests[0], 9_000);
    crowd.queue(0, 9_000);
    assert!(crowd.taken(0).is_empty() && crowd.control.try_recv().is_err());
    crowd.reply(0, &requests[1], 9_000);
    let Ok(ControlMessage::Paused(pause)) = crowd.control.try_recv() else { panic!("no pause") };
    assert_eq!((pause.sent, pause.received), (2, 2));
}

/// The server answers nothing for almost a second: three requests are due meanwhile, and none of them is late by the crowd.
#[test]
fn a_request_that_waited_for_the_window_is_not_late_by_the_crowd() {
    let rate_per_connection_per_s = Some(10.0);
    let work = RrWorkload { connections: 1, depth: 1, rate_per_connection_per_s, duration_s: 2.0, ..rr() };
    let mut crowd = Crowd::new(work);
    let first_ns = crowd.queue(0, 0).unwrap();
    crowd.queue(0, first_ns);
    let mut now_ns = first_ns + 900_000_000;
    for _ in 0..3 {
        let request = crowd.taken(0);
        crowd.reply(0, &request, now_ns);
        now_ns += 3_000;
        crowd.queue(0, now_ns);
    }
    let lags = crowd.result().send_lag_ns;
    assert_eq!(lags.iter().map(|(_, count)| count).sum::<u64>(), 4);
    assert!(lags.iter().all(|(ns, _)| *ns <= 3_001), "{lags:?}");
}

/// A duration whose last digit JSON has changed must not let a connection send for ever after its last stage.
#[test]
fn nothing_is_sent_after_the_last_stage() {
    let stages: klatch_record::Stages = "0s:20,300ms:20,200ms:0".parse().unwrap();
    for duration_s in [stages.time_s(), stages.time_s() + 1e-8] {
        let stages = Some(stages.clone());
        let mut crowd = Crowd::new(RrWorkload { connections: 1, depth: 64, stages, duration_s, ..rr() });
        crowd.queue(0, 9_000_000_000);
        let requests = crowd.taken(0);
        assert_eq!(requests.len() / rr().size_bytes as usize, 8, "6 and 2");
        crowd.reply(0, &requests, 9_000_000_000);
        let result = crowd.result();
        let counts: Vec<_> = result.stages.iter().map(|stage| (stage.intended, stage.in_time)).collect();
        assert_eq!(counts, [(0, 0), (6, 0), (2, 0)], "all replies are late");
    }
}
