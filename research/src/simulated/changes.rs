//! Changes of one thing at a time, from IBM's log and the kernel list.

use klatch_simulator::SchedulerSpec;

use super::cells::{Cells, EAGER, GOODNESS_2_4_14, GOODNESS_2_4_17, LOCKLESS_YIELD, MQ, MQ_TIES, YIELD_BUG};
use super::{Computed, gain_percent, near, same_sign, signed};

pub(super) fn rows(cells: &mut Cells) -> Vec<Computed> {
    let mut gain = |before: SchedulerSpec, after: SchedulerSpec, cpus: usize| {
        gain_percent(cells.rate(before, cpus), cells.rate(after, cpus))
    };
    let fixed = [4, 8].map(|cpus| gain(YIELD_BUG, GOODNESS_2_4_14, cpus));
    let eager = gain(GOODNESS_2_4_14, EAGER, 8);
    let ties = gain(MQ, MQ_TIES, 8);
    let lockless = [1, 4, 8].map(|cpus| gain(GOODNESS_2_4_17, LOCKLESS_YIELD, cpus));
    let bound = [4, 8]
        .map(|cpus| gain_percent(cells.rate(GOODNESS_2_4_14, cpus), cells.bound_rate(GOODNESS_2_4_14, cpus)));
    vec![
        Computed::new(21, signed(&bound), same_sign(bound[0], 3.0) && bound[1] >= 10.0),
        heap(cells),
        Computed::new(23, signed(&fixed), fixed.iter().all(|gain| same_sign(*gain, 50.0))),
        Computed::new(24, signed(&[eager]), same_sign(eager, -4.0)),
        Computed::new(25, signed(&[ties]), same_sign(ties, -50.0)),
        Computed::new(
            26,
            signed(&lockless),
            same_sign(lockless[0], 2.1) && same_sign(lockless[1], -5.0) && near(lockless[2], 34.8, 2.0),
        ),
    ]
}

/// The initial heap grows, so that it is not known how much more often 8 MB were collected: assumed to be twice as often.
fn heap(cells: &mut Cells) -> Computed {
    let gains = [(GOODNESS_2_4_14, 4), (GOODNESS_2_4_14, 8), (MQ, 4), (MQ, 8)].map(|(scheduler, cpus)| {
        let small = cells.run(Cells::other_chat(scheduler, cpus, |chat| chat.heap_mb = 32));
        gain_percent(small.messages_per_s(), cells.rate(scheduler, cpus))
    });
    let are_near =
        gains.iter().zip([13.0, 10.0, 17.0, 27.0]).all(|(&gain, published)| near(gain, published, 1.5));
    Computed::new(22, signed(&gains), are_near)
}
