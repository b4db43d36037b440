//! A Java application server with its database on another machine, from the 2005 study: Trade and SPECjAppServer.
//!
//! The study does not give the parts of a request. Those here were fixed before the rows were computed: more clients than eight CPUs can
//! serve, and a monitor that such a load holds for about half of the time.

use std::ops::Range;

use klatch_simulator::{
    Cell, Hardware, O1Knobs, Outcome, RequestsSpec, SchedulerSpec, Topology, Workload, YieldTo,
};

use super::cells::{Cells, GOODNESS_2_4_14, netfinity_8500r};
use super::{Computed, gain_percent, same_sign, signed};

const REQUESTS: RequestsSpec = RequestsSpec {
    clients: 300,
    servers: 1,
    threads: 50,
    think_us: 50_000,
    service_us: 4_000,
    calls: 3,
    database_us: 3_000,
    locks: 1,
    hold_us: 340,
    requests: 10_000,
};

/// O(1) whose yields move to the tail of the task's list, as in the study's distributions.
const TAIL: SchedulerSpec = SchedulerSpec::O1(O1Knobs { yield_to: YieldTo::Tail, ..O1Knobs::LINUX_2_5 });
/// O(1) whose yields go behind the next task, as in the kernel whose yields the study classified.
const BEHIND_NEXT: SchedulerSpec =
    SchedulerSpec::O1(O1Knobs { yield_to: YieldTo::BehindNext, ..O1Knobs::LINUX_2_5 });
/// O(1) with yields to the tail whose idle CPUs also pull tasks that are cache-hot elsewhere, as in the patch D7.
const PULLS_WARM: SchedulerSpec =
    SchedulerSpec::O1(O1Knobs { yield_to: YieldTo::Tail, idle_pulls_warm: true });

pub(super) fn rows(cells: &mut Cells) -> Vec<Computed> {
    let [old, o1, warm, behind_next] = [GOODNESS_2_4_14, TAIL, PULLS_WARM, BEHIND_NEXT]
        .map(|scheduler| run(cells, scheduler, 8, REQUESTS, &[]));
    vec![found(&behind_next), row_33(&old, &o1, &warm), nodes(cells)]
}

fn run(
    cells: &mut Cells,
    scheduler: SchedulerSpec,
    cpus: usize,
    work: RequestsSpec,
    placement: &[Range<usize>],
) -> Outcome {
    // The xSeries 440 has nodes of four CPUs.
    let hardware = Hardware { topology: Topology::nodes(cpus / 4, 4), ..netfinity_8500r(cpus) };
    let work = Workload::Requests(work);
    cells.run(Cell { scheduler, hardware, work, placement: placement.to_vec(), seed: 0 })
}

fn found(outcome: &Outcome) -> Computed {
    let all = outcome.counts.yields.max(1) as f64;
    let [only, same, higher, lower] = outcome.counts.yields_found.map(|count| 100.0 * count as f64 / all);
    Computed::new(
        30,
        format!("same {same:.0} %, only {only:.0} %, higher {higher:.1} %, lower {lower:.1} %"),
        (45.0..=76.0).contains(&same) && (24.0..=55.0).contains(&only) && lower <= 10.4,
    )
}

fn row_33(old: &Outcome, o1: &Outcome, warm: &Outcome) -> Computed {
    let gains = [(old, o1), (o1, warm)]
        .map(|(before, after)| gain_percent(before.messages_per_s(), after.messages_per_s()));
    Computed::new(33, signed(&gains), same_sign(gains[0], -14.0) && same_sign(gains[1], 16.0))
}

/// Factors from four to eight CPUs: with one server, with two, and with two that are bound to a node each.
fn nodes(cells: &mut Cells) -> Computed {
    let two = RequestsSpec { servers: 2, ..REQUESTS };
    let bound: [Range<usize>; 2] = [0..4, 4..8];
    let four = run(cells, TAIL, 4, REQUESTS, &[]).messages_per_s();
    let factors = [(REQUESTS, &[][..]), (two, &[]), (two, &bound)]
        .map(|(work, placement)| run(cells, TAIL, 8, work, placement).messages_per_s() / four);
    let near =
        factors.iter().zip([1.1, 1.3, 1.6]).all(|(factor, published)| (factor - published).abs() <= 0.2);
    Computed::new(34, factors.map(|factor| format!("{factor:.2}")).join(", "), near && factors.is_sorted())
}
