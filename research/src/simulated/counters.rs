//! What lockmeter and IBM's counters in the kernel gave on eight CPUs.

use klatch_simulator::{Account, Outcome};

use super::cells::{Cells, GOODNESS_2_4_14, MQ};
use super::{Computed, near};

pub(super) fn rows(cells: &mut Cells) -> Vec<Computed> {
    let old = cells.get(GOODNESS_2_4_14, 8);
    let per_message = |count: u64| count as f64 / old.counts.messages as f64;
    let counters = [old.counts.decisions, old.counts.wakeups, old.counts.yields].map(per_message);
    let length = old.queue_length_mean();
    vec![
        lockmeter(&old),
        lockmeter_of_mq(&cells.get(MQ, 8)),
        Computed::new(15, format!("{length:.0}"), near(length, 70.0, 1.3)),
        Computed::new(
            16,
            format!("{:.2}, {:.2}, {:.2}", counters[0], counters[1], counters[2]),
            counters.iter().zip([4.30, 1.64, 2.0]).all(|(&count, published)| near(count, published, 1.35)),
        ),
    ]
}

fn lockmeter(old: &Outcome) -> Computed {
    let locks = old.counts.locks;
    let us = |cycles: u64, times: u64| cycles as f64 / times.max(1) as f64 / old.mhz as f64;
    let used = 100.0 * locks.held as f64 / old.counts.cycles as f64;
    let contended = 100.0 * locks.contended as f64 / locks.acquired as f64;
    let spinning = 100.0 * old.share(Account::Spin);
    let (wait, hold) = (us(locks.waited, locks.contended), us(locks.held, locks.acquired));
    let all = [(used, 76.3), (contended, 89.2), (spinning, 47.4), (wait, 49.0), (hold, 8.8)];
    Computed::new(
        12,
        format!("{used:.1} %, {contended:.1} %, {spinning:.1} %, {wait:.0} us, {hold:.1} us"),
        all.iter().all(|&(value, published)| near(value, published, 1.25)),
    )
}

fn lockmeter_of_mq(mq: &Outcome) -> Computed {
    let used = 100.0 * mq.counts.locks.held as f64 / mq.counts.accounts.total() as f64;
    let spinning = 100.0 * mq.share(Account::Spin);
    Computed::new(
        13,
        format!("{used:.2} %, {spinning:.2} %"),
        near(used, 6.85, 1.5) && near(spinning, 0.34, 1.5),
    )
}
