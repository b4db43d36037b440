//! The simulated chat beside the same chat in the lab, whose counts are in research/notes/2026-11-27-lab-and-simulator.md.

use klatch_simulator::{
    Cell, ChatSpec, Costs, GoodnessKnobs, Hardware, Outcome, SchedulerSpec, Topology, Workload, simulate,
};

/// How far lab and simulator may differ.
const BAND: f64 = 1.3;

fn run(scheduler: SchedulerSpec, rooms: usize, count: u64) -> Outcome {
    let costs = Costs::parse(Costs::text("lab").unwrap()).unwrap();
    let hardware = Hardware::new(&costs, Topology::flat(1));
    let chat = ChatSpec { rooms, count, heap_mb: 1_000_000, monitors: false, ..ChatSpec::VOLANOMARK };
    let work = Workload::Chat(chat);
    simulate(&Cell { scheduler, hardware, work, placement: Vec::new(), seed: 1 }, &costs)
}

/// Messages a second; and per message decisions and examined tasks; and the mean length of the queue.
fn numbers(outcome: &Outcome) -> [f64; 4] {
    let per_message = |count: u64| count as f64 / outcome.counts.messages as f64;
    [
        outcome.messages_per_s(),
        per_message(outcome.counts.decisions),
        per_message(outcome.counts.elements),
        outcome.queue_length_mean(),
    ]
}

#[track_caller]
fn assert_near(simulated: [f64; 4], lab: [f64; 4]) {
    for (simulated, lab) in simulated.into_iter().zip(lab) {
        let ratio = simulated / lab;
        assert!((1.0 / BAND..BAND).contains(&ratio), "{simulated} in the simulator, {lab} in the lab");
    }
}

#[test]
fn under_goodness_of_2_3_with_5_rooms() {
    let goodness = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_3);
    assert_near(numbers(&run(goodness, 5, 100)), [16_320.0, 3.13, 82.6, 27.4]);
}

#[test]
fn under_goodness_of_2_3_with_10_rooms() {
    let goodness = SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_3);
    assert_near(numbers(&run(goodness, 10, 60)), [13_738.0, 3.19, 120.6, 38.8]);
}

#[test]
fn under_fifo() {
    let [rate, decisions, _, length] = numbers(&run(SchedulerSpec::Fifo, 5, 30));
    // A queue in order of arrival is not walked.
    assert_near([rate, decisions, 1.0, length], [25_788.0, 4.16, 1.0, 121.8]);
}
