//! Studies of 2001 and 2002 with other chats: 30 rooms on eight CPUs (Yamamura et al., FREENIX 2002), and 16 CPUs in four nodes (Franke
//! et al., ALS 2001).

use super::cells::{Cells, GOODNESS_2_4_14, MQ, netfinity_8500r};
use super::{Row, gain_percent, near};
use crate::hardware::Hardware;
use crate::run::{Cell, Outcome};
use crate::topology::Topology;

/// Cycles per element when all task structures are in the same cache sets, and when they are spread ("coloured").
const SAME_SETS: f64 = 330.0;
const COLOURED: f64 = 115.0;

pub(super) fn rows(cells: &mut Cells) -> Vec<Row> {
    vec![coloured(cells), nodes(cells)]
}

/// The number of CPUs, up to eight, from which more of them gain less than 5 %.
fn knee(of: impl Fn(usize) -> Outcome) -> (usize, Outcome) {
    let outcomes = [1, 2, 4, 6, 8].map(|cpus| (cpus, of(cpus)));
    let scales = |pair: &&[(usize, Outcome)]| pair[1].1.messages_per_s() > 1.05 * pair[0].1.messages_per_s();
    let knee = outcomes.windows(2).take_while(scales).last().map_or(1, |pair| pair[1].0);
    let [.., (_, eight)] = outcomes;
    (knee, eight)
}

fn coloured(cells: &Cells) -> Row {
    let run = |element: f64| {
        knee(|cpus| {
            let chat = Cells::other_chat(GOODNESS_2_4_14, cpus, |chat| (chat.rooms, chat.count) = (30, 10));
            cells.with("element", element).run(chat)
        })
    };
    let hold_us = |outcome: &Outcome| {
        outcome.counts.locks.held as f64 / outcome.counts.locks.acquired as f64 / outcome.mhz as f64
    };
    let ((plain_knee, plain), (coloured_knee, coloured)) = (run(SAME_SETS), run(COLOURED));
    let holds_us = [hold_us(&plain), hold_us(&coloured)];
    let gain = gain_percent(plain.messages_per_s(), coloured.messages_per_s());
    Row::new(
        (
            27,
            "coloured task structures, 30 rooms: hold; gain; scales to",
            "40 to 14 us; up to +89.6 %; 4 to 6 CPUs",
            "x1.5; knee",
        ),
        format!(
            "{:.0} to {:.0} us; {gain:+.0} %; {plain_knee} to {coloured_knee} CPUs",
            holds_us[0], holds_us[1]
        ),
        near(holds_us[0], 40.0, 1.5)
            && near(holds_us[1], 14.0, 1.5)
            && near(1.0 + gain / 100.0, 1.896, 1.5)
            && (plain_knee, coloured_knee) == (4, 6),
    )
}

fn nodes(cells: &mut Cells) -> Row {
    let hardware = Hardware { topology: Topology::nodes(4, 4), ..netfinity_8500r(16) };
    let [one, mq] = [GOODNESS_2_4_14, MQ]
        .map(|scheduler| cells.run(Cell { hardware, ..Cells::chat(scheduler, 16) }).messages_per_s());
    let change = gain_percent(mq, one);
    Row::new(
        (28, "one queue against MQ, 16 CPUs in four nodes", "-63.9 %", "x1.5 on the ratio"),
        format!("{change:+.1} %"),
        near(one / mq, 0.361, 1.5),
    )
}
