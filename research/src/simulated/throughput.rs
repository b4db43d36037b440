//! Messages per second of a chat of ten rooms, from the kernel list of 2001 and 2002.

use super::cells::{Cells, GOODNESS_2_4_14, GOODNESS_2_4_17, MQ, O1};
use super::{Computed, list, near, within};

pub(super) fn rows(cells: &mut Cells) -> Vec<Computed> {
    let mut rows = calibration(cells);
    let [_, old_4, old_8] = [1, 4, 8].map(|cpus| cells.rate(GOODNESS_2_4_14, cpus));
    let [_, mq_4, mq_8] = [1, 4, 8].map(|cpus| cells.rate(MQ, cpus));
    let [o1_1, o1_4, o1_8] = [1, 4, 8].map(|cpus| cells.rate(O1, cpus));
    let tail = [1, 4, 8].map(|cpus| cells.rate(GOODNESS_2_4_17, cpus));
    let over = [o1_1 / tail[0], o1_4 / tail[1], o1_8 / tail[2]];
    rows.extend([
        Computed::new(6, list(&[old_4]), near(old_4, 17_565.0, 1.15)),
        Computed::new(
            7,
            format!("{old_8:.0}; {:.2}", old_8 / old_4),
            near(old_8, 13_734.0, 1.2) && old_8 < old_4,
        ),
        row_8(cells, tail),
        Computed::new(
            9,
            format!("{:.2}, {:.2}", mq_4 / old_4, mq_8 / old_8),
            near(mq_4 / old_4, 1.42, 1.2) && near(mq_8 / old_8, 2.69, 1.2),
        ),
        Computed::new(
            10,
            list(&[o1_4, o1_8]),
            within(o1_4, (22_270.0, 23_427.0), 1.2) && within(o1_8, (29_726.0, 33_259.0), 1.3),
        ),
        Computed::new(
            11,
            format!("{:.2}, {:.2}, {:.2}", over[0], over[1], over[2]),
            within(over[0], (0.95, 1.18), 1.25)
                && within(over[1], (1.40, 1.47), 1.25)
                && within(over[2], (2.56, 2.87), 1.25),
        ),
    ]);
    rows
}

fn row_8(cells: &mut Cells, tail: [f64; 3]) -> Computed {
    let old = [1, 4, 8].map(|cpus| cells.rate(GOODNESS_2_4_14, cpus));
    let are_near =
        tail.iter().zip([11_005.0, 15_894.0, 11_595.0]).all(|(&rate, published)| near(rate, published, 1.15));
    let are_below = tail.iter().zip(old).all(|(&rate, old)| rate < old);
    Computed::new(8, list(&tail), are_near && are_below)
}

/// The results that costs are fitted to. Each can still be missed: the costs have ranges, and depend on each other.
fn calibration(cells: &mut Cells) -> Vec<Computed> {
    let up = cells.get(GOODNESS_2_4_14, 1);
    let (rate, kernel) = (up.messages_per_s(), 100.0 * up.kernel_share());
    let [mq_4, mq_8] = [4, 8].map(|cpus| cells.rate(MQ, cpus));
    let o1 = cells.rate(O1, 1);
    vec![
        Computed::new(1, list(&[rate]), near(rate, 11_024.0, 1.03)),
        Computed::new(2, format!("{kernel:.0} %"), (55.0..=65.0).contains(&kernel)),
        Computed::new(3, list(&[mq_4]), near(mq_4, 24_864.0, 1.03)),
        Computed::new(4, list(&[mq_8]), near(mq_8, 37_007.0, 1.1)),
        Computed::new(5, list(&[o1]), (10_415.0..=13_015.0).contains(&o1)),
    ]
}
