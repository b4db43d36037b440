//! IBM's study of 2000: Linux 2.3.28 on one CPU of 450 MHz, 5 to 25 rooms, 256 MB of heap.

use klatch_simulator::{Account, Cell, Outcome, SchedulerSpec};

use super::cells::{Cells, GOODNESS_2_3, HEAD, NETFINITY_7000};
use super::{Computed, gain_percent, list, near, signed};

const ROOMS: [usize; 5] = [5, 10, 15, 20, 25];
/// Cycles per element before the task structure was reordered.
const ELEMENT_2_3_28: f64 = 179.0;
/// Cycles per element after the task structure was reordered.
const ELEMENT_REORDERED: f64 = 115.0;

pub(super) fn rows(cells: &Cells) -> Vec<Computed> {
    let mut before = before(cells);
    let mut after = cells.of_2000().with("element", ELEMENT_REORDERED);
    let plain = ROOMS.map(|rooms| run(&mut before, GOODNESS_2_3, rooms));
    let reordered = ROOMS.map(|rooms| run(&mut after, GOODNESS_2_3, rooms));
    // The study added this change to the reordered task structure.
    let head = ROOMS.map(|rooms| run(&mut after, HEAD, rooms));
    let of_order = gains_percent(&plain, &reordered);
    let of_head = gains_percent(&reordered, &head);
    let mean = of_order.iter().sum::<f64>() / of_order.len() as f64;
    let shares = plain.each_ref().map(scheduler_share);
    let [fewest, .., most] = &plain;
    let (length, sd, longest) = (most.queue_length_mean(), most.queue_length_sd(), most.counts.length_max);
    let fall = gain_percent(fewest.messages_per_s(), most.messages_per_s());
    vec![
        Computed::new(
            14,
            format!("{length:.1}, {sd:.1}, {longest}"),
            near(length, 32.2, 1.5) && near(sd, 19.8, 1.5) && near(longest.into(), 414.0, 1.5),
        ),
        Computed::new(
            17,
            format!("{}, mean {mean:+.1} %", signed(&of_order)),
            of_order.iter().all(|gain| (4.0..=11.0).contains(gain)),
        ),
        Computed::new(
            18,
            format!("{} %", list(&shares)),
            shares.iter().all(|share| (29.0..=63.0).contains(share)),
        ),
        Computed::new(19, signed(&[fall]), fall <= -9.5),
        Computed::new(20, signed(&of_head), of_head.iter().all(|gain| *gain < 8.0)),
    ]
}

fn gains_percent(before: &[Outcome; 5], after: &[Outcome; 5]) -> Vec<f64> {
    let gain =
        |(before, after): (&Outcome, &Outcome)| gain_percent(before.messages_per_s(), after.messages_per_s());
    before.iter().zip(after).map(gain).collect()
}

/// Cells with the task structure of Linux 2.3.28.
fn before(cells: &Cells) -> Cells {
    cells.of_2000().with("element", ELEMENT_2_3_28)
}

fn run(cells: &mut Cells, scheduler: SchedulerSpec, rooms: usize) -> Outcome {
    let cell = Cells::other_chat(scheduler, 1, |chat| (chat.rooms, chat.heap_mb) = (rooms, 256));
    cells.run(Cell { hardware: NETFINITY_7000, ..cell })
}

/// Decisions, wake-ups and waiting for their lock, in percent of the kernel's time.
fn scheduler_share(outcome: &Outcome) -> f64 {
    100.0 * scheduler(outcome) as f64 / outcome.counts.accounts.kernel() as f64
}

/// The same with most rooms, as a share of all time.
pub(crate) fn scheduler_share_of_all(cells: &Cells) -> f64 {
    let [.., most] = ROOMS;
    let outcome = run(&mut before(cells), GOODNESS_2_3, most);
    scheduler(&outcome) as f64 / outcome.counts.accounts.total() as f64
}

fn scheduler(outcome: &Outcome) -> u64 {
    [Account::Decide, Account::Wake, Account::Spin].map(|part| outcome.counts.accounts.get(part)).iter().sum()
}
