//! A room on a broker in memory, which can lose, repeat and hold back.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use klatch_record::{CrowdResult, FaultKind, MqttSettings, Pacing};

use super::*;
use crate::parties::Parties;
use crate::rooms::Rooms;
use crate::shared::{ControlMessage, Shared, Wake};
use crate::worker::Worker;

const USERS: usize = 3;

/// How the broker treats the first message for the first other user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Loss,
    /// With another packet identifier, so that the protocol does not show it.
    Repetition,
}

struct Broker {
    rooms: Rooms<Mqtt>,
    control: Receiver<ControlMessage>,
    version: MqttVersion,
    qos: u8,
    fault: Fault,
    next_id: u16,
    now_ns: u64,
}

impl Broker {
    /// Users who take turns with two messages each, and who have joined.
    fn new(version: MqttVersion, qos: u8, fault: Fault) -> Broker {
        let mqtt = MqttSettings { qos: qos.into(), ..MqttSettings::default() };
        let workload = ChatWorkload {
            rooms: 1,
            users: USERS as u32,
            count: 2,
            pacing: Pacing::Turns,
            mqtt,
            ..ChatWorkload::default()
        };
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let (sender, control) = channel();
        let worker = Worker::new(0, shared.clone(), sender);
        let mut rooms = Rooms::new(worker, &workload, 1, &tests::terms(version, qos), 0..1);
        let joined: &[u8] = match version {
            MqttVersion::V5 => &[0x20, 3, 0, 0, 0, 0x90, 4, 0, 1, 0, qos],
            MqttVersion::V311 => &[0x20, 2, 0, 0, 0x90, 3, 0, 1, qos],
        };
        for index in 0..USERS {
            rooms.write_handshake(index);
            rooms.link(index).out.clear();
            assert_eq!(rooms.on_bytes(index, joined, 0), joined.len());
        }
        assert!(matches!(control.try_recv(), Ok(ControlMessage::Joined)));
        shared.open_gate();
        let now_ns = shared.gate_ns();
        Broker { rooms, control, version, qos, fault, next_id: 1, now_ns }
    }

    /// Moves bytes until nobody sends any; `hears` decides what packets of users the broker hears.
    fn run(&mut self, hears: impl Fn(u8) -> bool) {
        loop {
            self.now_ns += 1_000;
            let mut moved = false;
            for index in 0..USERS {
                self.rooms.queue_due(index, self.now_ns);
                let out = std::mem::take(&mut self.rooms.link(index).out);
                let mut rest = &out[..];
                while let Some((&kind, after)) = rest.split_first() {
                    let (size, digits) = take_length(after).unwrap();
                    let (body, next) = after[digits..].split_at(size);
                    rest = next;
                    moved = true;
                    if hears(kind & KIND) {
                        self.on_packet(index, kind, body);
                    }
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn on_packet(&mut self, index: usize, kind: u8, mut body: &[u8]) {
        match kind & KIND {
            PUBLISH => {
                let topic = take_string(&mut body).unwrap().to_vec();
                let id = (self.qos > 0).then(|| take_u16(&mut body).unwrap());
                let text = body.to_vec();
                for listener in 0..USERS {
                    if listener != index || self.version == MqttVersion::V311 {
                        self.deliver(index, listener, &topic, &text);
                    }
                }
                if let Some(id) = id {
                    let kind = if self.qos == 1 { PUBACK } else { PUBREC };
                    self.send(index, |out| answer(out, kind, id));
                }
            }
            PUBREC => self.send(index, |out| answer(out, PUBREL, u16::from_be_bytes([body[0], body[1]]))),
            0x60 => self.send(index, |out| answer(out, PUBCOMP, u16::from_be_bytes([body[0], body[1]]))),
            PUBACK | PUBCOMP => {}
            other => panic!("{other:#x}"),
        }
    }

    fn deliver(&mut self, speaker: usize, listener: usize, topic: &[u8], text: &[u8]) {
        let is_first = speaker == 0 && listener == 1 && self.fault != Fault::None;
        let fault = if is_first { std::mem::replace(&mut self.fault, Fault::None) } else { Fault::None };
        let times = match fault {
            Fault::None => 1,
            Fault::Loss => 0,
            Fault::Repetition => 2,
        };
        for _ in 0..times {
            let id = self.next_id.to_be_bytes();
            self.next_id += 1;
            let id: &[u8] = if self.qos > 0 { &id } else { &[] };
            let (qos, body) = (self.qos, [&string(topic)[..], id, text].concat());
            self.send(listener, |out| packet(out, PUBLISH | qos << QOS_SHIFT, &body));
        }
    }

    fn send(&mut self, index: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        write(&mut bytes);
        assert_eq!(self.rooms.on_bytes(index, &bytes, self.now_ns), bytes.len());
    }

    /// Whether the users have reported that all is sent and received.
    fn is_complete(&self) -> bool {
        matches!(self.control.try_recv(), Ok(ControlMessage::Complete))
    }

    fn result(mut self) -> CrowdResult {
        self.rooms.settle();
        self.rooms.worker_mut().take_stats().into_result()
    }
}

const ALL: [(MqttVersion, u8); 6] = [
    (MqttVersion::V5, 0),
    (MqttVersion::V5, 1),
    (MqttVersion::V5, 2),
    (MqttVersion::V311, 0),
    (MqttVersion::V311, 1),
    (MqttVersion::V311, 2),
];

#[test]
fn every_message_arrives_once_whatever_the_version_and_the_quality_of_service() {
    for (version, qos) in ALL {
        let mut broker = Broker::new(version, qos, Fault::None);
        broker.run(|_| true);
        assert!(broker.is_complete(), "{version:?}, QoS {qos}");
        let result = broker.result();
        assert_eq!((result.sent, result.received, &result.faults[..]), (6, 12, &[][..]));
        assert_eq!(result.results.repeated_and_open(), (0, 0));
    }
}

#[test]
fn a_repetition_is_legal_under_qos_1_alone() {
    for (version, qos) in ALL {
        let mut broker = Broker::new(version, qos, Fault::Repetition);
        broker.run(|_| true);
        assert!(broker.is_complete(), "{version:?}, QoS {qos}");
        let result = broker.result();
        let kinds: Vec<FaultKind> = result.faults.iter().map(|fault| fault.kind).collect();
        let (faults, repeated): (&[FaultKind], u64) =
            if qos == 1 { (&[], 1) } else { (&[FaultKind::Duplicated], 0) };
        assert_eq!((&kinds[..], result.results.repeated_and_open().0), (faults, repeated), "QoS {qos}");
        assert_eq!(result.received, 12);
    }
}

#[test]
fn a_loss_is_a_fault_under_every_quality_of_service() {
    for (version, qos) in ALL {
        let mut broker = Broker::new(version, qos, Fault::Loss);
        broker.run(|_| true);
        assert!(!broker.is_complete(), "{version:?}, QoS {qos}");
        assert!(broker.result().lost > 0, "{version:?}, QoS {qos}");
    }
}

#[test]
fn a_run_is_not_complete_before_its_last_handshake() {
    for version in [MqttVersion::V5, MqttVersion::V311] {
        let mut broker = Broker::new(version, 2, Fault::None);
        // Every message is delivered, and none is released.
        broker.run(|kind| kind == PUBLISH);
        assert!(!broker.is_complete());
        let result = broker.result();
        let open = if version == MqttVersion::V5 { 6 + 12 } else { 6 + 12 + 6 };
        assert_eq!((result.received, result.results.repeated_and_open()), (12, (0, open)));
    }
}
