//! Contended monitors of a Java application server on eight CPUs under O(1), from the 2005 study.
//!
//! The study does not say how many threads contended for how many monitors, and for how long. It does say that contention was high, and
//! that one server with eight CPUs carried 1.1 times as much as with four. One monitor is held for so long here that it limits eight CPUs to
//! that. The experiments came after the patch that lets idle CPUs pull cache-warm tasks.

use klatch_simulator::{Cell, Costs, LocksSpec, O1Knobs, Outcome, SchedulerSpec, Workload, YieldTo};

use super::cells::{Cells, netfinity_8500r};
use super::{Computed, gain_percent, same_sign, signed};

const CPUS: usize = 8;
const LOCKS: LocksSpec = LocksSpec {
    threads: 8 * CPUS,
    locks: 1,
    think_us: 200,
    // 1 / 59 us is 1.1 times 4 / (200 + 59) us.
    hold_us: 59,
    sleep_us: 0,
    sections: 500,
    spin_us: None,
    yields: None,
    futex: false,
};

pub(super) fn rows(costs: &Costs) -> Vec<Computed> {
    let mut cells = Cells::new(costs.clone());
    let [p1, p2, p3] =
        [YieldTo::BehindNext, YieldTo::Tail, YieldTo::Expired].map(|to| run(&mut cells, to, LOCKS));
    let over_p1 = [&p2, &p3].map(|other| gain_percent(p1.messages_per_s(), other.messages_per_s()));
    vec![row_31(over_p1), row_32(costs, &p2)]
}

fn run(cells: &mut Cells, yield_to: YieldTo, locks: LocksSpec) -> Outcome {
    let scheduler = SchedulerSpec::O1(O1Knobs { yield_to, idle_pulls_warm: true });
    let (hardware, work) = (netfinity_8500r(CPUS), Workload::Locks(locks));
    cells.run(Cell { scheduler, hardware, work, placement: Vec::new(), seed: 0 })
}

fn row_31(over_p1: [f64; 2]) -> Computed {
    Computed::new(31, signed(&over_p1), over_p1.iter().all(|gain| same_sign(*gain, 32.0)))
}

/// Loop counts four times as high; no yields; futexes in place of yields.
fn row_32(costs: &Costs, usual: &Outcome) -> Computed {
    let with = |spin: f64, yields: f64| {
        let (usual_spin, usual_yields) = (costs.get("monitor_spin").value, costs.get("monitor_yields").value);
        Cells::new(
            costs
                .clone()
                .with("monitor_spin", spin * usual_spin)
                .with("monitor_yields", yields * usual_yields),
        )
    };
    let longer = run(&mut with(4.0, 4.0), YieldTo::Tail, LOCKS);
    let two_tiers = run(&mut with(1.0, 0.0), YieldTo::Tail, LOCKS);
    let futex = run(&mut with(1.0, 0.0), YieldTo::Tail, LocksSpec { futex: true, ..LOCKS });
    let gains = [&longer, &two_tiers, &futex]
        .map(|other| gain_percent(usual.messages_per_s(), other.messages_per_s()));
    let switches = |outcome: &Outcome| outcome.counts.decisions as f64 / outcome.counts.messages as f64;
    let fewer = switches(&two_tiers) < switches(usual);
    Computed::new(
        32,
        format!("{}; {} decisions without yields", signed(&gains), if fewer { "fewer" } else { "more" }),
        same_sign(gains[0], 20.0) && same_sign(gains[1], -1.0) && same_sign(gains[2], 2.0) && fewer,
    )
}
